//! [question]
// complete_task: what does somebody wait for who wants both the histogram and the sum?
//
// The kernels of chapter 07 are a part of it. The whole task uploads the picture, clears the bins,
// counts, sums, downloads both results, and adds up the blocks' sums on the host. It is timed as a
// whole, by the host's clock, with every sample verified. Then the task is made faster, one change
// at a time, up to what the upload alone takes.
//
// Build and run, from the folder that holds common/ and chapters/:
//
//     f=chapters/09_complete_task/complete_task.cu
//     nvcc -O2 -std=c++17 -arch=native -I common $f -o complete_task
//     ./complete_task
//     ./complete_task --size 16384x4096 --chunks 8
//
// Schemes:
//     global      chapter 07's global atomics, pageable host memory
//     block       the same with the histogram counted block by block
//     pinned      as block, from page-locked host memory
//     fused       as pinned, with one kernel: the sum follows from the histogram
//     overlapped  as fused, in chunks: one is uploaded while the one before is counted
//     wide        as overlapped, with a kernel that loads 16 pixels at once
//     upload      no computing: the picture from page-locked memory to the device, the bound
//
// The order of the file is the order of the work: reference, the one new kernel, the task, check,
// measure, report, main.
//! [question]

//! [includes]
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "../07_histogram_reduction/histogram_kernels.cuh"
#include "buffer.hpp"
#include "check.hpp"
#include "device.hpp"
#include "image.hpp"
#include "options.hpp"
#include "random.hpp"
#include "record.hpp"
#include "stream.hpp"
#include "timing.hpp"
#include "verify.hpp"

namespace {
//! [includes]

//! [input]
/// Pixels with what the report calls them. Their arrangement in rows plays no part.
struct Input {
    std::string name;
    std::vector<unsigned char> pixels;
};

/// What the task must deliver, from the references of chapter 07.
struct Expected {
    std::vector<unsigned> counts;
    std::uint64_t sum;

    explicit Expected(const Input& input)
        : counts(histogram::histogram_reference(input.pixels)),
          sum(histogram::sum_reference(input.pixels)) {}
};
//! [input]

//! [wide]
constexpr int warp_size = 32;
constexpr int warps = histogram::threads / warp_size;

/// Counts the four pixels of a word.
__device__ void count_word(unsigned* bins, unsigned word) {
    for (int shift = 0; shift < 32; shift += 8)
        atomicAdd(&bins[word >> shift & 255u], 1u);
}

/// Few blocks that stride over the picture, 16 pixels a load, and bins for each warp, so that
/// threads meet less often; what is merged into global memory is a picture's worth a block, not 256
/// pixels' worth. `pixels` begins at a multiple of 16 bytes; up to 15 pixels behind the last whole
/// 16 are counted one by one.
__global__ void histogram_wide(const unsigned char* pixels, unsigned* counts, std::size_t n) {
    __shared__ unsigned local[warps][histogram::bins];
    for (int warp = 0; warp < warps; ++warp)
        local[warp][threadIdx.x] = 0;
    __syncthreads();

    unsigned* const mine = local[threadIdx.x / warp_size];
    const uint4* const vectors = reinterpret_cast<const uint4*>(pixels);
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = first; i < n / 16; i += stride) {
        const uint4 sixteen = vectors[i];
        count_word(mine, sixteen.x);
        count_word(mine, sixteen.y);
        count_word(mine, sixteen.z);
        count_word(mine, sixteen.w);
    }
    const std::size_t behind = n / 16 * 16 + first;
    if (behind < n) atomicAdd(&mine[pixels[behind]], 1u);
    __syncthreads();

    unsigned found = 0;
    for (int warp = 0; warp < warps; ++warp)
        found += local[warp][threadIdx.x];
    if (found > 0) atomicAdd(&counts[threadIdx.x], found);
}
//! [wide]

//! [launchers]
/// Adds the counts of n pixels to `counts`.
using Counter = std::function<void(const unsigned char* pixels, unsigned* counts, std::size_t n,
                                   cudaStream_t stream)>;

