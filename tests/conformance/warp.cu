/// \file
/// Warp primitives: shuffles, votes, matches, reductions, with every width and with partial masks.

#include <algorithm>
#include <limits>

#include "support.hpp"

using namespace conformance;

namespace {

enum class Shuffle { index, up, down, exclusive_or };

template <class T>
__device__ T shuffled(Shuffle kind, unsigned mask, T value, int parameter, int width) {
    switch (kind) {
        case Shuffle::index:
            return __shfl_sync(mask, value, parameter, width);
        case Shuffle::up:
            return __shfl_up_sync(mask, value, parameter, width);
        case Shuffle::down:
            return __shfl_down_sync(mask, value, parameter, width);
        default:
            return __shfl_xor_sync(mask, value, parameter, width);
    }
}

/// The lanes of `mask` shuffle; the others leave their results as they are.
template <class T>
__global__ void shuffle(Shuffle kind, unsigned mask, int parameter, int width, const T* in,
                        T* out) {
    const unsigned lane = threadIdx.x;
    if (mask >> lane & 1) out[lane] = shuffled(kind, mask, in[lane], parameter, width);
}

/// The lane that `lane` reads from, after the definition of PTX's shfl instruction.
int source_lane(Shuffle kind, int lane, int parameter, int width) {
    const int segment = lane & ~(width - 1);  // its first lane
    const int last = segment + width - 1;
    int source = lane;
    switch (kind) {
        case Shuffle::index:
            source = segment + (parameter & (width - 1));
            break;
        case Shuffle::up:
            source = lane - parameter;
            return source >= segment ? source : lane;
        case Shuffle::down:
            source = lane + parameter;
            break;
        case Shuffle::exclusive_or:
            source = lane ^ parameter;
            break;
    }
    return source <= last ? source : lane;
}

template <class T>
std::vector<T> lane_values() {
    std::vector<T> values(32);
    for (int i = 0; i < 32; ++i) {
        values[i] = static_cast<T>(std::numeric_limits<T>::max() / (i + 2)) - T(i);
    }
    return values;
}

/// A result that no lane's value can be mistaken for.
template <class T>
std::vector<T> untouched() {
    return std::vector<T>(32, T(-77));
}

template <class T>
void check_shuffle(Shuffle kind, unsigned mask, int parameter, int width) {
    const std::vector<T> values = lane_values<T>();
    const DeviceArray<T> in(values), out(32);
    std::vector<T> expected = untouched<T>();
    REQUIRE_OK(cudaMemcpy(out.get(), expected.data(), out.bytes(), cudaMemcpyHostToDevice));
    shuffle<T><<<1, 32>>>(kind, mask, parameter, width, in.get(), out.get());
    REQUIRE_COMPLETES();
    std::vector<T> actual = out.download();
    for (int lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1)) continue;
        const int source = source_lane(kind, lane, parameter, width);
        // What a lane reads from one outside the mask is undefined.
        expected[lane] = mask >> source & 1 ? values[source] : actual[lane];
    }
    INFO("kind " << static_cast<int>(kind) << ", mask " << mask << ", parameter " << parameter
                 << ", width " << width);
    REQUIRE_SAME(actual, expected);
}

}  // namespace

TEST_CASE("shuffles of a whole warp in every width", "[warp][shuffle]") {
    for (const auto kind : {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::exclusive_or}) {
        for (const int width : {2, 4, 8, 16, 32}) {
            for (const int parameter : {0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 30, 31}) {
                check_shuffle<int>(kind, 0xFFFFFFFFu, parameter, width);
            }
        }
    }
}

TEST_CASE("shuffles with partial masks", "[warp][shuffle]") {
    for (const unsigned mask : {1u, 0x80000000u, 0x0000FFFFu, 0xFFFF0000u, 0x55555555u, 0xAAAAAAAAu,
                                0x0F0F0F0Fu, 0x7FFFFFFFu, 0xFFFFFFFEu, 0x00FF00FFu, 0x12345678u}) {
        for (const auto kind :
             {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::exclusive_or}) {
            for (const int parameter : {0, 1, 2, 8}) {
                check_shuffle<int>(kind, mask, parameter, 32);
                check_shuffle<int>(kind, mask, parameter, 8);
            }
        }
    }
}

