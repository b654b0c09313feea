//! [kernel question]
// The kernel of block_clock, with its reference and launcher. In a file of its own because the twin
// that compiles it at run time, block_clock_nvrtc, holds its results against this one.
//! [kernel question]

//! [kernel includes]
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "random.hpp"
#include "verify.hpp"

namespace block_clock {
//! [kernel includes]

//! [kernel]
/// What a block writes down about itself.
struct BlockTimes {
    long long start;              ///< of its SM's counter, in cycles
    long long end;                ///< of the same counter
    unsigned long long start_ns;  ///< of the clock that all SMs share, in nanoseconds
    unsigned multiprocessor;      ///< the SM that it ran on
};

__device__ inline unsigned multiprocessor() {
    unsigned number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

__device__ inline unsigned long long nanoseconds() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

/// Each block finds the smallest of 2 * blockDim.x floats and notes when it began and ended. Its
/// segment begins `segment_step` floats behind that of the block before; 0: all read the same one.
/// Dynamic shared memory: one float for each of them.
extern "C" __global__ void timed_reduction(const float* input, float* output, BlockTimes* times,
                                           unsigned segment_step) {
    extern __shared__ float values[];
    const unsigned thread = threadIdx.x;
    if (thread == 0) {
        times[blockIdx.x].multiprocessor = multiprocessor();
        times[blockIdx.x].start_ns = nanoseconds();
        times[blockIdx.x].start = clock64();
    }

    const float* segment = input + static_cast<unsigned long long>(blockIdx.x) * segment_step;
    values[thread] = segment[thread];
    values[thread + blockDim.x] = segment[thread + blockDim.x];

    // The upper half of what is left meets the lower half. Of an odd number the middle one waits.
    for (unsigned left = 2 * blockDim.x; left > 1;) {
        const unsigned half = (left + 1) / 2;
        __syncthreads();
        if (thread + half < left && values[thread + half] < values[thread]) {
            values[thread] = values[thread + half];
        }
        left = half;
    }
    if (thread == 0) output[blockIdx.x] = values[0];

    __syncthreads();  // the block has ended when its last thread has
    if (thread == 0) times[blockIdx.x].end = clock64();
}
//! [kernel]

//! [configuration]
/// A launch of the kernel.
struct Configuration {
    std::string name;
    unsigned blocks = 64;
    unsigned threads = 256;
    bool shared_segment = false;         ///< all blocks read the same floats
    std::size_t least_shared_bytes = 0;  ///< ask for so much shared memory even if less would do

    unsigned segment_floats() const { return 2 * threads; }
    unsigned segment_step() const { return shared_segment ? 0 : segment_floats(); }
    std::size_t input_floats() const {
        return static_cast<std::size_t>(shared_segment ? 1 : blocks) * segment_floats();
    }
    std::size_t shared_bytes() const {
        return std::max(sizeof(float) * segment_floats(), least_shared_bytes);
    }
    std::string text() const {
        return std::to_string(blocks) + (blocks == 1 ? " block of " : " blocks of ") +
               std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    }
};

inline std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
    mf::Random random(seed);
    std::vector<float> floats(count);
    for (float& value : floats)
        value = random.uniform(-1, 1);
    return floats;
}

inline void launch(const Configuration& c, const float* input, float* output, BlockTimes* times,
                   cudaStream_t stream) {
    timed_reduction<<<c.blocks, c.threads, c.shared_bytes(), stream>>>(input, output, times,
                                                                       c.segment_step());
    CUDA_CHECK_LAUNCH();
}
//! [configuration]

//! [kernel check]
inline std::vector<float> reference(const Configuration& c, const std::vector<float>& input) {
    std::vector<float> smallest;
    for (unsigned block = 0; block < c.blocks; ++block) {
        const auto segment = input.begin() + static_cast<std::ptrdiff_t>(block) * c.segment_step();
        smallest.push_back(*std::min_element(segment, segment + c.segment_floats()));
    }
    return smallest;
}

/// The block's minimum, and that its times can be times: a counter that moved forward, on no more
/// SMs than there are.
inline mf::CheckResult check_blocks(const Configuration& c, const std::vector<float>& input,
                                    const std::vector<float>& output,
                                    const std::vector<BlockTimes>& times, int multiprocessors) {
    const auto place = [](std::size_t block) { return "block " + std::to_string(block); };
    mf::CheckResult result = mf::check_equal(c.name, reference(c, input), output, place);
    std::set<unsigned> used;
    for (std::size_t block = 0; block < times.size() && result.passed; ++block) {
        used.insert(times[block].multiprocessor);
        if (times[block].end > times[block].start) continue;
        result.passed = false;
        result.message = place(block) + ": its clock went from " +
                         std::to_string(times[block].start) + " to " +
                         std::to_string(times[block].end);
    }
    if (result.passed && used.size() > static_cast<std::size_t>(multiprocessors)) {
        result.passed = false;
        result.message = "blocks on " + std::to_string(used.size()) + " SMs of " +
                         std::to_string(multiprocessors);
    }
    if (!result.passed) result.message = c.text() + ": " + result.message;
    return result;
}
//! [kernel check]

//! [average clocks]
/// Each difference is taken on one SM; only then are they averaged. Cycles.
inline double average_clocks(const std::vector<BlockTimes>& times) {
    double sum = 0;
    for (const BlockTimes& block : times)
        sum += static_cast<double>(block.end - block.start);
    return sum / static_cast<double>(times.size());
}

}  // namespace block_clock
//! [average clocks]
