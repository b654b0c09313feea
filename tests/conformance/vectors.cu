/// \file
/// Vector types: sizes, alignments, initialisation, loads and stores of whole vectors.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "support.hpp"

using namespace conformance;

namespace {

#define CHECK_LAYOUT(type, size, alignment) \
    static_assert(sizeof(type) == (size) && alignof(type) == (alignment), #type)

CHECK_LAYOUT(char1, 1, 1);
CHECK_LAYOUT(char2, 2, 2);
CHECK_LAYOUT(char3, 3, 1);
CHECK_LAYOUT(char4, 4, 4);
CHECK_LAYOUT(uchar1, 1, 1);
CHECK_LAYOUT(uchar2, 2, 2);
CHECK_LAYOUT(uchar3, 3, 1);
CHECK_LAYOUT(uchar4, 4, 4);
CHECK_LAYOUT(short1, 2, 2);
CHECK_LAYOUT(short2, 4, 4);
CHECK_LAYOUT(short3, 6, 2);
CHECK_LAYOUT(short4, 8, 8);
CHECK_LAYOUT(ushort2, 4, 4);
CHECK_LAYOUT(ushort3, 6, 2);
CHECK_LAYOUT(ushort4, 8, 8);
CHECK_LAYOUT(int1, 4, 4);
CHECK_LAYOUT(int2, 8, 8);
CHECK_LAYOUT(int3, 12, 4);
CHECK_LAYOUT(int4, 16, 16);
CHECK_LAYOUT(uint2, 8, 8);
CHECK_LAYOUT(uint3, 12, 4);
CHECK_LAYOUT(uint4, 16, 16);
CHECK_LAYOUT(long1, sizeof(long), alignof(long));
CHECK_LAYOUT(long2, 2 * sizeof(long), 2 * sizeof(long));
CHECK_LAYOUT(ulong3, 3 * sizeof(long), alignof(long));
CHECK_LAYOUT(longlong1, 8, 8);
CHECK_LAYOUT(longlong2, 16, 16);
CHECK_LAYOUT(longlong3, 24, 8);
CHECK_LAYOUT(ulonglong2, 16, 16);
CHECK_LAYOUT(float1, 4, 4);
CHECK_LAYOUT(float2, 8, 8);
CHECK_LAYOUT(float3, 12, 4);
CHECK_LAYOUT(float4, 16, 16);
CHECK_LAYOUT(double1, 8, 8);
CHECK_LAYOUT(double2, 16, 16);
CHECK_LAYOUT(double3, 24, 8);
CHECK_LAYOUT(dim3, 12, 4);

static_assert(std::is_same<decltype(char4::x), signed char>::value, "char4 is signed");
static_assert(std::is_same<decltype(uchar4::w), unsigned char>::value, "uchar4 is unsigned");

/// Layouts as the device's compiler has them.
__global__ void device_layouts(unsigned* sizes) {
    sizes[0] = sizeof(char3);
    sizes[1] = sizeof(short4);
    sizes[2] = sizeof(float3);
    sizes[3] = sizeof(float4);
    sizes[4] = sizeof(double2);
    sizes[5] = alignof(char4);
    sizes[6] = alignof(float2);
    sizes[7] = alignof(uint4);
}

template <class Vector>
__global__ void copy(const Vector* in, Vector* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i];
}

template <class Vector>
__global__ void copy_with_hints(const Vector* in, Vector* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    switch (i % 4) {
        case 0:
            __stcg(out + i, __ldg(in + i));
            break;
        case 1:
            __stcs(out + i, __ldcg(in + i));
            break;
        case 2:
            __stwt(out + i, __ldcs(in + i));
            break;
        default:
            __stwb(out + i, __ldca(in + i));
            break;
    }
}

/// Copies bytes as vectors: once plainly, once with cache hints.
template <class Vector>
void check_copy() {
    constexpr int count = 1000;
    const std::size_t bytes = count * sizeof(Vector);
    std::vector<unsigned char> values(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        values[i] = static_cast<unsigned char>(i * 31 + 7);
    const DeviceArray<unsigned char> in(values), out(bytes);
    const auto* const from = reinterpret_cast<const Vector*>(in.get());
    auto* const to = reinterpret_cast<Vector*>(out.get());
    copy<Vector><<<4, 256>>>(from, to, count);
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(), values);
    REQUIRE_OK(cudaMemset(to, 0, bytes));
    copy_with_hints<Vector><<<4, 256>>>(from, to, count);
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(), values);
}

}  // namespace