TEST_CASE("shuffles of every type", "[warp][shuffle]") {
    for (const auto kind : {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::exclusive_or}) {
        check_shuffle<int>(kind, 0xFFFFFFFFu, 3, 32);
        check_shuffle<unsigned>(kind, 0xFFFFFFFFu, 3, 32);
        check_shuffle<long>(kind, 0xFFFFFFFFu, 3, 32);
        check_shuffle<unsigned long>(kind, 0xFFFFFFFFu, 3, 32);
        check_shuffle<long long>(kind, 0xFFFFFFFFu, 3, 32);
        check_shuffle<unsigned long long>(kind, 0xFFFFFFFFu, 3, 32);
        check_shuffle<float>(kind, 0xFFFFFFFFu, 3, 32);
        check_shuffle<double>(kind, 0xFFFFFFFFu, 3, 32);
    }
}

namespace {

struct Votes {
    unsigned ballot;
    int any, all;
};

/// Lane i holds bit i of `predicates`; all lanes of the mask write what they were told.
__global__ void vote(unsigned mask, unsigned predicates, Votes* votes) {
    const unsigned lane = threadIdx.x % 32;
    if (!(mask >> lane & 1)) return;
    const int predicate = predicates & (1u << lane);  // not 0 or 1
    Votes& mine = votes[threadIdx.x];
    mine.ballot = __ballot_sync(mask, predicate);
    mine.any = __any_sync(mask, predicate) != 0;
    mine.all = __all_sync(mask, predicate) != 0;
}

}  // namespace

TEST_CASE("votes", "[warp][vote]") {
    const DeviceArray<Votes> votes(64);
    for (const unsigned mask : {0xFFFFFFFFu, 1u, 0x80000001u, 0x0000FFFFu, 0x55555555u}) {
        for (const unsigned predicates :
             {0u, 0xFFFFFFFFu, 1u, 0x80000000u, 0x0000FFFFu, 0x55555555u, 0xDEADBEEFu}) {
            vote<<<1, 64>>>(mask, predicates, votes.get());
            REQUIRE_COMPLETES();
            const std::vector<Votes> results = votes.download();
            INFO("mask " << mask << ", predicates " << predicates);
            for (unsigned thread = 0; thread < 64; ++thread) {
                if (!(mask >> thread % 32 & 1)) continue;
                REQUIRE(results[thread].ballot == (predicates & mask));
                REQUIRE(results[thread].any == ((predicates & mask) != 0));
                REQUIRE(results[thread].all == ((predicates & mask) == mask));
            }
        }
    }
}

namespace {

template <class T>
struct Matches {
    unsigned any, all;
    int all_equal;
};

template <class T>
__global__ void match(unsigned mask, const T* values, Matches<T>* matches) {
    const unsigned lane = threadIdx.x;
    if (!(mask >> lane & 1)) return;
    Matches<T>& mine = matches[lane];
    mine.any = __match_any_sync(mask, values[lane]);
    mine.all = __match_all_sync(mask, values[lane], &mine.all_equal);
}

template <class T>
void check_match(unsigned mask, T first, T second, T third) {
    for (const int kinds : {1, 2, 3}) {
        const T choice[3] = {first, second, third};
        std::vector<T> values(32);
        for (int i = 0; i < 32; ++i)
            values[i] = choice[i % 7 % kinds];
        const DeviceArray<T> device_values(values);
        const DeviceArray<Matches<T>> matches(32);
        match<T><<<1, 32>>>(mask, device_values.get(), matches.get());
        REQUIRE_COMPLETES();
        const std::vector<Matches<T>> results = matches.download();
        for (int lane = 0; lane < 32; ++lane) {
            if (!(mask >> lane & 1)) continue;
            unsigned expected = 0;
            for (int other = 0; other < 32; ++other) {
                if (mask >> other & 1 && values[other] == values[lane]) expected |= 1u << other;
            }
            REQUIRE(results[lane].any == expected);
            REQUIRE(results[lane].all == (expected == mask ? mask : 0));
            REQUIRE((results[lane].all_equal != 0) == (expected == mask));
        }
    }
}

}  // namespace

TEST_CASE("matches", "[warp][match]") {
    for (const unsigned mask : {0xFFFFFFFFu, 0x0000FFFFu, 0x55555555u, 0x80000000u}) {
        INFO("mask " << mask);
        check_match<int>(mask, 1, -1, 1 << 30);
        check_match<unsigned>(mask, 1, 2, 0x80000000u);
        check_match<long long>(mask, 1, 1ll << 32 | 1, -1);
        check_match<unsigned long long>(mask, 1, 1ull << 63 | 1, 2);
        check_match<float>(mask, 1.0f, 1.5f, -2.0f);
        check_match<double>(mask, 1.0, 1.0 + 1e-15, -2.0);
    }
}

