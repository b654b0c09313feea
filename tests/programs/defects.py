#!/usr/bin/env python3
"""Compiles a chapter program with one mistake in it:

    defects.py NAME CHAPTERS FOLDER -- COMPILER OPTION…

copies the chapter's sources from CHAPTERS into FOLDER, puts the mistake in, and runs the compiler
on the copy. Without arguments: prints the names.

The tests run these programs to see that each mistake ends in status 1 and that no rate is printed.
A mistake replaces text that must occur exactly once, so that a program that has moved on makes the
build fail instead of testing nothing.
"""

import shutil
import subprocess
import sys
from pathlib import Path

EVENTS = "01_event_timing/event_timing.cu"
SAXPY = "02_saxpy_bandwidth/saxpy_bandwidth.cu"
SAXPY_KERNEL = "02_saxpy_bandwidth/saxpy_kernel.cuh"
COPY = "03_copy_cost/copy_cost.cu"
STREAMS = "04_streams/streams.cu"
BLUR = "06_box_blur/blur_kernels.cuh"
HISTOGRAM = "07_histogram_reduction/histogram_kernels.cuh"
REDUCTION = "08_reduction_timing/reduction_kernels.cuh"
BLOCK_CLOCK = "10_block_clock/timed_reduction.cuh"
OCCUPANCY = "11_occupancy/occupancy.cu"
VECTOR_ADD = "05_vector_add/vector_add.cu"
COMPLETE = "09_complete_task/complete_task.cu"
ROOFLINE = "12_roofline/roofline.cu"
PROFILING = "13_profiling/profiling.cu"