Counter counter(histogram::HistogramKernel kernel) {
    return [kernel](const unsigned char* pixels, unsigned* counts, std::size_t n,
                    cudaStream_t stream) {
        histogram::launch_histogram(kernel, pixels, counts, n, stream);
    };
}

/// Two blocks for each multiprocessor are more than an upload can feed; for few pixels, a block for
/// each 4096.
Counter wide_counter(const mf::DeviceInfo& device) {
    const auto most = static_cast<std::size_t>(2 * device.multiprocessors);
    return
        [most](const unsigned char* pixels, unsigned* counts, std::size_t n, cudaStream_t stream) {
            if (n == 0) return;
            constexpr std::size_t pixels_a_block = 16 * histogram::threads;
            const std::size_t blocks = std::min((n + pixels_a_block - 1) / pixels_a_block, most);
            histogram_wide<<<static_cast<unsigned>(blocks), histogram::threads, 0, stream>>>(
                pixels, counts, n);
            CUDA_CHECK_LAUNCH();
        };
}
//! [launchers]

//! [schemes]
/// One way to do the task.
struct Scheme {
    std::string name;
    std::string boundary;
    Counter count;
    bool pinned;   ///< page-locked host memory, for the picture and for the results
    bool reduces;  ///< sums by reduce_blocks; else the sum comes from the bins
    int chunks;    ///< more than one: over two streams
};

/// The two schemes that differ in the histogram's kernel only.
std::vector<Scheme> plain_schemes() {
    const std::string inside =
        "clear the bins, upload, histogram, reduction, two downloads, wait, sum of the partial "
        "sums on the host; pageable host memory";
    return {{"global", inside, counter(histogram::histogram_global), false, true, 1},
            {"block", inside, counter(histogram::histogram_block), false, true, 1}};
}

/// From `block` on, each with one change against the one before it.
std::vector<Scheme> ladder(const mf::DeviceInfo& device, int chunks) {
    const Counter block = counter(histogram::histogram_block);
    const std::string one_kernel =
        "clear the bins, upload, histogram, download, wait, sum from the bins on the host; pinned "
        "host memory";
    const std::string chunked = one_kernel + "; " + std::to_string(chunks) + " chunks, 2 streams";
    return {plain_schemes()[1],
            {"pinned",
             "clear the bins, upload, histogram, reduction, two downloads, wait, sum of the "
             "partial sums on the host; pinned host memory",
             block, true, true, 1},
            {"fused", one_kernel, block, true, false, 1},
            {"overlapped", chunked, block, true, false, chunks},
            {"wide", chunked, wide_counter(device), true, false, chunks}};
}
//! [schemes]

//! [host memory]
/// Host memory of either kind.
template <typename T>
class HostBuffer {
public:
    HostBuffer(std::size_t size, bool pinned)
        : pageable_(pinned ? 0 : size), pinned_(pinned ? size : 0) {}

    T* get() { return pinned_.size() > 0 ? pinned_.get() : pageable_.data(); }
    std::size_t size() const { return pageable_.size() + pinned_.size(); }
    std::size_t bytes() const { return size() * sizeof(T); }
    std::vector<T> values() { return {get(), get() + size()}; }

private:
    std::vector<T> pageable_;
    mf::PinnedBuffer<T> pinned_;
};
//! [host memory]

//! [task]
/// The task on one input by one scheme. All memory, streams and events are made here, once: they
/// are no part of a run.
class Task {
public:
    Task(const Scheme& scheme, const Input& input, const Expected& expected)
        : scheme_(scheme),
          expected_(expected),
          n_(input.pixels.size()),
          host_pixels_(n_, scheme.pinned),
          host_counts_(histogram::bins, scheme.pinned),
          host_partial_(scheme.reduces ? histogram::blocks_for(n_) : 0, scheme.pinned),
          pixels_(n_),
          counts_(histogram::bins),
          partial_(host_partial_.size()) {
        std::copy(input.pixels.begin(), input.pixels.end(), host_pixels_.get());
        poison();
    }