namespace {

struct Reductions {
    int sum, least, most;
    unsigned unsigned_sum, unsigned_least, unsigned_most, all_bits, any_bit, odd_bits;
};

/// Needs compute capability 8.0.
__global__ void reduce(unsigned mask, const int* values, Reductions* reductions) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const unsigned lane = threadIdx.x;
    if (!(mask >> lane & 1)) return;
    const int value = values[lane];
    const unsigned bits = static_cast<unsigned>(value);
    Reductions& mine = reductions[lane];
    mine.sum = __reduce_add_sync(mask, value);
    mine.least = __reduce_min_sync(mask, value);
    mine.most = __reduce_max_sync(mask, value);
    mine.unsigned_sum = __reduce_add_sync(mask, bits);
    mine.unsigned_least = __reduce_min_sync(mask, bits);
    mine.unsigned_most = __reduce_max_sync(mask, bits);
    mine.all_bits = __reduce_and_sync(mask, bits);
    mine.any_bit = __reduce_or_sync(mask, bits);
    mine.odd_bits = __reduce_xor_sync(mask, bits);
#else
    (void)mask, (void)values, (void)reductions;
#endif
}

}  // namespace

TEST_CASE("reductions of a warp", "[warp][reduce]") {
    cudaFuncAttributes built;
    REQUIRE_OK(cudaFuncGetAttributes(&built, reduce));
    if (built.ptxVersion < 80) return;  // built for an older device
    std::vector<int> values(32);
    for (int i = 0; i < 32; ++i)
        values[i] = (i % 3 - 1) * 1000003 * (i + 1);
    const DeviceArray<int> device_values(values);
    const DeviceArray<Reductions> reductions(32);
    for (const unsigned mask : {0xFFFFFFFFu, 0x0000FFFFu, 0x55555555u, 0x80000000u, 0x00F0000Fu}) {
        reduce<<<1, 32>>>(mask, device_values.get(), reductions.get());
        REQUIRE_COMPLETES();
        const std::vector<Reductions> results = reductions.download();
        Reductions expected{0,
                            std::numeric_limits<int>::max(),
                            std::numeric_limits<int>::min(),
                            0,
                            0xFFFFFFFFu,
                            0,
                            0xFFFFFFFFu,
                            0,
                            0};
        for (int lane = 0; lane < 32; ++lane) {
            if (!(mask >> lane & 1)) continue;
            const unsigned bits = static_cast<unsigned>(values[lane]);
            expected.sum += values[lane];
            expected.least = std::min(expected.least, values[lane]);
            expected.most = std::max(expected.most, values[lane]);
            expected.unsigned_sum += bits;
            expected.unsigned_least = std::min(expected.unsigned_least, bits);
            expected.unsigned_most = std::max(expected.unsigned_most, bits);
            expected.all_bits &= bits;
            expected.any_bit |= bits;
            expected.odd_bits ^= bits;
        }
        for (int lane = 0; lane < 32; ++lane) {
            if (!(mask >> lane & 1)) continue;
            INFO("mask " << mask << ", lane " << lane);
            REQUIRE(results[lane].sum == expected.sum);
            REQUIRE(results[lane].least == expected.least);
            REQUIRE(results[lane].most == expected.most);
            REQUIRE(results[lane].unsigned_sum == expected.unsigned_sum);
            REQUIRE(results[lane].unsigned_least == expected.unsigned_least);
            REQUIRE(results[lane].unsigned_most == expected.unsigned_most);
            REQUIRE(results[lane].all_bits == expected.all_bits);
            REQUIRE(results[lane].any_bit == expected.any_bit);
            REQUIRE(results[lane].odd_bits == expected.odd_bits);
        }
    }
}

namespace {

__global__ void who_is_active(unsigned* whole, unsigned* branch) {
    const unsigned lane = threadIdx.x % 32;
    whole[threadIdx.x] = __activemask();
    if (lane % 3 == 0) branch[threadIdx.x] = __activemask();
}

}  // namespace

