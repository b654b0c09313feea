/// \file
/// Mathematical functions and conversions: exact where CUDA promises it, else within its error
/// bounds.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "support.hpp"

using namespace conformance;

namespace {

const std::vector<float>& samples() {
    static const std::vector<float> values{0.0f,  0.125f, 0.3f,  0.5f,   0.7f,     1.0f,  1.5f,
                                           2.0f,  2.5f,   3.0f,  3.5f,   7.25f,    10.0f, 31.4f,
                                           64.0f, 100.5f, 1e-3f, 1e-10f, 12345.5f, 1e6f};
    return values;
}

/// A function of one float on the device, and what it should give, computed in double.
#define UNARY(name, device, definition)                           \
    struct name {                                                 \
        static __device__ float apply(float x) { return device; } \
        static double expected(double x) { return definition; }   \
    };

template <class Function>
__global__ void evaluate(const float* in, float* out) {
    out[threadIdx.x] = Function::apply(in[threadIdx.x]);
}

template <class Function>
std::vector<float> evaluated(const std::vector<float>& arguments) {
    const DeviceArray<float> in(arguments), out(arguments.size());
    evaluate<Function><<<1, static_cast<unsigned>(arguments.size())>>>(in.get(), out.get());
    REQUIRE_COMPLETES();
    return out.download();
}

/// Compares at the samples between `from` and `to` (and their negatives, if `from` is negative).
template <class Function>
void check_function(const char* name, double tolerance, double from, double to) {
    std::vector<float> arguments;
    for (const float x : samples()) {
        if (x >= from && x <= to) arguments.push_back(x);
        if (-x >= from && -x <= to) arguments.push_back(-x);
    }
    REQUIRE(!arguments.empty());
    const std::vector<float> results = evaluated<Function>(arguments);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const double expected = Function::expected(arguments[i]);
        INFO(name << " of " << arguments[i]);
        CHECK(std::abs(results[i] - expected) <= tolerance * std::max(1e-30, std::abs(expected)));
    }
}

constexpr double pi = 3.14159265358979323846;
constexpr double half_ulp = 6.0e-8;  // relative, in float
constexpr double few_ulps = 5.0e-7;

UNARY(ReciprocalRoot, rsqrtf(x), 1 / std::sqrt(x))
UNARY(ReciprocalRootOverload, rsqrt(x), 1 / std::sqrt(x))
UNARY(ReciprocalCubeRoot, rcbrtf(x), 1 / std::cbrt(x))
UNARY(SineOfPi, sinpif(x), std::sin(pi* std::fmod(x, 2.0)))
UNARY(CosineOfPi, cospif(x), std::cos(pi* std::fmod(x, 2.0)))
UNARY(Length3, norm3df(x, 2.0f, 3.0f), std::sqrt(x* x + 13))
UNARY(Length4, norm4df(x, 2.0f, 3.0f, 4.0f), std::sqrt(x* x + 29))
UNARY(ReciprocalLength, rhypotf(x, 2.0f), 1 / std::sqrt(x * x + 4))
UNARY(NormalDistribution, normcdff(x), 0.5 * std::erfc(-x / std::sqrt(2.0)))
UNARY(Exponential, expf(x), std::exp(x))
UNARY(Logarithm, logf(x), std::log(x))
UNARY(Sine, sinf(x), std::sin(x))
UNARY(Power, powf(x, 1.5f), std::pow(x, 1.5))
UNARY(Root, sqrtf(x), std::sqrt(x))
UNARY(OverloadedRoot, sqrt(x), std::sqrt(x))
UNARY(Fused, fmaf(x, x, -1.0f), x* x - 1)

UNARY(FastExponential, __expf(x), std::exp(x))
UNARY(FastLogarithm, __logf(x), std::log(x))
UNARY(FastBinaryLogarithm, __log2f(x), std::log2(x))
UNARY(FastPower, __powf(x, 1.5f), std::pow(x, 1.5))
UNARY(FastQuotient, __fdividef(x, 3.0f), x / 3)
UNARY(FastSine, __sinf(x), std::sin(x))
UNARY(FastCosine, __cosf(x), std::cos(x))
UNARY(FastTangent, __tanf(x), std::tan(x))

}  // namespace

