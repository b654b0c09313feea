//! [question]
// reduction_timing: how much of a short kernel's time is its work?
//
// The kernel that sums pixels, one partial sum a block, is timed alone over sizes from one pixel to
// hundreds of millions. For few pixels the time hardly depends on their number: it is that of
// launching. To tell the two apart, a kernel that does nothing is launched in the same grids and
// sampled by turns with the ones that work.
//
// Build and run, from the folder that holds common/ and chapters/:
//
//     f=chapters/08_reduction_timing/reduction_timing.cu
//     nvcc -O2 -std=c++17 -arch=native -I common $f -o reduction_timing
//     ./reduction_timing
//     ./reduction_timing --n 771307
//
// Versions (the first in chapter 07's histogram_kernels.cuh, the others in reduction_kernels.cuh):
//     sequential  a tree in shared memory, neighbouring threads on neighbouring sums
//     first_add   each thread adds two pixels while loading: half as many blocks
//     shuffle     within a warp, sums pass from register to register
//     empty_256   no work, in a grid with a block for 256 pixels, as sequential has
//     empty_512   no work, in a grid with a block for 512 pixels, as the other two have
//
// The order of the files is the order of the work: kernels and launcher; then reference, check,
// measure, report, main.
//! [question]

//! [includes]
#include "reduction_kernels.cuh"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "check.hpp"
#include "device.hpp"
#include "options.hpp"
#include "random.hpp"
#include "record.hpp"
#include "stream.hpp"
#include "timing.hpp"
#include "verify.hpp"

namespace {
//! [includes]

//! [versions]
/// A kernel with the grid that it needs. `baseline`: the version without work in the same grid;
/// empty for those themselves.
struct Version {
    std::string name;
    reduction::Kernel kernel;
    std::size_t pixels_per_block;
    std::string baseline;

    bool works() const { return !baseline.empty(); }
    std::size_t blocks(std::size_t n) const { return reduction::blocks_for(n, pixels_per_block); }
    void launch(const unsigned char* pixels, unsigned* partial, std::size_t n,
                cudaStream_t stream) const {
        reduction::launch(kernel, pixels_per_block, pixels, partial, n, stream);
    }
};

const std::vector<Version> versions = {
    {"sequential", histogram::reduce_blocks, reduction::threads, "empty_256"},
    {"first_add", reduction::reduce_first_add, reduction::two_a_thread, "empty_512"},
    {"shuffle", reduction::reduce_shuffle, reduction::two_a_thread, "empty_512"},
    {"empty_256", reduction::empty, reduction::threads, ""},
    {"empty_512", reduction::empty, reduction::two_a_thread, ""}};
//! [versions]

//! [reference]
/// What no kernel may leave behind in an element that it must write, nor change in another one.
constexpr unsigned poison = 0xA5A5A5A5u;

/// What the partial sums must hold, and behind them one element that nobody may touch.
std::vector<unsigned> partial_reference(const Version& version,
                                        const std::vector<unsigned char>& pixels) {
    std::vector<unsigned> partial(version.blocks(pixels.size()) + 1, poison);
    if (!version.works()) return partial;
    std::fill(partial.begin(), partial.end() - 1, 0);
    for (std::size_t i = 0; i < pixels.size(); ++i)
        partial[i / version.pixels_per_block] += pixels[i];
    return partial;
}
//! [reference]

//! [check]
/// Every partial sum by itself: two mistakes that cancel in the total do not cancel here.
mf::CheckResult check_partial(const Version& version, const std::vector<unsigned char>& pixels,
                              const std::vector<unsigned>& partial) {
    mf::CheckResult result =
        mf::check_equal(version.name, partial_reference(version, pixels), partial,
                        [](std::size_t block) { return "block " + std::to_string(block); });
    if (!result.passed) {
        result.message = "n=" + std::to_string(pixels.size()) + ": " + result.message;
    }
    return result;
}

/// Runs every version once, into a poisoned buffer.
std::vector<mf::CheckResult> check_versions(const std::vector<unsigned char>& input,
                                            cudaStream_t stream) {
    const mf::DeviceBuffer<unsigned char> pixels(input);
    std::vector<mf::CheckResult> checks;
    for (const Version& version : versions) {
        mf::DeviceBuffer<unsigned> partial(version.blocks(input.size()) + 1);
        partial.poison();
        version.launch(pixels.get(), partial.get(), input.size(), stream);
        checks.push_back(check_partial(version, input, partial.download()));
    }
    return checks;
}

/// Prints one line; throws for the first wrong result.
void report_checks(std::ostream& out, std::size_t n, const std::vector<mf::CheckResult>& checks) {
    out << "n=" << n << ": " << mf::checks_line(checks) << "\n";
    for (const mf::CheckResult& check : checks)
        mf::require(check);
}
//! [check]

//! [by hand]
/// The recipe without a library: three launches to warm up, a hundred in a row between two events
/// in the stream of the work, a wait for the second event, a division. Milliseconds a launch.
double reduction_kernel_ms(const std::function<void()>& launch, cudaStream_t stream) {
    constexpr int warm_ups = 3;
    constexpr int launches = 100;
    for (int i = 0; i < warm_ups; ++i)
        launch();

    const mf::Event start;
    const mf::Event stop;
    start.record(stream);
    for (int i = 0; i < launches; ++i)
        launch();
    stop.record(stream);
    stop.synchronize();
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
    return mf::require_time(ms, "a hundred reductions") / launches;
}
//! [by hand]

//! [measure]
/// One size of the sweep: a series for each version, in their order.
struct Measured {
    std::size_t n = 0;
    std::vector<mf::Series> series;
    double by_hand_ms = 0;  ///< sequential, by reduction_kernel_ms