TEST_CASE("the active lanes", "[warp]") {
    constexpr unsigned threads = 40;  // the second warp has eight lanes
    const DeviceArray<unsigned> whole(threads), branch(threads);
    who_is_active<<<1, threads>>>(whole.get(), branch.get());
    REQUIRE_COMPLETES();
    const std::vector<unsigned> all = whole.download(), some = branch.download();
    for (unsigned thread = 0; thread < threads; ++thread) {
        const unsigned own = 1u << thread % 32, present = thread < 32 ? 0xFFFFFFFFu : 0xFFu;
        CHECK((all[thread] & own) != 0);
        CHECK((all[thread] & ~present) == 0);
        if (thread % 32 % 3 == 0) {
            CHECK((some[thread] & own) != 0);
            CHECK((some[thread] & ~(0x49249249u & present)) == 0);
        }
    }
}

namespace {

/// A sum over a warp of which only the lanes below `count` are there.
__global__ void partial_warp_sum(int count, int* out) {
    const int lane = threadIdx.x;
    if (lane >= count) return;
    const unsigned mask = count == 32 ? 0xFFFFFFFFu : (1u << count) - 1;
    int sum = lane + 1;
    for (int distance = 16; distance > 0; distance /= 2) {
        const int other = __shfl_down_sync(mask, sum, distance);
        if (lane + distance < count) sum += other;
    }
    if (lane == 0) *out = sum;
}

/// Lanes that have returned need not be waited for, though the mask names them.
__global__ void vote_after_exits(int leaving, unsigned* ballots) {
    const int lane = threadIdx.x;
    if (lane < leaving) return;
    ballots[lane] = __ballot_sync(0xFFFFFFFFu, 1);
}

/// Two halves of the warp on different paths, each with its own mask.
__global__ void divergent_halves(int* out) {
    const int lane = threadIdx.x;
    int sum = lane;
    if (lane < 16) {
        for (int mask = 8; mask > 0; mask /= 2)
            sum += __shfl_xor_sync(0x0000FFFFu, sum, mask);
    } else {
        for (int mask = 8; mask > 0; mask /= 2)
            sum += __shfl_xor_sync(0xFFFF0000u, sum, mask);
    }
    out[lane] = sum;
}

/// Neighbours exchange through shared memory, with the warp's own barrier.
__global__ void exchange_through_memory(int* out) {
    __shared__ int cells[64];
    const unsigned thread = threadIdx.x;
    int value = thread;
    for (int round = 0; round < 5; ++round) {
        cells[thread] = value;
        __syncwarp();
        value = cells[thread / 32 * 32 + (thread + 1) % 32] + 1;
        __syncwarp();
    }
    out[thread] = value;
}

}  // namespace

TEST_CASE("a warp that is not full", "[warp]") {
    const DeviceArray<int> out(1);
    for (int count = 1; count <= 32; ++count) {
        partial_warp_sum<<<1, 32>>>(count, out.get());
        REQUIRE_COMPLETES();
        REQUIRE(out.download()[0] == count * (count + 1) / 2);
        partial_warp_sum<<<1, count>>>(count, out.get());
        REQUIRE_COMPLETES();
        REQUIRE(out.download()[0] == count * (count + 1) / 2);
    }
}

TEST_CASE("lanes that have returned", "[warp]") {
    const DeviceArray<unsigned> ballots(32);
    for (const int leaving : {1, 7, 16, 31}) {
        vote_after_exits<<<1, 32>>>(leaving, ballots.get());
        REQUIRE_COMPLETES();
        const std::vector<unsigned> results = ballots.download();
        for (int lane = leaving; lane < 32; ++lane) {
            REQUIRE(results[lane] == 0xFFFFFFFFu << leaving);
        }
    }
}

TEST_CASE("halves of a warp on different paths", "[warp]") {
    const DeviceArray<int> out(32);
    divergent_halves<<<1, 32>>>(out.get());
    REQUIRE_COMPLETES();
    std::vector<int> expected(32, 120);
    std::fill(expected.begin() + 16, expected.end(), 376);
    REQUIRE_SAME(out.download(), expected);
}

TEST_CASE("memory is ordered by the warp's barrier", "[warp][barrier]") {
    const DeviceArray<int> out(64);
    exchange_through_memory<<<1, 64>>>(out.get());
    REQUIRE_COMPLETES();
    std::vector<int> expected(64);
    for (int i = 0; i < 64; ++i)
        expected[i] = i / 32 * 32 + (i + 5) % 32 + 5;
    REQUIRE_SAME(out.download(), expected);
}