    /// The whole task, from the picture in host memory to both results in host memory.
    void run() {
        histogram::clear(counts_.get(), streams_[0]);
        if (scheme_.chunks > 1) let_wait(streams_[1], cleared_, streams_[0]);
        const std::size_t chunk = chunk_size();
        for (std::size_t begin = 0, i = 0; begin < n_; begin += chunk, ++i) {
            enqueue(begin, std::min(chunk, n_ - begin), streams_[i % streams_.size()]);
        }
        if (scheme_.chunks > 1) let_wait(streams_[0], counted_, streams_[1]);
        download();
        streams_[0].synchronize();
        sum_ = scheme_.reduces ? histogram::merge(host_partial_.values()) : sum_from_bins();
    }
    //! [task]

    //! [task verify]
    /// The last run's results against the reference, bin by bin.
    mf::CheckResult check() {
        mf::CheckResult result =
            mf::check_equal(scheme_.name, expected_.counts, host_counts_.values(),
                            [](std::size_t bin) { return "bin " + std::to_string(bin); });
        if (result.passed && sum_ != expected_.sum) {
            result.passed = false;
            result.message = "sum of the pixels: expected " + std::to_string(expected_.sum) +
                             ", found " + std::to_string(sum_);
        }
        return result;
    }

    /// Between two samples: verifies the last run, if there was one, and leaves nothing of it that
    /// could pass for the result of the next.
    void verify_and_forget() {
        if (sum_ != no_sum) {
            mf::require(check());
            ++verified_;
        }
        poison();
    }

    int verified() const { return verified_; }
    const Scheme& scheme() const { return scheme_; }
    //! [task verify]

    //! [task parts]
private:
    static constexpr std::uint64_t no_sum = ~std::uint64_t{0};

    void poison() {
        std::fill_n(host_counts_.get(), host_counts_.size(), 0xA5A5A5A5u);
        std::fill_n(host_partial_.get(), host_partial_.size(), 0xA5A5A5A5u);
        sum_ = no_sum;
        pixels_.poison();
        counts_.poison();
        partial_.poison();
    }

    /// A multiple of a block's pixels, so that every chunk's partial sums have their own place and
    /// every chunk begins at a multiple of 16 bytes.
    std::size_t chunk_size() const {
        const auto chunks = static_cast<std::size_t>(scheme_.chunks);
        const std::size_t least = (n_ + chunks - 1) / chunks;
        return histogram::blocks_for(least) * histogram::threads;
    }

    /// Uploads `size` pixels from `begin` on, and counts and sums them.
    void enqueue(std::size_t begin, std::size_t size, cudaStream_t stream) {
        unsigned char* const pixels = pixels_.get() + begin;
        CUDA_CHECK(cudaMemcpyAsync(pixels, host_pixels_.get() + begin, size, cudaMemcpyHostToDevice,
                                   stream));
        scheme_.count(pixels, counts_.get(), size, stream);
        if (!scheme_.reduces) return;
        unsigned* const partial = partial_.get() + begin / histogram::threads;
        histogram::launch_reduce_blocks(pixels, partial, size, stream);
    }

    void download() {
        CUDA_CHECK(cudaMemcpyAsync(host_counts_.get(), counts_.get(), counts_.bytes(),
                                   cudaMemcpyDeviceToHost, streams_[0]));
        if (partial_.size() == 0) return;
        CUDA_CHECK(cudaMemcpyAsync(host_partial_.get(), partial_.get(), partial_.bytes(),
                                   cudaMemcpyDeviceToHost, streams_[0]));
    }

    /// What `later` is given from now on waits for what `earlier` was given until now.
    static void let_wait(cudaStream_t later, const mf::Event& event, cudaStream_t earlier) {
        event.record(earlier);
        CUDA_CHECK(cudaStreamWaitEvent(later, event, 0));
    }

    /// A pixel of value v adds v to the sum: the histogram holds all that the sum needs.
    std::uint64_t sum_from_bins() {
        std::uint64_t sum = 0;
        for (std::size_t bin = 0; bin < host_counts_.size(); ++bin)
            sum += bin * host_counts_.get()[bin];
        return sum;
    }

