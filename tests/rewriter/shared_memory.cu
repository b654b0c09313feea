// clang-format off
// Every way to declare shared memory. Each line of the output is "case result".
#include <array>
#include <cstdint>
#include <cstdio>

void report(const char* which, bool right) { std::printf("%s|%s\n", which, right ? "right" : "wrong"); }
template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;
template <class T>
bool aligned(const T& object, std::size_t bytes) { return reinterpret_cast<std::uintptr_t>(&object) % bytes == 0; }

constexpr int kTile = 8;
struct Point {
    int x, y;
};
namespace space {
struct Point3 {
    float x, y, z;
};
}  // namespace space
#define SHARED_ARRAY(type, name, count) __shared__ type name[count]
#define TILE __shared__ float tile[kTile][kTile + 1];
#define DYNAMIC(type, name) extern __shared__ type name[]

extern __shared__ float at_namespace_scope[];
extern __shared__ __align__(16) unsigned char bytes_at_namespace_scope[];

__global__ void plain() {
    __shared__ int one;
    __shared__ float array[4];
    __shared__ int grid[2][3];
    one = 1;
    array[3] = 2;
    grid[1][2] = 3;
    report("scalar", same<decltype(one), int&> && one == 1);
    report("array", sizeof(array) == 4 * sizeof(float) && array[3] == 2);
    report("array of arrays", sizeof(grid) / sizeof(grid[0]) == 2 && grid[1][2] == 3);
}

__global__ void several() {
    __shared__ int a, b[3], *c, (*rows)[3], d[2][2], *const* e;
    a = 1, b[2] = 2, c = &a, rows = &b, d[1][1] = 4, e = nullptr;
    report("several", a + b[2] + *c + (*rows)[2] + d[1][1] == 10 && e == nullptr);
    report("several: types", same<decltype(b), int(&)[3]> && same<decltype(c), int*&> &&
                                 same<decltype(rows), int(*&)[3]> && same<decltype(d), int(&)[2][2]>);
    __shared__ float first[2],  // of the pair
        second[2];              // after it
    const int line = __LINE__;
    report("several lines", &first[0] != &second[0] && line == 49);
}

__global__ void qualified() {
    static __shared__ int a[2];
    __shared__ static int b[2];
    volatile __shared__ int c;
    __shared__ volatile int d[2];
    int __shared__ e;
    const int __shared__* f;
    __shared__ unsigned long long int g;
    a[1] = 1, b[1] = 2, c = 3, d[1] = 4, e = 5, f = &e, g = 6;
    report("static", a[1] + b[1] == 3);
    report("volatile", same<decltype(c), volatile int&> && same<decltype(d), volatile int(&)[2]> && c + d[1] == 7);
    report("type first", e == 5 && *f == 5 && same<decltype(f), const int*&>);
    report("words", same<decltype(g), unsigned long long&> && g == 6);
}

__global__ void aligned_ones() {
    __shared__ alignas(128) char a[3];
    __shared__ __align__(64) float b[4];
    alignas(32) __shared__ char c;
    __shared__ char d[5] __attribute__((aligned(256)));
    __align__(16) static __shared__ char e, f;
    a[0] = c = d[0] = e = f = 1;
    b[0] = 1;
    report("aligned", aligned(a, 128) && aligned(b, 64) && aligned(c, 32) && aligned(d, 256));
    report("aligned: several", aligned(e, 16) && aligned(f, 16) && &e != &f);
    report("aligned: sizes", sizeof(a) == 3 && sizeof(d) == 5);
}

__global__ void typed() {
    __shared__ std::array<int, 4> a;
    __shared__ std::pair<int, std::array<Point, 2>> b[2], c;
    __shared__ space::Point3 d;
    __shared__ ::space::Point3 e[1];
    __shared__ struct Point f;
    __shared__ decltype(Point()) g;
    __shared__ std::array<std::array<int, (4 > 2) ? 2 : 1>, 2> h;
    a[3] = 1, b[1].second[1].y = 2, c.first = 3, d.z = 4, e[0].x = 5, f.x = 6, g.y = 7, h[1][1] = 8;
    report("templated type", a.size() == 4 && b[1].second[1].y + c.first == 5 && h[1].size() == 2);
    report("qualified type", d.z + e[0].x == 9);
    report("elaborated type", same<decltype(f), Point&> && f.x == 6 && g.y == 7);
}

__global__ void defined_in_place() {
    __shared__ struct Pair {
        int first;
        float second[2];
    } pair, pairs[2];
    Pair copy = {1, {2, 3}};
    pair = copy;
    pairs[1] = copy;
    __shared__ struct{
        int value;
    } nameless;
    const int line = __LINE__;
    __shared__ union {
        float number;
        unsigned bits;
    } both;
    static __shared__ struct alignas(32) Aligned { char c; } wide;
    __shared__ enum Colour { kRed, kGreen } colour;
    nameless.value = 4;
    both.number = 1.0f;
    wide.c = 1;
    colour = kGreen;
    report("struct in place", pair.second[1] == 3 && pairs[1].first == 1);
    report("nameless struct", nameless.value == 4 && line == 106);
    report("union in place", both.bits == 0x3f800000u);
    report("aligned struct in place", alignof(Aligned) == 32 && wide.c == 1 && colour == kGreen);
}

