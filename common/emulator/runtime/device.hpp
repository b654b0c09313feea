/// \file
/// The emulated device: its limits, in one place, as the launch checks and the queries see them.
#pragma once

#include <cstddef>

namespace emu {

constexpr int runtime_version = 12000;  ///< major · 1000 + minor · 10
constexpr int capability_major = 8;
constexpr int capability_minor = 0;

constexpr int warp_threads = 32;
constexpr int max_threads_per_block = 1024;
constexpr int max_block_size[3] = {1024, 1024, 64};
constexpr int max_grid_size[3] = {2147483647, 65535, 65535};

constexpr int max_threads_per_sm = 2048;
constexpr int max_blocks_per_sm = 32;
constexpr int registers_per_block = 65536;
constexpr int registers_per_sm = 65536;

constexpr std::size_t shared_per_block = 48 * 1024;          ///< bytes, without asking
constexpr std::size_t shared_per_block_opt_in = 163 * 1024;  ///< bytes, after cudaFuncSetAttribute
constexpr std::size_t shared_per_sm = 164 * 1024;            ///< bytes
constexpr std::size_t shared_reserved_per_block = 1024;      ///< bytes that the system takes
constexpr std::size_t constant_memory = 64 * 1024;           ///< bytes

constexpr std::size_t max_pitch = 2147483647;  ///< bytes
constexpr std::size_t pitch_alignment = 512;   ///< bytes, of the rows of cudaMallocPitch

constexpr int least_stream_priority = 0;
constexpr int greatest_stream_priority = -5;

/// False where CUDA_VISIBLE_DEVICES hides the device: empty, or not beginning with number 0.
bool device_visible();

}  // namespace emu