# name: (file, text, text instead)
DEFECTS = {
    "event_timing_spins_half": (
        EVENTS,
        "    while (spent < length)\n",
        "    while (spent < length / 2)\n",
    ),
    "event_timing_wrong_stream": (
        EVENTS,
        "    CUDA_CHECK(cudaEventRecord(stop, stream));\n",
        "    CUDA_CHECK(cudaEventRecord(stop, nullptr));\n",
    ),
    "event_timing_status_unasked": (
        EVENTS,
        "        return cudaGetLastError();\n",
        "        return cudaSuccess;\n",
    ),
    "saxpy_block_too_large": (
        SAXPY_KERNEL,
        "constexpr int threads_per_block = 256;",
        "constexpr int threads_per_block = 2048;",
    ),
    "saxpy_drops_tail": (
        SAXPY,
        "    const std::int64_t rest = n - 4 * vectors;\n",
        "    const std::int64_t rest = head;\n",
    ),
    "saxpy_not_a_number": (
        SAXPY_KERNEL,
        "    if (i < n) y[i] = a * x[i] + y[i];\n",
        '    if (i < n) y[i] = a * x[i] + y[i] + nanf("");\n',
    ),
    "saxpy_writes_beyond": (
        SAXPY,
        "i = first; i < n; i += threads",
        "i = first; i <= n; i += threads",
    ),
    "saxpy_wrong_stream": (
        SAXPY,
        "saxpy_scalar<<<blocks_for(n), threads_per_block, 0, stream>>>",
        "saxpy_scalar<<<blocks_for(n), threads_per_block>>>",
    ),
    "saxpy_stops_working_when_timed": (
        SAXPY,
        "        version->launch(n, launches % 2",
        "        version->launch(launches < 3 ? n : n / 2, launches % 2",
    ),
    "copy_cost_drops_tail": (
        COPY,
        "(n + threads_per_block - 1) / threads_per_block",
        "std::max<std::int64_t>(n / threads_per_block, 1)",
    ),
    "copy_cost_host_drops_last": (COPY, "return share(0, n);", "return share(0, n - 1);"),
    "copy_cost_stops_working_when_timed": (
        COPY,
        "work_.launch(resident_.get(), n(), stream);",
        "work_.launch(resident_.get(), done_.gpu_resident < 3 ? n() : n() / 2, stream);",
    ),
    "copy_cost_without_wait": (
        COPY,
        "        CUDA_CHECK(cudaStreamSynchronize(stream_));\n        ++done;\n",
        "        ++done;\n",
    ),
    "streams_drops_tail": (STREAMS, "begin < n; begin += size", "begin + size <= n; begin += size"),
    "streams_wrong_offset": (
        STREAMS,
        "cudaMemcpyAsync(host.c + chunk.begin, arrays.c.get() + chunk.begin, bytes,",
        "cudaMemcpyAsync(host.c + chunk.begin, arrays.c.get(), bytes,",
    ),
    "streams_without_dependency": (
        STREAMS,
        "    CUDA_CHECK(cudaStreamWaitEvent(consumer, produced, 0));\n",
        "",
    ),
    "streams_without_join": (
        STREAMS,
        "            CUDA_CHECK(cudaStreamWaitEvent(main, finished_[i], 0));\n",
        "",
    ),
    "blur_without_barrier": (BLUR, "    __syncthreads();\n", ""),
    "blur_wrong_divisor": (BLUR, "inside(x, width) * inside(y, height)", "9"),
    "blur_tile_too_narrow": (
        BLUR,
        "const bool in_picture = nx >= 0 && nx < width &&",
        "const bool in_picture = nx >= 0 && nx < width - 1 &&",
    ),
    "blur_drops_last_row": (
        BLUR,
        "(height + block_side - 1) / block_side);",
        "(height < block_side ? 1 : height / block_side));",
    ),
    "histogram_merges_half": (HISTOGRAM, "if (found > 0)", "if (found > 0 && threadIdx.x < 128)"),
    "histogram_without_first_barrier": (
        HISTOGRAM,
        "    __syncthreads();  // nobody counts before all bins are clear\n",
        "",
    ),
    "histogram_loses_additions": (
        HISTOGRAM,
        "if (i < n) atomicAdd(&counts[pixels[i]], 1u);",
        "if (i < n) counts[pixels[i]] += i % 1000 != 999;",
    ),
    "sum_of_whole_blocks": (
        HISTOGRAM,
        "return (n + threads - 1) / threads;",
        "return n > 0 && n < threads ? 1 : n / threads;",
    ),
    "sum_in_bytes": (
        HISTOGRAM,
        "__shared__ unsigned sums[threads];",
        "__shared__ unsigned char sums[threads];",
    ),
    "sum_without_barrier": (
        HISTOGRAM,
        "        __syncthreads();  // outside the branch: all threads wait, not only those that added\n",
        "",
    ),
    "vector_add_unaligned_start": (
        VECTOR_ADD,
        "std::min(elements_to_boundary(y), n);",
        "std::min<std::size_t>(0, n);",
    ),
    "vector_add_drops_tail": (VECTOR_ADD, "if (i < n - 4 * vectors) {", "if (i < head) {"),
    "vector_add_branch_left_out": (VECTOR_ADD, "        if (i < n) y[i] = a", "        y[i] = a"),
    "vector_add_stops_working_when_timed": (
        VECTOR_ADD,
        "                                version.launch(n, a, b, y, s);\n",
        "                                version.launch(n / 2, a, b, y, s);\n",
    ),
    "reduction_loses_the_second_pixel": (
        REDUCTION,
        "    return first + second;\n",
        "    return first + 0 * second;\n",
    ),
    "reduction_swaps_blocks": (
        REDUCTION,
        "    if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];\n",
        "    if (threadIdx.x == 0) partial[gridDim.x - 1 - blockIdx.x] = sums[0];\n",
    ),
    "reduction_writes_beyond": (
        REDUCTION,
        "partial[blockIdx.x] = of_block;",
        "partial[blockIdx.x] = of_block, partial[gridDim.x] = 0;",
    ),
    "reduction_without_barrier": (
        REDUCTION,
        "    if (lane == 0) warp_sums[warp] = of_warp;\n    __syncthreads();\n",
        "    if (lane == 0) warp_sums[warp] = of_warp;\n",
    ),
    "reduction_stops_working_when_timed": (
        "08_reduction_timing/reduction_timing.cu",
        "version.launch(pixels.get(), to, input.size(), s);",
        "version.launch(pixels.get(), to, (input.size() + 1) / 2, s);",
    ),
    "complete_without_clearing": (
        COMPLETE,
        "        histogram::clear(counts_.get(), streams_[0]);\n",
        "",
    ),
    "complete_drops_tail_chunk": (
        COMPLETE,
        "enqueue(begin, std::min(chunk, n_ - begin),",
        "enqueue(begin, n_ - begin < chunk ? 0 : chunk,",
    ),
    "complete_wide_drops_rest": (COMPLETE, "    if (behind < n) ", "    if (behind + 1 < n) "),
    "complete_wrong_sum": (COMPLETE, "sum += bin * ", "sum += (bin & 127) * "),
    "complete_without_waiting_for_the_clear": (
        COMPLETE,
        "        if (scheme_.chunks > 1) let_wait(streams_[1], cleared_, streams_[0]);\n",
        "",
    ),
    "complete_without_waiting_for_the_other_stream": (
        COMPLETE,
        "        if (scheme_.chunks > 1) let_wait(streams_[0], counted_, streams_[1]);\n",
        "",
    ),
    "complete_without_waiting_for_the_device": (COMPLETE, "        streams_[0].synchronize();\n", ""),
    "complete_stops_working_when_timed": (
        COMPLETE,
        "        scheme_.count(pixels, counts_.get(), size, stream);\n",
        "        if (verified_ < 4) scheme_.count(pixels, counts_.get(), size, stream);\n",
    ),
    "block_clock_drops_the_odd_one": (
        BLOCK_CLOCK,
        "const unsigned half = (left + 1) / 2;",
        "const unsigned half = left / 2;",
    ),
    "block_clock_reads_one_segment": (
        BLOCK_CLOCK,
        "input + static_cast<unsigned long long>(blockIdx.x) * segment_step;",
        "input;",
    ),
    "block_clock_never_ends": (
        BLOCK_CLOCK,
        "    if (thread == 0) times[blockIdx.x].end = clock64();\n",
        "",
    ),
    "block_clock_without_barrier": (
        BLOCK_CLOCK,
        "        __syncthreads();\n        if (thread + half",
        "        if (thread + half",
    ),
    "block_clock_stops_working_when_timed": (
        "10_block_clock/block_clock.cu",
        "                                block_clock::launch(one.configuration, input, one.output.get(),\n",
        "                                Configuration half = one.configuration;\n"
        "                                half.blocks = (half.blocks + 1) / 2;\n"
        "                                block_clock::launch(half, input, one.output.get(),\n",
    ),
    "occupancy_drops_the_rest": (
        OCCUPANCY,
        "return (task.threads + threads - 1) / threads;",
        "return task.threads / threads;",
    ),
    "occupancy_drops_the_tail": (
        OCCUPANCY,
        "        for (; done < task.work; ++done, next",
        "        for (; done + at_once < task.work; ++done, next",
    ),
    "occupancy_counts_one_chain": (OCCUPANCY, "sum += chain;", "sum = chain;"),
    "occupancy_stops_working_when_timed": (
        OCCUPANCY,
        "            data.input_of(c.which()), output.get(), data.task, times.get());\n",
        "            data.input_of(c.which()), output.get(),\n"
        "            [&] {\n"
        "                static int launches = 0;\n"
        "                Task task = data.task;\n"
        "                if (++launches > 100) task.work /= 2;\n"
        "                return task;\n"
        "            }(),\n"
        "            times.get());\n",
    ),
    "roofline_drops_the_rest": (
        ROOFLINE,
        "(all_threads + threads - 1) / threads",
        "std::max<std::size_t>(all_threads / threads, 1)",
    ),
    "roofline_skips_a_step": (ROOFLINE, "step < steps; ++step", "step + 1 < steps; ++step"),
    "roofline_skips_a_chain": (
        ROOFLINE,
        "k < chains; ++k)\n        sum += values[k];",
        "k + 1 < chains; ++k)\n        sum += values[k];",
    ),
    "roofline_stays_in_its_column": (ROOFLINE, "(threadIdx.x + round) % threads", "threadIdx.x"),
    "roofline_saxpy_stops_when_timed": (
        ROOFLINE,
        "state->launches++ % 2 == 0 ? 2 : -2;",
        "state->launches > 4 ? (++state->launches, 0) : state->launches++ % 2 == 0 ? 2 : -2;",
    ),
    "roofline_histogram_counts_half_when_timed": (
        ROOFLINE,
        "state->counts.get(), data.pixels(), s);",
        "state->counts.get(), data.pixels() / (state->launches > 3 ? 2 : 1), s);",
    ),
    "profiling_uploads_the_input_again": (
        PROFILING,
        "                from = output_.data();\n",
        "",
    ),
    "profiling_drops_the_last_tiles": (
        PROFILING,
        "(shape.height + tile_side - 1) / tile_side);",
        "std::max((shape.height + tile_side - 2) / tile_side, 1));",
    ),
    "profiling_without_barrier": (
        PROFILING,
        "    __syncthreads();  // a column holds what all warps of the block loaded\n",
        "",
    ),
    "profiling_stops_working_when_timed": (
        PROFILING,
        "                                launch(transposer, in.get(), out, shape, s);\n",
        "                                launch(transposer, in.get(), out, {n, n / 2}, s);\n",
    ),
}  # fmt: skip


def write_sources(name: str, chapters: Path, folder: Path) -> Path:
    """Copies the chapters with the mistake in one of them; returns its program's main source.

    All chapters, since a later one includes an earlier one's header.
    """
    file, text, instead = DEFECTS[name]
    for source in (*chapters.glob("*/*.cu"), *chapters.glob("*/*.cuh")):
        copy = folder / source.relative_to(chapters)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    damaged = folder / file
    content = damaged.read_text()
    if content.count(text) != 1:
        raise SystemExit(
            f"defect {name}: its text occurs {content.count(text)} times in {file}, "
            f"not once: {text!r}"
        )
    damaged.write_text(content.replace(text, instead))
    # The chapter's main program, unless the mistake is in another one.
    main = damaged.parent / (damaged.parent.name.partition("_")[2] + ".cu")
    return damaged if damaged.suffix == ".cu" else main


def main(arguments: list[str]) -> int:
    if not arguments:
        print("\n".join(DEFECTS))
        return 0
    name, chapters, folder, _, *compiler = arguments
    source = write_sources(name, Path(chapters), Path(folder))
    return subprocess.run([*compiler, source]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
