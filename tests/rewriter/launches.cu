// clang-format off
// Every way to write a launch. Each line of the output is "case form name result".
#include <cstdio>

__managed__ int result;  // what the kernel of the last launch left behind

void report(const char* which) {
    if (cudaDeviceSynchronize()) std::printf("failed: ");
    std::printf("%s|%s|%s|%d|%zu|%d\n", which, emu::form.c_str(), emu::name.c_str(), result, emu::shared_bytes,
                emu::stream);
    result = -1;
}

__global__ void plain(int* out, int value) {
    atomicMax(out, value + static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x));
}
static __global__ void internal(int* out) { *out = 10; }
namespace {
__global__ void anonymous(int* out) { *out = 11; }
}  // namespace
namespace outer::inner {
__global__ void nested(int* out) { *out = 12; }
template <class T>
__global__ void typed(T* out, T value) { *out = value; }
template <class T, int Size = 31>
__global__ void with_size(T* out) { *out = Size; }
inline void launch_inside() { nested<<<1, 1>>>(&result); }
}  // namespace outer::inner
__global__ void declared(int* out, float scale = 2.0f);
__global__ void declared(int* destination, float factor) { *destination = static_cast<int>(10 * factor); }
__global__ void overloaded(int* out, int v) { *out = 100 + v; }
__global__ void overloaded(int* out, float v) { *out = 200 + static_cast<int>(v); }
__global__ void overloads_host(int* out) { *out = 300; }
void overloads_host(const char*) {}
namespace outer {
__global__ void beside_host(int* out) { *out = 301; }
}  // namespace outer
template <class T>
T* beside_host(T* p);
template <class T, int N = 3, class U = T>
__global__ void defaults(T* out, U value) { *out = static_cast<T>(value) * N; }
template <class T, class U = T>
__global__ void sized(T* out, U) { *out = static_cast<T>(sizeof(U)); }
template <class... Ts>
__global__ void variadic(int* out, Ts... values) { *out = (0 + ... + static_cast<int>(values)); }
template <class T>
__global__ void specialised(T* out) { *out = T(1); }
template <>
__global__ void specialised<int>(int* out) { *out = 2; }
template __global__ void outer::inner::typed<int>(int*, int);
__global__ void __launch_bounds__(256, 2) bounded(int* out) { *out = 13; }
__launch_bounds__(64) __global__ void bounded_first(int* out) { *out = 14; }
void __global__ late_qualifier(int* out) { *out = 15; }
extern "C" __global__ void c_linkage(int* out) { *out = 16; }
__global__ void takes_pointers(int* out, const char* text, void* nothing) {
    *out = (text == nullptr) + 2 * (nothing == nullptr);
}
__global__ void takes_structs(int* out, int4 v, float2 w) { *out = v.x + v.w + static_cast<int>(w.y); }
template <class T>
__global__ void deduced_struct(T* out, float2 w, T v, const void* p) { *out = static_cast<T>(w.x + w.y) + v + (p == nullptr); }
template <class F>
__global__ void apply(int* out, F function) { *out = function(5); }
struct Plus {
    int amount;
    __device__ int operator()(int x) const { return x + amount; }
};
#define KERNEL(name, value) \
    __global__ void name(int* out) { *out = value; }
KERNEL(made_by_macro, 17)
#define TEMPLATE_KERNEL(name) \
    template <class T>        \
    __global__ void name(T* out, T v) { *out = v; }
TEMPLATE_KERNEL(template_made_by_macro)
__global__ void no_arguments() { result = 18; }
__global__ void void_argument(void) { result = 19; }
__global__ void function_argument(int* out, int (*f)(int), int x) { *out = f(x); }
int doubled(int x) { return 2 * x; }

#define LAUNCH(kernel, ...) kernel<<<1, 1>>>(__VA_ARGS__)
#define LAUNCH_CONFIGURED(kernel, grid, block) kernel<<<grid, block>>>
#define LAUNCH_PLAIN(value)   \
    do {                      \
        plain<<<1,            \
                1>>>(&result, \
                     value);  \
    } while (0)
#define ALL(...) __VA_ARGS__
#define CHECKED(...) (__VA_ARGS__, result)

using Kernel = void (*)(int*);
struct Table {
    Kernel kernel = internal;
    Kernel kernels[2] = {internal, bounded};
    const Table* self() const { return this; }
    static constexpr Kernel constant = bounded;
    void run() { kernel<<<1, 1>>>(&result); }
    void run_this() { this->kernels[1]<<<1, 1>>>(&result); }
};
template <class T>
struct Traits {
    static constexpr void (*kernel)(T*) = specialised<T>;
};
Kernel choose(int i) { return i ? bounded : internal; }