template <class T, int N, class U = std::array<T, N>>
__global__ void templated() {
    __shared__ T a[N];
    __shared__ U b;
    __shared__ typename U::value_type c[N + 1];
    extern __shared__ T dynamic[];
    a[0] = b[0] = c[N] = dynamic[1] = T(N);
    report("templated", same<decltype(a), T(&)[N]> && b.size() == N && c[N] == T(N) && dynamic[1] == T(N));
}

__global__ void scopes(int which) {
    const int count = 5;
    constexpr int more = 2;
    __shared__ int a[count * more];
    if (which) {
        __shared__ int a[3];
        a[0] = 1;
        report("inner scope", sizeof(a) == 3 * sizeof(int));
    }
    for (int i = 0; i < 2; ++i) {
        __shared__ int counter;
        if (i == 0) counter = 7;
        report("in a loop", counter == 7);
    }
    report("bounds", sizeof(a) == 10 * sizeof(int));
}

__global__ void macros() {
    SHARED_ARRAY(float, first, 3);
    SHARED_ARRAY(Point, second, 4);
    TILE
    DYNAMIC(int, numbers);
    numbers[0] = 6;
    report("macro", sizeof(first) == 3 * sizeof(float) && sizeof(second) == 4 * sizeof(Point));
    report("macro without parameters", sizeof(tile) == kTile * (kTile + 1) * sizeof(float));
    report("macro extern", numbers[0] == 6 && same<decltype(numbers), int(&)[]>);
}

__global__ void dynamic() {
    extern __shared__ float floats[];
    extern __shared__ __align__(16) unsigned char raw[];
    extern volatile __shared__ int changing[];
    extern __shared__ float rows[][4];
    float* pointer = floats + 1;
    *pointer = 1.0f;
    report("dynamic", reinterpret_cast<float*>(raw)[1] == 1.0f && changing[1] == 0x3f800000);
    report("dynamic rows", rows[0][1] == 1.0f && same<decltype(rows), float(&)[][4]>);
}

__global__ void uses_namespace_scope() {
    at_namespace_scope[2] = 5.0f;
    report("namespace scope", ((float*)bytes_at_namespace_scope)[2] == 5.0f &&
                                  reinterpret_cast<float*>(bytes_at_namespace_scope) == at_namespace_scope);
    report("namespace scope: lambda", [=](int i) { return at_namespace_scope[i]; }(2) == 5.0f);
}
__device__ float* from_device_function() { return at_namespace_scope + 2; }
struct Functor {
    float at_namespace_scope_member = 0;
    __device__ float operator()(int i) const { return at_namespace_scope[i]; }
};
__global__ void own_variable(float* at_namespace_scope) {
    *from_device_function() = 5.0f;
    report("namespace scope: hidden", at_namespace_scope == nullptr && *from_device_function() == 5.0f);
    report("namespace scope: functor", Functor{}(2) == 5.0f);
}

template <class T>
struct SharedMemory {
    __device__ operator T*() const {
        extern __shared__ int untyped[];
        return reinterpret_cast<T*>(untyped);
    }
};
__global__ void wrapped() {
    double* numbers = SharedMemory<double>();
    numbers[1] = 2.5;
    report("wrapped", SharedMemory<double>()[1] == 2.5);
}

__global__ void lambdas() {
    __shared__ int sum;
    sum = 0;
    auto add = [&](int x) { sum += x; };
    add(3);
    auto local = [=] __device__() {
        __shared__ int inside[2];
        inside[1] = 4;
        return inside[1];
    };
    report("lambda", sum == 3 && local() == 4);
    __shared__ int values[2], unused_value;
    values[0] = unused_value = 1;
    int one = 1;
    auto by_value = [=](int i) { return values[i] + one; };
    auto empty = [](int i) { return values[i]; };
    auto mixed = [one, &sum](int i) mutable -> int { return values[i] + one + sum; };
    auto nested = [=] { return [=] { return values[0]; }(); };
    auto first_of = [](const int* p) { return p[0]; };
    values[0] = 5;
    report("lambda by value", by_value(0) == 6 && empty(0) == 5 && mixed(0) == 9 && nested() == 5 && first_of(values) == 5);
}

int main() {
    plain<<<1, 1>>>();
    several<<<1, 1>>>();
    qualified<<<1, 1>>>();
    aligned_ones<<<1, 1>>>();
    typed<<<1, 1>>>();
    defined_in_place<<<1, 1>>>();
    templated<int, 3><<<1, 1, 64>>>();
    templated<double, 4><<<1, 1, 64>>>();
    scopes<<<1, 1>>>(1);
    macros<<<1, 1, 64>>>();
    dynamic<<<1, 1, 64>>>();
    uses_namespace_scope<<<1, 1, 64>>>();
    own_variable<<<1, 1, 64>>>(nullptr);
    wrapped<<<1, 1, 64>>>();
    lambdas<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