TEST_CASE("layouts on the device", "[vectors]") {
    const DeviceArray<unsigned> sizes(8);
    device_layouts<<<1, 1>>>(sizes.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(sizes.download(), std::vector<unsigned>({3, 8, 12, 16, 16, 4, 8, 16}));
}

TEST_CASE("copies of whole vectors", "[vectors]") {
    check_copy<char>();
    check_copy<unsigned char>();
    check_copy<char2>();
    check_copy<char4>();
    check_copy<uchar4>();
    check_copy<short>();
    check_copy<short2>();
    check_copy<short4>();
    check_copy<ushort4>();
    check_copy<int>();
    check_copy<int2>();
    check_copy<int4>();
    check_copy<unsigned>();
    check_copy<uint2>();
    check_copy<uint4>();
    check_copy<long>();
    check_copy<long long>();
    check_copy<longlong2>();
    check_copy<ulonglong2>();
    check_copy<float2>();
    check_copy<float4>();
    check_copy<double2>();
}

namespace {

struct Particle {
    float4 position;
    uchar4 colour;
    float2 speed;
};

__global__ void move(Particle* particles, float time) {
    Particle particle = particles[threadIdx.x];
    particle.position.x += particle.speed.x * time;
    particle.position.y += particle.speed.y * time;
    particle.colour = make_uchar4(particle.colour.w, 1, 2, particle.colour.x);
    particles[threadIdx.x] = particle;
}

__global__ void axpy(float a, const float4* x, float4* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 xs = x[i];
    float4 ys = y[i];
    ys.x += a * xs.x;
    ys.y += a * xs.y;
    ys.z += a * xs.z;
    ys.w += a * xs.w;
    y[i] = ys;
}

__global__ void initialise(float4* out) {
    const float4 listed = {1, 2, 3, 4};
    const float4 direct{5, 6, 7, 8};
    float4 empty = {};
    float4 assigned;
    assigned = make_float4(9, 10, 11, 12);
    float4 chained;
    chained = assigned = listed;
    empty.z = 1;
    out[0] = listed;
    out[1] = direct;
    out[2] = empty;
    out[3] = assigned;
    out[4] = chained;
    out[5] = float4{13, 14, 15, 16};
    *reinterpret_cast<float2*>(&out[6]) = make_float2(17, 18);
    reinterpret_cast<float*>(out + 6)[2] = 19;
    (&out[6].x)[3] = 20;
}

/// Bytes out of a word and back, by a cast of the address.
__global__ void repack(const unsigned* words, uchar4* bytes) {
    const uchar4 four = *reinterpret_cast<const uchar4*>(words + threadIdx.x);
    bytes[threadIdx.x] = {four.w, four.z, four.y, four.x};
}

}  // namespace

TEST_CASE("vectors inside structures", "[vectors]") {
    CHECK(sizeof(Particle) == 32);
    Particle start{{1, 2, 3, 4}, {10, 20, 30, 40}, {0.5f, -1}};
    const DeviceArray<Particle> particles(1);
    REQUIRE_OK(cudaMemcpy(particles.get(), &start, sizeof start, cudaMemcpyHostToDevice));
    move<<<1, 1>>>(particles.get(), 2.0f);
    REQUIRE_COMPLETES();
    const Particle end = particles.download()[0];
    CHECK(end.position.x == 2.0f);
    CHECK(end.position.y == 0.0f);
    CHECK(end.position.w == 4.0f);
    CHECK(end.colour.x == 40);
    CHECK(end.colour.y == 1);
    CHECK(end.colour.w == 10);
}

TEST_CASE("arithmetic in vectors of four", "[vectors]") {
    constexpr int count = 1000;
    std::vector<float> x(4 * count), y(4 * count), expected(4 * count);
    for (int i = 0; i < 4 * count; ++i) {
        x[i] = static_cast<float>(i % 100);
        y[i] = static_cast<float>(i % 37);
        expected[i] = y[i] + 3 * x[i];
    }
    const DeviceArray<float> device_x(x), device_y(y);
    axpy<<<8, 128>>>(3.0f, reinterpret_cast<const float4*>(device_x.get()),
                     reinterpret_cast<float4*>(device_y.get()), count);
    REQUIRE_COMPLETES();
    REQUIRE_SAME(device_y.download(), expected);
}

TEST_CASE("initialising and assigning vectors", "[vectors]") {
    const DeviceArray<float> out(28);
    initialise<<<1, 1>>>(reinterpret_cast<float4*>(out.get()));
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(),
                 std::vector<float>({1, 2, 3, 4, 5, 6, 7,  8,  0,  0,  1,  0,  1,  2,
                                     3, 4, 1, 2, 3, 4, 13, 14, 15, 16, 17, 18, 19, 20}));
}

TEST_CASE("a word as four bytes", "[vectors]") {
    const DeviceArray<unsigned> words(std::vector<unsigned>{0x01020304u, 0xA0B0C0D0u}), out(2);
    repack<<<1, 2>>>(words.get(), reinterpret_cast<uchar4*>(out.get()));
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(), std::vector<unsigned>({0x04030201u, 0xD0C0B0A0u}));
}