TEST_CASE("functions beyond the C++ library", "[math]") {
    check_function<ReciprocalRoot>("rsqrtf", few_ulps, 1e-10, 1e6);
    check_function<ReciprocalRootOverload>("rsqrt", few_ulps, 1e-10, 1e6);
    check_function<ReciprocalCubeRoot>("rcbrtf", few_ulps, 1e-10, 1e6);
    check_function<Length3>("norm3df", few_ulps, -1e6, 1e6);
    check_function<Length4>("norm4df", few_ulps, -1e6, 1e6);
    check_function<ReciprocalLength>("rhypotf", few_ulps, -1e6, 1e6);
    check_function<NormalDistribution>("normcdff", 1e-6, -3.5, 10);
}

TEST_CASE("sine and cosine of multiples of pi", "[math]") {
    const std::vector<float> arguments{0, 0.5f, 1, 1.5f, 2, -0.5f, 0.25f, 1000000.5f, 3.75f};
    const std::vector<float> sines = evaluated<SineOfPi>(arguments);
    const std::vector<float> cosines = evaluated<CosineOfPi>(arguments);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        INFO(arguments[i]);
        CHECK(sines[i] == Approx(SineOfPi::expected(arguments[i])).margin(1e-7));
        CHECK(cosines[i] == Approx(CosineOfPi::expected(arguments[i])).margin(1e-7));
    }
    CHECK(sines[7] == 1.0f);  // exact, far out
    CHECK(cosines[1] == 0.0f);
}

TEST_CASE("functions of the C++ library", "[math]") {
    check_function<Exponential>("expf", few_ulps, -32, 32);
    check_function<Logarithm>("logf", few_ulps, 1.5, 1e6);
    check_function<Sine>("sinf", few_ulps, -1, 1.5);
    check_function<Power>("powf", 2 * few_ulps, 1e-10, 1e6);
    check_function<Root>("sqrtf", half_ulp, 0, 1e6);
    check_function<OverloadedRoot>("sqrt", half_ulp, 0, 1e6);
    check_function<Fused>("fmaf", half_ulp, 1.5, 100);
}

TEST_CASE("fast approximations", "[math]") {
    check_function<FastExponential>("__expf", 1e-5, -32, 32);
    check_function<FastLogarithm>("__logf", 1e-5, 2, 1e6);
    check_function<FastBinaryLogarithm>("__log2f", 1e-5, 2, 1e6);
    check_function<FastPower>("__powf", 1e-4, 0.125, 1000);
    check_function<FastQuotient>("__fdividef", few_ulps, -1e6, 1e6);
    check_function<FastSine>("__sinf", 1e-5, 0.3, 1.5);
    check_function<FastCosine>("__cosf", 1e-5, -1, 1);
    check_function<FastTangent>("__tanf", 1e-5, 0.3, 1);
}

namespace {

struct Rounded {
    float nearest[5], to_zero[5], up[5], down[5];
    double wide_nearest, wide_to_zero, wide_up, wide_down;
    float reciprocal, root, reciprocal_root, clamped[4];
};

__global__ void round_everything(float a, float b, double x, double y, Rounded* out) {
    float c = a * 0.5f;
    out->nearest[0] = __fadd_rn(a, b);
    out->nearest[1] = __fsub_rn(a, b);
    out->nearest[2] = __fmul_rn(a, b);
    out->nearest[3] = __fdiv_rn(a, b);
    out->nearest[4] = __fmaf_rn(a, b, c);
    out->to_zero[0] = __fadd_rz(a, b);
    out->to_zero[1] = __fsub_rz(a, b);
    out->to_zero[2] = __fmul_rz(a, b);
    out->to_zero[3] = __fdiv_rz(a, b);
    out->to_zero[4] = __fmaf_rz(a, b, c);
    out->up[0] = __fadd_ru(a, b);
    out->up[1] = __fsub_ru(a, b);
    out->up[2] = __fmul_ru(a, b);
    out->up[3] = __fdiv_ru(a, b);
    out->up[4] = __fmaf_ru(a, b, c);
    out->down[0] = __fadd_rd(a, b);
    out->down[1] = __fsub_rd(a, b);
    out->down[2] = __fmul_rd(a, b);
    out->down[3] = __fdiv_rd(a, b);
    out->down[4] = __fmaf_rd(a, b, c);
    out->wide_nearest = __ddiv_rn(x, y);
    out->wide_to_zero = __ddiv_rz(x, y);
    out->wide_up = __ddiv_ru(x, y);
    out->wide_down = __ddiv_rd(x, y);
    out->reciprocal = __frcp_rn(b);
    out->root = __fsqrt_rn(b);
    out->reciprocal_root = __frsqrt_rn(b);
    out->clamped[0] = __saturatef(a);
    out->clamped[1] = __saturatef(-a);
    out->clamped[2] = __saturatef(0.25f * b);
    out->clamped[3] = __saturatef(nanf(""));
}

/// The neighbours of `exact` in float: rounded down and up.
float rounded_down(double exact) {
    const float nearest = static_cast<float>(exact);
    return nearest > exact ? std::nextafter(nearest, -INFINITY) : nearest;
}
float rounded_up(double exact) {
    const float nearest = static_cast<float>(exact);
    return nearest < exact ? std::nextafter(nearest, INFINITY) : nearest;
}

}  // namespace