    Scheme scheme_;
    const Expected& expected_;
    std::size_t n_;
    HostBuffer<unsigned char> host_pixels_;
    HostBuffer<unsigned> host_counts_;
    HostBuffer<unsigned> host_partial_;
    std::uint64_t sum_ = no_sum;
    int verified_ = 0;
    mf::DeviceBuffer<unsigned char> pixels_;
    mf::DeviceBuffer<unsigned> counts_;
    mf::DeviceBuffer<unsigned> partial_;
    std::vector<mf::Stream> streams_{scheme_.chunks > 1 ? 2u : 1u};
    const mf::Event cleared_{cudaEventDisableTiming};
    const mf::Event counted_{cudaEventDisableTiming};
};
//! [task parts]

//! [upload]
/// What no scheme can undercut while the picture starts in host memory: its upload, and the wait.
class Upload {
public:
    explicit Upload(const Input& input)
        : expected_(input.pixels), host_(input.pixels.size()), device_(input.pixels.size()) {
        std::copy(input.pixels.begin(), input.pixels.end(), host_.begin());
        device_.poison();
    }

    void run() {
        CUDA_CHECK(cudaMemcpyAsync(device_.get(), host_.get(), host_.bytes(),
                                   cudaMemcpyHostToDevice, stream_));
        stream_.synchronize();
    }

    mf::CheckResult check() const {
        return mf::check_equal("upload", expected_, device_.download());
    }

private:
    const std::vector<unsigned char>& expected_;
    mf::PinnedBuffer<unsigned char> host_;
    mf::DeviceBuffer<unsigned char> device_;
    mf::Stream stream_;
};
//! [upload]

//! [check]
/// Runs every scheme once on the input.
std::vector<mf::CheckResult> check_schemes(const std::vector<Scheme>& schemes, const Input& input) {
    const Expected expected(input);
    std::vector<mf::CheckResult> checks;
    for (const Scheme& scheme : schemes) {
        Task task(scheme, input, expected);
        task.run();
        mf::CheckResult result = task.check();
        if (!result.passed) result.message = input.name + ": " + result.message;
        checks.push_back(result);
    }
    if (!input.pixels.empty()) {
        Upload upload(input);
        upload.run();
        checks.push_back(upload.check());
    }
    return checks;
}

/// Prints one line; throws for the first wrong result.
void report_checks(std::ostream& out, const Input& input,
                   const std::vector<mf::CheckResult>& checks) {
    out << input.name << ": " << mf::checks_line(checks) << "\n";
    for (const mf::CheckResult& check : checks)
        mf::require(check);
}
//! [check]

//! [measure]
/// Times whole tasks by the host's clock. Before each sample, outside the interval, the results of
/// the sample before are verified and forgotten.
std::vector<mf::Series> measure_tasks(const mf::MeasurePlan& plan,
                                      const std::vector<std::unique_ptr<Task>>& tasks,
                                      std::vector<mf::HostVariant> more, mf::Record& record) {
    std::vector<mf::HostVariant> variants;
    for (const auto& task : tasks) {
        variants.push_back({task->scheme().name, task->scheme().boundary, [&task] { task->run(); },
                            [&task] { task->verify_and_forget(); }});
    }
    variants.insert(variants.end(), more.begin(), more.end());
    auto series = mf::measure_host_variants(plan, variants);
    for (const auto& task : tasks) {
        const mf::CheckResult last = task->check();
        record.add_check(last, "after timing");
        mf::require(last);
        task->verify_and_forget();
    }
    return series;
}

std::vector<std::unique_ptr<Task>> tasks_of(const std::vector<Scheme>& schemes, const Input& input,
                                            const Expected& expected) {
    std::vector<std::unique_ptr<Task>> tasks;
    for (const Scheme& scheme : schemes)
        tasks.push_back(std::make_unique<Task>(scheme, input, expected));
    return tasks;
}
//! [measure]

//! [report compare]
/// The variant against the baseline, in words and in the record.
void report_verdict(std::ostream& out, const std::string& label, const mf::Series& baseline,
                    const mf::Series& variant, const mf::CommonOptions& options,
                    mf::Record& record) {
    const auto comparison = mf::compare(baseline, variant, options.plan.order, options.seed);
    mf::print_comparison(out, comparison);
    record.add_comparison(label, comparison);
}
//! [report compare]