template <class T>
void templated_host(T value) {
    outer::inner::typed<T><<<1, 1>>>(&result, value);
    report("dependent explicit");
    outer::inner::typed<<<1, 1>>>(&result, value);
    report("dependent deduced");
    Traits<T>::kernel<<<1, 1>>>(&result);
    report("dependent member");
    defaults<T, sizeof(T) / 2><<<1, 1>>>(&result, value);
    report("dependent value");
    auto lambda = [&](auto v) { defaults<decltype(v), 5><<<1, 1>>>(&result, v); };
    lambda(value);
    report("generic lambda");
}

void shadowed(void (*plain)(int*)) {
    plain<<<1, 1>>>(&result);
    report("shadowed by a parameter");
    {
        auto nested = bounded;
        nested<<<1, 1>>>(&result);
        report("shadowed by a variable");
    }
}

template <int A>
constexpr int constant() { return A; }
template <class A>
struct Box {};
template <class A>
constexpr int size_of() { return 1; }
template <class A>
constexpr int variable_of = 1;

int main() {
    plain<<<1, 1>>>(&result, 1);
    report("plain");
    plain <<< 2, dim3(4) >>> (&result, 1);
    report("spaces");
    ::plain<<<1, 1>>>(&result, 2);
    report("global");
    outer::inner::nested<<<1, 1>>>(&result);
    report("qualified");
    ::outer::inner::typed<float><<<1, 1>>>(reinterpret_cast<float*>(&result), 0);
    report("global template");
    outer::inner::launch_inside();
    report("inside its namespace");
    internal<<<1, 1>>>(&result);
    report("static");
    outer::inner::with_size<int><<<1, 1>>>(&result);
    report("default that nothing deduces");
    anonymous<<<1, 1>>>(&result);
    report("anonymous namespace");
    declared<<<1, 1>>>(&result, 3);
    report("declared and defined");
    declared<<<1, 1>>>(&result);
    report("default argument");
    overloaded<<<1, 1>>>(&result, 1);
    report("overloaded int");
    overloaded<<<1, 1>>>(&result, 1.0f);
    report("overloaded float");
    overloads_host<<<1, 1>>>(&result);
    report("overloaded by a host function");
    outer::beside_host<<<1, 1>>>(&result);
    report("named as a host function elsewhere");
    defaults<<<1, 1>>>(&result, 2);
    report("deduced");
    defaults<int><<<1, 1>>>(&result, 2);
    report("partly explicit");
    sized<int><<<1, 1>>>(&result, 2.5);
    report("deduced in spite of a default");
    defaults<int, 7><<<1, 1>>>(&result, 2);
    report("partly explicit with a value");
    defaults<int, 4><<<1, 1>>>(&result, 2);
    report("default template arguments");
    defaults<int, (8 > 4) ? 6 : 7, long><<<1, 1>>>(&result, 2);
    report("expression in template arguments");
    variadic<<<1, 1>>>(&result, 1, 2.0, 'a');
    report("variadic");
    variadic<int, int><<<1, 1>>>(&result, 1, 2);
    report("variadic explicit");
    specialised<int><<<1, 1>>>(&result);
    report("specialised");
    bounded<<<1, 1>>>(&result);
    report("launch bounds");
    bounded_first<<<1, 1>>>(&result);
    report("launch bounds first");
    late_qualifier<<<1, 1>>>(&result);
    report("late qualifier");
    c_linkage<<<1, 1>>>(&result);
    report("extern C");
    takes_pointers<<<1, 1>>>(&result, 0, NULL);
    report("null pointers");
    takes_structs<<<1, 1>>>(&result, {1, 2, 3, 4}, {0.5f, 6});
    report("braced lists");
    deduced_struct<<<1, 1>>>(&result, {1.5f, 2.5f}, 3, NULL);
    report("braced lists deduced");
    const float half = 0.5f;
    deduced_struct<<<1, 1>>>(&result, {half, /* ( */ 2.5f}, -4, nullptr);
    report("braced variables deduced");
    apply<<<1, 1>>>(&result, Plus{3});
    report("functor");
    apply<<<1, 1>>>(&result, [=] __device__(int x) { return x > 3 ? static_cast<int>(half * 2) : 0; });
    report("device lambda");
    auto twice = [] __device__(int x) { return 2 * x; };
    apply<decltype(twice)><<<1, 1>>>(&result, twice);
    report("device lambda explicit");
    made_by_macro<<<1, 1>>>(&result);
    report("kernel made by a macro");
    template_made_by_macro<<<1, 1>>>(&result, 20);
    report("template made by a macro");
    no_arguments<<<1, 1>>>();
    report("no arguments");
    void_argument<<<1, 1>>>();
    report("void");
    function_argument<<<1, 1>>>(&result, doubled, 4);
    report("function argument");

    Kernel pointer = internal;
    pointer<<<1, 1>>>(&result);
    report("pointer");
    (*pointer)<<<1, 1>>>(&result);
    report("dereferenced");
    (pointer)<<<1, 1>>>(&result);
    report("parenthesised");
    Table table;
    table.kernel<<<1, 1>>>(&result);
    report("member");
    (&table)->kernels[1]<<<1, 1>>>(&result);
    report("member of a pointer");
    table.self()->self()->kernels[0]<<<1, 1>>>(&result);
    report("chain");
    Table::constant<<<1, 1>>>(&result);
    report("static member");
    table.run();
    report("own member");
    table.run_this();
    report("this");
    choose(1)<<<1, 1>>>(&result);
    report("returned");
    Kernel several[2][2] = {{internal, bounded}, {bounded, internal}};
    several[0][choose(0) == internal]<<<1, 1>>>(&result);
    report("array");
    const Kernel first = *table.kernels;
    (first == internal ? bounded : internal)<<<1, 1>>>(&result);
    report("conditional");

    if (result < 0) plain<<<1, 1>>>(&result, 1); else internal<<<1, 1>>>(&result);
    report("if without braces");
    if (result >= 0)
        plain<<<1, 1>>>(&result, 1);
    else
        overloaded<<<1, 1>>>(&result, 2);
    report("else without braces");
    if (result < 0) (*pointer)<<<1, 1>>>(&result);
    report("pointer after if");
    for (int i = 0; i < 3; ++i) plain<<<1, 1>>>(&result, i);
    report("for");
    plain<<<1, 1>>>(&result, 1), overloaded<<<1, 1>>>(&result, 3);
    report("comma");
    result < 0 ? plain<<<1, 1>>>(&result, 1) : internal<<<1, 1>>>(&result);
    report("after a question mark");

    LAUNCH(plain, &result, 21);
    report("macro");
    LAUNCH(outer::inner::typed<int>, &result, 22);
    report("macro template");
    LAUNCH(defaults, &result, 23);
    report("macro deduced");
    LAUNCH(overloaded, &result, 4);
    report("macro overloaded");
    LAUNCH(takes_pointers, &result, 0, NULL);
    report("macro null pointers");
    LAUNCH(table.kernels[1], &result);
    report("macro member");
    LAUNCH_CONFIGURED(plain, 1, 1)(&result, 24);
    report("macro configured");
    LAUNCH_PLAIN(25);
    report("macro several lines");
    ALL(plain<<<1, 1>>>(&result, 26));
    report("macro argument");
    (void)CHECKED(defaults<int, 2><<<1, 1>>>(&result, 4));
    report("macro argument with commas");

    cudaStream_t stream = 9;
    plain<<<1, 1, 3 * sizeof(float), stream>>>(&result, 1);
    report("four parts");
    plain<<<(100 + 31) / 32, 64 >> 2, 1 << 4>>>(&result, 0);
    report("shifts");
    plain<<<result < 0 ? 1 : 2, result > 0 ? 2 : 1>>>(&result, 0);
    report("comparisons");
    plain<<<size_of<Box<Box<int>>>(), constant<(3 > 2)>()>>>(&result, 1);
    report("nested template arguments");
    plain<<<1, variable_of<Box<int>>>>>(&result, 1);
    report("five closing brackets");
    plain<<<{1, 1, 1}, {2}>>>(&result, 1);
    report("braced configuration");
    plain<<<1, [] { return 1 > 0 ? 1 : 2; }()>>>(&result, 1);
    report("lambda in the configuration");
    plain  // the kernel
        <<<  /* grid */ 1,
             1  // block: >>>
           >>>  // now the arguments
        (&result,
         27);
    report("several lines");
    const int line = __LINE__;
    plain<<<1,
            1>>>(&result, __LINE__ - line);
    report("line of the last argument");
    plain<<<
#ifdef NEVER_DEFINED
        7,
#else
        1,
#endif
        1>>>(&result, 28);
    report("conditional configuration");
    const char* text = "plain<<<1, 1>>>(x)";
    const char* raw = R"x(plain<<<1, 1>>>(" )" )x";
    const char quote = '"', apostrophe = '\'';
    result = text[5] == '<' && raw[5] == '<' && quote == '"' && apostrophe == '\'' && 1'000 == 1000;
    report("strings");
    templated_host(4);
    shadowed(internal);
    return 0;
}