TEST_CASE("arithmetic in every rounding", "[math][rounding]") {
    const DeviceArray<Rounded> out(1);
    struct Operands {
        float a, b;
    };
    for (const Operands operands : {Operands{1.1f, 3.3f}, Operands{16777217.0f, 0.3f},
                                    Operands{-1.1f, 3.3f}, Operands{1e-3f, 0.77777f}}) {
        const float a = operands.a, b = operands.b;
        INFO(a << " and " << b);
        round_everything<<<1, 1>>>(a, b, 1.0, 3.0, out.get());
        REQUIRE_COMPLETES();
        const Rounded seen = out.download()[0];
        // Exact in double, or close enough that rounding twice changes nothing here.
        const double exact[5] = {double(a) + b, double(a) - b, double(a) * b, double(a) / b,
                                 double(a) * b + a * 0.5};
        for (int i = 0; i < 5; ++i) {
            INFO("operation " << i);
            CHECK(seen.nearest[i] == static_cast<float>(exact[i]));
            CHECK(seen.up[i] == rounded_up(exact[i]));
            CHECK(seen.down[i] == rounded_down(exact[i]));
            CHECK(seen.to_zero[i] ==
                  (exact[i] < 0 ? rounded_up(exact[i]) : rounded_down(exact[i])));
        }
        CHECK(seen.reciprocal == static_cast<float>(1.0 / b));
        CHECK(seen.root == static_cast<float>(std::sqrt(double(b))));
        CHECK(seen.reciprocal_root == static_cast<float>(1.0 / std::sqrt(double(b))));
        CHECK(seen.clamped[0] == std::min(std::max(a, 0.0f), 1.0f));
        CHECK(seen.clamped[1] == std::min(std::max(-a, 0.0f), 1.0f));
        CHECK(seen.clamped[2] == 0.25f * b);
        CHECK(seen.clamped[3] == 0.0f);
        CHECK(seen.wide_nearest == 1.0 / 3.0);
        CHECK(seen.wide_to_zero == 1.0 / 3.0);  // to nearest is downwards
        CHECK(seen.wide_down == 1.0 / 3.0);
        CHECK(seen.wide_up == std::nextafter(1.0 / 3.0, 1.0));
    }
}

namespace {

struct Converted {
    int nearest, to_zero, up, down;
    unsigned whole;
    long long wide;
    int bits;
    unsigned unsigned_bits;
    float back, unsigned_back;
};

__global__ void convert(const float* in, Converted* out) {
    const float x = in[threadIdx.x];
    Converted& mine = out[threadIdx.x];
    mine.nearest = __float2int_rn(x);
    mine.to_zero = __float2int_rz(x);
    mine.up = __float2int_ru(x);
    mine.down = __float2int_rd(x);
    mine.whole = __float2uint_rz(x);
    mine.wide = __float2ll_rn(x);
    mine.bits = __float_as_int(x);
    mine.unsigned_bits = __float_as_uint(x);
    mine.back = __int_as_float(mine.bits);
    mine.unsigned_back = __uint_as_float(mine.unsigned_bits);
}

struct Directed {
    float nearest, to_zero, up, down, from_unsigned, from_wide;
    double wide;
    int high, low;
    double joined;
    long long bits;
    double from_bits;
};

__global__ void convert_back(int x, double y, Directed* out) {
    out->nearest = __int2float_rn(x);
    out->to_zero = __int2float_rz(x);
    out->up = __int2float_ru(x);
    out->down = __int2float_rd(x);
    out->from_unsigned = __uint2float_rn(static_cast<unsigned>(x));
    out->from_wide = __ll2float_rn(static_cast<long long>(x) * 1000003);
    out->wide = __int2double_rn(x);
    out->high = __double2hiint(y);
    out->low = __double2loint(y);
    out->joined = __hiloint2double(out->high, out->low);
    out->bits = __double_as_longlong(y);
    out->from_bits = __longlong_as_double(out->bits);
}

}  // namespace