//! [five samples]
/// Global against block: at least two tasks of each to warm up, then five samples of one task each,
/// every one of them verified. All five are printed, and their median.
void measure_five(std::ostream& out, const Input& input, const mf::CommonOptions& options,
                  mf::Record& record) {
    mf::MeasurePlan plan = options.plan;
    plan.repeats = 5;
    plan.inner = 1;
    const Expected expected(input);
    const auto tasks = tasks_of(plain_schemes(), input, expected);
    const auto series = measure_tasks(plan, tasks, {}, record);

    const std::string label = "complete ms, " + input.name;
    out << "\nComplete task on " << input.name << "\n";
    for (const mf::Series& one : series) {
        out << "  complete " << one.name << " ms:";
        for (const double ms : one.ms)
            out << " " << mf::fixed(ms, 3);
        out << " | median=" << mf::fixed(mf::median(one.ms), 3) << "\n";
    }
    mf::print_series_notes(out, series);
    record.add_series(label, series);
    report_verdict(out, label, series[0], series[1], options, record);
}
//! [five samples]

//! [ladder]
/// The schemes from `block` to `wide`, and the upload alone, by turns.
std::vector<mf::Series> measure_ladder(const std::vector<Scheme>& schemes, const Input& input,
                                       const mf::MeasurePlan& plan, mf::Record& record) {
    const Expected expected(input);
    const auto tasks = tasks_of(schemes, input, expected);
    Upload upload(input);
    auto series = measure_tasks(
        plan, tasks, {{"upload", "upload, wait; pinned host memory", [&upload] { upload.run(); }}},
        record);
    const mf::CheckResult uploaded = upload.check();
    record.add_check(uploaded, "after timing");
    mf::require(uploaded);

    mf::Json verified = mf::Json::object();
    for (const auto& task : tasks)
        verified.set(task->scheme().name, task->verified());
    record.add_extra("verified results, " + input.name, verified);
    return series;
}

/// The table, each scheme against the one before it, and what is left above the bound.
void report_ladder(std::ostream& out, const Input& input, const std::vector<mf::Series>& series,
                   const mf::CommonOptions& options, mf::Record& record) {
    const std::string label = "task ms, " + input.name;
    out << "\nLadder on " << input.name << "\n";
    mf::print_series(out, "task ms", series);
    record.add_series(label, series);
    const std::size_t last = series.size() - 2;
    const mf::Series& bound = series.back();
    for (std::size_t i = 1; i <= last; ++i)
        report_verdict(out, label, series[i - 1], series[i], options, record);
    report_verdict(out, label, bound, series[last], options, record);

    if (!mf::reason_for_no_rates().empty()) return;
    const double bound_ms = mf::median(bound.ms);
    out << "Times the upload alone:";
    for (std::size_t i = 0; i <= last; ++i) {
        out << (i == 0 ? " " : ", ") << series[i].name << " "
            << mf::readable(mf::median(series[i].ms) / bound_ms);
    }
    out << ". The upload alone moves "
        << mf::readable(mf::gb_per_s(static_cast<double>(input.pixels.size()), bound_ms))
        << " GB/s.\n";
}
//! [ladder]

//! [sweep]
std::string size_text(const mf::ImageSize& size) {
    return std::to_string(size.width) + "x" + std::to_string(size.height);
}

Input mixed_pixels(const mf::ImageSize& size, std::uint64_t seed) {
    const std::size_t n =
        static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
    return {size_text(size) + " mixed pixels", mf::random_bytes(n, seed)};
}

/// The ladder's sizes, while they last.
const std::vector<mf::ImageSize> ladder_sizes = {
    {256, 256}, {1003, 769}, {4096, 2048}, {16384, 4096}};

/// The ladder ends with the first size at which a task takes longer than this: what is larger would
/// show the same shares.
constexpr double longest_task_ms = 5;
//! [sweep]