    std::string label() const { return "reduction ms, n=" + std::to_string(n); }
    const mf::Series& of(const std::string& name) const {
        return *std::find_if(series.begin(), series.end(),
                             [&name](const mf::Series& one) { return one.name == name; });
    }
    double slowest_ms() const {
        double slowest = 0;
        for (const mf::Series& one : series)
            slowest = std::max(slowest, mf::median(one.ms));
        return slowest;
    }
};

/// Times the kernels alone. The host's part of the sum, and the copies, stay outside.
Measured measure(const std::vector<unsigned char>& input, const mf::MeasurePlan& plan,
                 cudaStream_t stream, mf::Record& record) {
    Measured measured;
    measured.n = input.size();
    const mf::DeviceBuffer<unsigned char> pixels(input);
    std::vector<mf::DeviceBuffer<unsigned>> partial;
    std::vector<mf::Variant> variants;
    for (const Version& version : versions) {
        partial.emplace_back(version.blocks(input.size()) + 1).poison();
        variants.push_back({version.name, "one launch; pixels in device memory",
                            [&, to = partial.back().get()](cudaStream_t s) {
                                version.launch(pixels.get(), to, input.size(), s);
                            }});
    }
    measured.series = mf::measure_variants(plan, stream, variants);
    const auto require_right = [&](std::size_t i) {
        const auto check = check_partial(versions[i], input, partial[i].download());
        record.add_check(check, "after timing");
        mf::require(check);
    };
    for (std::size_t i = 0; i < versions.size(); ++i)
        require_right(i);

    partial[0].poison();
    measured.by_hand_ms = reduction_kernel_ms(
        [&] { versions[0].launch(pixels.get(), partial[0].get(), input.size(), stream); }, stream);
    require_right(0);
    return measured;
}
//! [measure]

//! [sweep]
/// The sizes of a sweep, while they last: each about a dozen times the one before. 771307 is the
/// picture of chapter 07, 1003 by 769.
const std::vector<std::size_t> sweep_sizes = {1,      256,      4096,     65536,
                                              771307, 1u << 23, 1u << 26, 1u << 28};

/// A sweep ends with the first size at which a launch takes longer than this: beyond it the time
/// grows with the work, which is all that larger sizes would show.
constexpr double longest_launch_ms = 2;

/// Checks and measures one size after the other.
std::vector<Measured> sweep(std::ostream& out, const std::vector<std::size_t>& sizes,
                            const mf::CommonOptions& options, cudaStream_t stream,
                            mf::Record& record) {
    std::vector<Measured> all;
    for (const std::size_t n : sizes) {
        const std::vector<unsigned char> input = mf::random_bytes(n, options.seed);
        const auto checks = check_versions(input, stream);
        record.add_checks(checks, "before timing");
        report_checks(out, n, checks);
        if (n == 0) continue;
        all.push_back(measure(input, options.plan, stream, record));
        if (n != sizes.back() && all.back().slowest_ms() > longest_launch_ms) {
            out << "The sweep ends here: a launch takes longer than "
                << mf::readable(longest_launch_ms) << " ms.\n";
            break;
        }
    }
    return all;
}
//! [sweep]

//! [report table]
/// The bytes that a launch must move: each pixel in, each partial sum out.
double logical_bytes(const Version& version, std::size_t n) {
    return static_cast<double>(n + sizeof(unsigned) * version.blocks(n));
}

/// A row a size and version: its time, what the same grid takes without work, and how many times
/// that it is.
void print_table(std::ostream& out, const std::vector<Measured>& all,
                 const mf::Ceilings& ceilings) {
    const bool quotable = mf::reason_for_no_rates().empty();
    std::vector<std::string> headers = {"variant",       "pixels",     "blocks", "partial bytes",
                                        "reduction ms",  "p05",        "p95",    "by hand",
                                        "empty grid ms", "times empty"};
    if (quotable) headers.insert(headers.end(), {"GB/s", "of copy"});
    mf::Table table(headers);
    std::vector<mf::Series> noted;  // the notes must tell the sizes apart
    for (const Measured& size : all) {
        for (const Version& version : versions) {
            if (!version.works()) continue;
            const mf::Series& own = size.of(version.name);
            noted.push_back(own);
            noted.back().name += " of n=" + std::to_string(size.n);
            const mf::Summary time = own.summary();
            const double empty_ms = mf::median(size.of(version.baseline).ms);
            std::vector<std::string> cells = {
                version.name + (own.emulated ? " (emulated)" : ""),
                std::to_string(size.n),
                std::to_string(version.blocks(size.n)),
                std::to_string(sizeof(unsigned) * version.blocks(size.n)),
                mf::readable(time.median),
                mf::readable(time.p05),
                mf::readable(time.p95),
                &version == &versions[0] ? mf::readable(size.by_hand_ms) : "",
                mf::readable(empty_ms),
                mf::readable(time.median / empty_ms)};
            if (const auto rate = mf::rate_of(own, logical_bytes(version, size.n), ceilings)) {
                cells.push_back(mf::readable(rate->gb_per_s));
                cells.push_back(mf::percent_text(rate->percent_of_copy));
            }
            table.add_row(cells);
        }
    }
    table.print(out);
    mf::print_series_notes(out, noted);
    out << "  By hand: 3 launches to warm up, then 100 in a row between two events.\n";
    if (quotable) {
        out << "  Rates count one byte a pixel and four a partial sum; GB = 10^9 bytes. Sizes up "
               "to the L2 cache's are read from it.\n";
    }
}
//! [report table]

//! [report verdicts]
/// Each version against its empty grid, and against the version before it.
void compare_versions(std::ostream& out, const std::vector<Measured>& all,
                      const mf::CommonOptions& options, mf::Record& record) {
    const mf::Order order = options.plan.order;
    for (const Measured& size : all) {
        for (std::size_t i = 0; i < versions.size() && versions[i].works(); ++i) {
            const mf::Series& own = size.of(versions[i].name);
            const mf::Series& empty = size.of(versions[i].baseline);
            record.add_comparison(size.label(), mf::compare(empty, own, order, options.seed));
            if (i == 0) continue;
            const auto step = mf::compare(size.series[i - 1], own, order, options.seed);
            record.add_comparison(size.label(), step);
            out << "n=" << size.n << ": ";
            mf::print_comparison(out, step);
        }
    }
}

/// Where the work begins to outweigh the launch.
void report_crossing(std::ostream& out, const std::vector<Measured>& all) {
    if (!mf::reason_for_no_rates().empty()) return;
    for (const Version& version : versions) {
        if (!version.works()) continue;
        const auto outweighs = [&version](const Measured& size) {
            const double empty_ms = mf::median(size.of(version.baseline).ms);
            return mf::median(size.of(version.name).ms) >= 2 * empty_ms;
        };
        const auto first = std::find_if(all.begin(), all.end(), outweighs);
        out << version.name << ": ";
        if (first == all.end()) {
            out << "at no size here twice as long as its empty grid: launching, and starting the "
                   "blocks, is more than half of the time.\n";
        } else {
            out << "at least twice as long as its empty grid from n=" << first->n << " on.\n";
        }
    }
}
//! [report verdicts]

//! [record]
void fill_record(mf::Record& record, const std::vector<Measured>& all,
                 const mf::Ceilings& ceilings) {
    mf::Json sizes = mf::Json::array();
    mf::Json details = mf::Json::array();
    for (const Measured& size : all) {
        sizes.push(size.n);
        for (const Version& version : versions) {
            const mf::Series& series = size.of(version.name);
            std::optional<mf::Rate> rate;
            if (version.works()) {
                rate = mf::rate_of(series, logical_bytes(version, size.n), ceilings);
            }
            record.add_series(size.label(), series, rate);
            const std::size_t blocks = version.blocks(size.n);
            details.push(mf::Json{{"pixels", size.n},
                                  {"version", version.name},
                                  {"blocks", blocks},
                                  {"partial_bytes", sizeof(unsigned) * blocks}});
        }
        details.push(mf::Json{{"pixels", size.n}, {"reduction_kernel_ms", size.by_hand_ms}});
    }
    record.set_input("mixed pixels", {{"pixels", sizes}});
    record.add_extra("sweep", details);
}
//! [record]

//! [main]
int run(int argc, char** argv) {
    mf::CommonOptions options;
    constexpr std::uint64_t most = std::uint64_t{1} << 36;
    std::optional<std::size_t> only;
    mf::OptionParser parser("reduction_timing", "the time of a reduction, work and launch apart");
    parser.add_common(options);
    parser.add_value(
        "--n", "N", "measure this many pixels only", "",
        [&only](const std::string& text) {
            std::uint64_t value = 0;
            const bool valid = mf::parse_whole(text, 0, most, value);
            if (valid) only = value;
            return valid;
        },
        "a whole number from 0 to " + std::to_string(most));
    if (!parser.parse(argc, argv)) return mf::exit_ok;
    const mf::RecordFile record_file(options.json);

    const mf::DeviceInfo device = mf::pick_device(options.device);
    std::ostream& out = mf::report_stream(options);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    mf::Record record("reduction_timing", argc, argv, device, options);

    // Sizes around the borders of a warp, of a block and of a block with two pixels a thread.
    for (const std::size_t n : {0, 1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1025}) {
        for (const auto& check : check_versions(mf::random_bytes(n, options.seed), stream))
            mf::require(check);
    }
    const std::vector<std::size_t> sizes = only ? std::vector<std::size_t>{*only} : sweep_sizes;
    const std::vector<Measured> all = sweep(out, sizes, options, stream, record);
    const mf::Ceilings ceilings = mf::measure_ceilings(stream, device);
    record.set_ceilings(ceilings);
    fill_record(record, all, ceilings);

    if (all.empty()) {
        out << "There is nothing to sum: no launch, no time.\n";
    } else {
        mf::print_ceilings(out, ceilings);
        out << "\n";
        print_table(out, all, ceilings);
        out << "\n";
        compare_versions(out, all, options, record);
        report_crossing(out, all);
    }
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