TEST_CASE("floats to integers and bits", "[math][conversions]") {
    const std::vector<float> values{0.0f,  0.5f,  1.5f, 2.5f, -0.5f, -1.5f,
                                    -2.5f, 99.9f, 1e9f, 4e9f, -4e9f, NAN};
    const DeviceArray<float> in(values);
    const DeviceArray<Converted> out(values.size());
    convert<<<1, static_cast<unsigned>(values.size())>>>(in.get(), out.get());
    REQUIRE_COMPLETES();
    const std::vector<Converted> seen = out.download();
    const auto to_int = [](double x) {  // saturates; NaN gives 0
        return x != x ? 0 : static_cast<int>(std::min(std::max(x, -2147483648.0), 2147483647.0));
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double x = values[i];
        INFO(x);
        CHECK(seen[i].nearest == to_int(std::nearbyint(x)));
        CHECK(seen[i].to_zero == to_int(std::trunc(x)));
        CHECK(seen[i].up == to_int(std::ceil(x)));
        CHECK(seen[i].down == to_int(std::floor(x)));
        CHECK(seen[i].whole == (x > 0 ? static_cast<unsigned>(x) : 0));
        if (x == x) CHECK(seen[i].wide == static_cast<long long>(std::nearbyint(x)));
        int bits;
        std::memcpy(&bits, &values[i], sizeof bits);
        CHECK(seen[i].bits == bits);
        CHECK(seen[i].unsigned_bits == static_cast<unsigned>(bits));
        if (x == x) CHECK(seen[i].back == values[i]);
        if (x == x) CHECK(seen[i].unsigned_back == values[i]);
    }
}

TEST_CASE("integers to floats", "[math][conversions]") {
    const DeviceArray<Directed> out(1);
    for (const int x : {0, 1, -1, 16777217, -16777217, 2147483647, -2147483647}) {
        const double y = x + 0.25;
        INFO(x);
        convert_back<<<1, 1>>>(x, y, out.get());
        REQUIRE_COMPLETES();
        const Directed seen = out.download()[0];
        CHECK(seen.nearest == static_cast<float>(x));
        CHECK(seen.up == rounded_up(x));
        CHECK(seen.down == rounded_down(x));
        CHECK(seen.to_zero == (x < 0 ? rounded_up(x) : rounded_down(x)));
        CHECK(seen.from_unsigned == static_cast<float>(static_cast<unsigned>(x)));
        CHECK(seen.from_wide == static_cast<float>(x * 1000003ll));
        CHECK(seen.wide == x);
        long long bits;
        std::memcpy(&bits, &y, sizeof bits);
        CHECK(seen.bits == bits);
        CHECK(seen.high == static_cast<int>(bits >> 32));
        CHECK(seen.low == static_cast<int>(bits));
        CHECK(seen.joined == y);
        CHECK(seen.from_bits == y);
    }
}

namespace {

__global__ void extremes(float number, float nan, double* out) {
    out[0] = min(number, 2.0f);
    out[1] = max(number, 2.0f);
    out[2] = min(number, 2.0);
    out[3] = max(2.0, number);
    out[4] = min(number, nan);
    out[5] = max(nan, number);
    out[6] = fminf(nan, number);
    out[7] = fmaxf(number, nan);
    float sine, cosine;
    sincosf(number, &sine, &cosine);
    out[8] = sine * sine + cosine * cosine;
    out[9] = fabsf(-number) + floorf(number) + abs(-3) + fabs(-0.5);
}

}  // namespace

TEST_CASE("least and greatest of floats", "[math]") {
    const DeviceArray<double> out(10);
    extremes<<<1, 1>>>(1.5f, NAN, out.get());
    REQUIRE_COMPLETES();
    const std::vector<double> seen = out.download();
    REQUIRE_SAME(std::vector<double>(seen.begin(), seen.begin() + 8),
                 std::vector<double>({1.5, 2, 1.5, 2, 1.5, 1.5, 1.5, 1.5}));
    CHECK(seen[8] == Approx(1.0).epsilon(1e-6));
    CHECK(seen[9] == 1.5 + 1 + 3 + 0.5);
}