//! [options]
struct Options {
    mf::CommonOptions common;
    mf::ImageSize size;
    std::string input;
    int chunks = 4;

    bool one_input() const { return !input.empty() || size.width > 0; }
};

/// False if only --help was asked for.
bool parse(int argc, char** argv, Options& options) {
    mf::OptionParser parser("complete_task", "histogram and sum of a picture, from host to host");
    parser.add_common(options.common);
    parser.add_size("--size", "measure on mixed pixels of this size only", options.size);
    parser.add_text("--input", "IMAGE", "measure on this picture only (PGM, PNG, JPEG)",
                    options.input);
    parser.add_number("--chunks", "N", "chunks of the overlapped schemes", options.chunks, 2, 1024);
    if (!parser.parse(argc, argv)) return false;
    if (!options.input.empty() && options.size.width > 0) {
        throw mf::UsageError("--size and --input exclude each other");
    }
    return true;
}

/// The input that was asked for.
Input only_input(const Options& options) {
    Input input;
    if (options.input.empty()) {
        input = mixed_pixels(options.size, options.common.seed);
    } else {
        mf::GrayImage picture = mf::load_image(options.input);
        input = {size_text({picture.width, picture.height}) + " " + options.input,
                 std::move(picture.pixels)};
    }
    if (input.pixels.size() > histogram::most_pixels) {
        throw mf::UsageError(input.name + ": more than 4294967295 pixels, a bin could overflow");
    }
    return input;
}
//! [options]

//! [main]
/// Sizes around the borders of a block, of 16 pixels and of a chunk.
void check_small_sizes(const std::vector<Scheme>& schemes, std::uint64_t seed) {
    for (const std::size_t n : {0, 1, 15, 16, 17, 255, 256, 257, 1023, 1024, 1025, 2049}) {
        const Input small{std::to_string(n) + " mixed pixels", mf::random_bytes(n, seed)};
        for (const auto& check : check_schemes(schemes, small))
            mf::require(check);
    }
}

int run(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) return mf::exit_ok;
    const mf::CommonOptions& common = options.common;
    std::vector<Input> inputs;
    if (options.one_input()) {
        inputs.push_back(only_input(options));
    } else {
        inputs.push_back({"262145 identical pixels", std::vector<unsigned char>(262145, 137)});
        inputs.push_back(mixed_pixels({1003, 769}, common.seed));
    }
    mf::refuse_one_file(common.json, options.input, "--input");
    const mf::RecordFile record_file(common.json);

    const mf::DeviceInfo device = mf::pick_device(common.device);
    std::ostream& out = mf::report_stream(common);
    mf::print_conditions(out, device);
    mf::Record record("complete_task", argc, argv, device, common);
    const std::vector<Scheme> steps = ladder(device, options.chunks);
    std::vector<Scheme> all = plain_schemes();
    all.insert(all.end(), steps.begin() + 1, steps.end());

    check_small_sizes(all, common.seed);
    mf::Json measured = mf::Json::array();
    for (const Input& input : inputs) {
        const auto checks = check_schemes(all, input);
        record.add_checks(checks, "before timing");
        report_checks(out, input, checks);
        measured.push("complete task: " + input.name);
    }
    for (const Input& input : inputs)
        measure_five(out, input, common, record);

    const std::size_t sizes = options.one_input() ? 1 : ladder_sizes.size();
    for (std::size_t i = 0; i < sizes; ++i) {
        const Input input =
            options.one_input() ? inputs[0] : mixed_pixels(ladder_sizes[i], common.seed);
        for (const auto& check : check_schemes(all, input))
            mf::require(check);
        const auto series = measure_ladder(steps, input, common.plan, record);
        report_ladder(out, input, series, common, record);
        measured.push("ladder: " + input.name);
        if (i + 1 < sizes && mf::median(series[0].ms) > longest_task_ms) {
            out << "The ladder ends here: a task takes longer than "
                << mf::readable(longest_task_ms) << " ms.\n";
            break;
        }
    }

    record.set_input("grey pictures in host memory",
                     {{"measured", measured}, {"chunks", options.chunks}});
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
