//! [question]
// block_clock: how long does one block take, and what does its clock tell about the others?
//
// Events time a launch as a whole. A kernel can also read the cycle counter of the SM that it runs
// on. Here each block of a reduction notes the counter at its beginning and at its end, and on
// which SM it ran. That gives the clocks a block takes; and since blocks of one SM share one
// counter, it shows which of them ran at the same time and which had to wait: the waves of a
// launch.
//
// Build and run, from the folder that holds common/ and chapters/:
//
//     f=chapters/10_block_clock/block_clock.cu
//     nvcc -O2 -std=c++17 -arch=native -I common $f -o block_clock
//     ./block_clock
//     ./block_clock --blocks 1000 --threads 128
//
// Variants (the kernel is in timed_reduction.cuh, since its twin block_clock_nvrtc needs it too):
//     own_segment     each block reduces a part of the input of its own
//     shared_segment  all blocks reduce the same part
//     alone           as own_segment, with so much shared memory that one block fills an SM
//
// The order of the files is the order of the work: kernel, reference, check; what the blocks' notes
// mean; then configurations, measure, report, main.
//! [question]

//! [includes]
#include "block_waves.cuh"
#include "timed_reduction.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "cache.hpp"
#include "check.hpp"
#include "clock.hpp"
#include "device.hpp"
#include "fastest_device.hpp"
#include "options.hpp"
#include "record.hpp"
#include "stream.hpp"
#include "timing.hpp"
#include "verify.hpp"

namespace {

using block_clock::BlockTimes;
using block_clock::Configuration;
//! [includes]

//! [options]
struct Options {
    mf::CommonOptions common;
    bool fastest = false;
    unsigned blocks = 0;   ///< 0: not given
    unsigned threads = 0;  ///< 0: not given

    bool sweep() const { return blocks == 0 && threads == 0; }
};

/// False if only --help was asked for.
bool parse(int argc, char** argv, Options& options) {
    mf::OptionParser parser("block_clock", "how long each block of a reduction takes, in clocks");
    parser.add_common(options.common);
    parser.add_flag("--fastest", "take the device with the most SMs x clock instead of --device",
                    options.fastest);
    parser.add_number("--blocks", "N", "measure this many blocks only (else 64, and a sweep)",
                      options.blocks, 1, 65535);
    parser.add_number("--threads", "N", "measure this many threads a block only (else 256)",
                      options.threads, 1, 1024);
    return parser.parse(argc, argv);
}
//! [options]

//! [configurations]
/// The variants of one grid. The last asks for all the shared memory that a block can have, so
/// that an SM has room for one block and no more.
std::vector<Configuration> variants_of(unsigned blocks, unsigned threads) {
    const int most = mf::attribute_or(cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    CUDA_CHECK(cudaFuncSetAttribute(block_clock::timed_reduction,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    return {{"own_segment", blocks, threads, false, 0},
            {"shared_segment", blocks, threads, true, 0},
            {"alone", blocks, threads, false, static_cast<std::size_t>(most)}};
}

/// Blocks from 1 to four times the SMs, with a step beyond each full round of SMs; then threads
/// from a warp to as many as a block may have.
std::vector<Configuration> sweep(unsigned multiprocessors) {
    std::vector<unsigned> counts = {1, (multiprocessors + 1) / 2};
    for (unsigned rounds = 1; rounds <= 4; ++rounds) {
        counts.push_back(rounds * multiprocessors);
        if (rounds < 4) counts.push_back(rounds * multiprocessors + 1);
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());

    const Configuration standard;
    std::vector<Configuration> all;
    for (const char* const name : {"own_segment", "alone"}) {
        for (const unsigned blocks : counts) {
            for (const Configuration& one : variants_of(blocks, standard.threads)) {
                if (one.name == name && blocks != standard.blocks) all.push_back(one);
            }
        }
    }
    for (const unsigned threads : {32u, 64u, 128u, 512u, 1024u})
        all.push_back(variants_of(standard.blocks, threads).front());
    return all;
}

std::size_t floats_for(const std::vector<Configuration>& configurations) {
    std::size_t floats = 0;
    for (const Configuration& one : configurations)
        floats = std::max(floats, one.input_floats());
    return floats;
}
//! [configurations]

//! [check]
/// Runs each configuration once, into poisoned buffers; returns one result a variant's name, the
/// first that failed if one did.
std::vector<mf::CheckResult> check_all(const std::vector<Configuration>& configurations,
                                       const std::vector<float>& input, int multiprocessors,
                                       cudaStream_t stream) {
    const mf::DeviceBuffer<float> on_device(input);
    std::vector<mf::CheckResult> results;
    for (const Configuration& one : configurations) {
        mf::DeviceBuffer<float> output(one.blocks);
        mf::DeviceBuffer<BlockTimes> times(one.blocks);
        output.poison();
        times.poison();
        block_clock::launch(one, on_device.get(), output.get(), times.get(), stream);
        const auto check = block_clock::check_blocks(one, input, output.download(),
                                                     times.download(), multiprocessors);
        const auto known =
            std::find_if(results.begin(), results.end(),
                         [&one](const mf::CheckResult& result) { return result.name == one.name; });
        if (known == results.end()) {
            results.push_back(check);
        } else if (known->passed) {
            *known = check;
        }
    }
    return results;
}

/// Block sizes around a warp and up to the largest; most are no powers of two.
std::vector<Configuration> small_configurations() {
    std::vector<Configuration> all;
    for (const unsigned threads : {1u, 2u, 3u, 31u, 32u, 33u, 96u, 255u, 1000u, 1024u}) {
        for (const Configuration& one : variants_of(3, threads))
            all.push_back(one);
    }
    return all;
}
//! [check]

//! [ruler]
/// What reading the counter costs: two readings with nothing between them.
__global__ void read_twice(long long* cycles) {
    const long long first = clock64();
    *cycles = clock64() - first;
}

/// The least of several tries, in cycles.
long long ruler(cudaStream_t stream) {
    const mf::DeviceBuffer<long long> cycles(1);
    std::vector<long long> tries;
    for (int i = 0; i < 16; ++i) {
        read_twice<<<1, 1, 0, stream>>>(cycles.get());
        CUDA_CHECK_LAUNCH();
        tries.push_back(cycles.download()[0]);
    }
    return *std::min_element(tries.begin(), tries.end());
}
//! [ruler]

//! [measured]
/// A configuration with all that was measured on it.
struct Measured {
    Configuration configuration;
    int fit = 0;  ///< blocks that an SM has room for, as the occupancy calculation says
    mf::DeviceBuffer<float> output;
    mf::DeviceBuffer<BlockTimes> times;
    mf::Series series;                   ///< kernel ms
    std::vector<double> average_clocks;  ///< one a sample
    std::vector<BlockTimes> last;        ///< of the last sample
    block_clock::Schedule schedule;      ///< of the last sample

    std::string label() const { return "kernel ms, " + configuration.text(); }
};

std::vector<Measured> prepare(const std::vector<Configuration>& configurations) {
    std::vector<Measured> all;
    for (const Configuration& one : configurations) {
        Measured measured;
        measured.configuration = one;
        CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &measured.fit, block_clock::timed_reduction, static_cast<int>(one.threads),
            one.shared_bytes()));
        measured.output = mf::DeviceBuffer<float>(one.blocks);
        measured.times = mf::DeviceBuffer<BlockTimes>(one.blocks);
        measured.output.poison();
        measured.times.poison();
        all.push_back(std::move(measured));
    }
    return all;
}
//! [measured]

//! [measure kernel]
/// kernel ms: the launches as events see them.
void measure_kernels(std::vector<Measured>& all, const float* input, const mf::MeasurePlan& plan,
                     cudaStream_t stream) {
    std::vector<mf::Variant> variants;
    for (const Measured& one : all) {
        variants.push_back({one.configuration.name, "one launch; input in device memory",
                            [&one, input](cudaStream_t s) {
                                block_clock::launch(one.configuration, input, one.output.get(),
                                                    one.times.get(), s);
                            }});
    }
    const auto series = mf::measure_variants(plan, stream, variants);
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i].series = series[i];
}
//! [measure kernel]

//! [measure clocks]
/// The blocks' own clocks: of single launches, the configurations by turns as above. The launch
/// before the one that is read keeps the caches as they are between launches of a batch.
void measure_clocks(std::vector<Measured>& all, const float* input, const mf::MeasurePlan& plan,
                    cudaStream_t stream) {
    std::optional<mf::CacheFlusher> flusher;
    if (plan.cold) flusher.emplace();
    const int repeats = mf::attached_tool().empty() ? plan.repeats : 1;
    for (int round = 0; round < repeats; ++round) {
        for (std::size_t k = 0; k < all.size(); ++k) {
            Measured& one = all[round % 2 == 0 ? k : all.size() - 1 - k];
            const auto launch = [&one, input, stream] {
                block_clock::launch(one.configuration, input, one.output.get(), one.times.get(),
                                    stream);
            };
            launch();
            if (flusher) flusher->flush(stream);
            launch();
            one.last = one.times.download();
            one.average_clocks.push_back(block_clock::average_clocks(one.last));
        }
    }
    for (Measured& one : all)
        one.schedule = block_clock::schedule_of(one.last);
}
//! [measure clocks]

//! [measure]
/// Both measurements, then every result once more.
void measure(std::vector<Measured>& all, const std::vector<float>& input, int multiprocessors,
             const mf::MeasurePlan& plan, cudaStream_t stream, mf::Record& record) {
    const mf::DeviceBuffer<float> on_device(input);
    const auto require_right = [&] {
        for (Measured& one : all) {
            const auto check =
                block_clock::check_blocks(one.configuration, input, one.output.download(),
                                          one.times.download(), multiprocessors);
            record.add_check(check, "after timing");
            mf::require(check);
            one.output.poison();
            one.times.poison();
        }
    };
    measure_kernels(all, on_device.get(), plan, stream);
    require_right();
    measure_clocks(all, on_device.get(), plan, stream);
    require_right();
}
//! [measure]

//! [report table]
/// A row a configuration. Cycles become time by the SM clock that was measured in this run.
void print_table(std::ostream& out, const std::vector<Measured>& all,
                 const std::optional<double>& mhz) {
    mf::Table table({"variant", "blocks", "threads", "kernel ms", "clocks/block", "p05", "p95",
                     "SMs used", "fit on an SM", "at once", "waves", "span clocks", "span ms"});
    std::vector<mf::Series> series;
    for (const Measured& one : all) {
        series.push_back(one.series);
        const mf::Summary clocks = mf::summarize(one.average_clocks);
        const auto span = static_cast<double>(one.schedule.span);
        table.add_row({one.configuration.name + (one.series.emulated ? " (emulated)" : ""),
                       std::to_string(one.configuration.blocks),
                       std::to_string(one.configuration.threads),
                       mf::readable(mf::median(one.series.ms)), mf::fixed(clocks.median, 1),
                       mf::fixed(clocks.p05, 1), mf::fixed(clocks.p95, 1),
                       std::to_string(one.schedule.sms_used), std::to_string(one.fit),
                       std::to_string(one.schedule.at_once), std::to_string(one.schedule.waves),
                       mf::fixed(span, 0), mhz ? mf::readable(span / *mhz / 1e3) : "unknown"});
    }
    table.print(out);
    mf::print_series_notes(out, series);
    out << "  Clocks/block: each sample is the average over the blocks of one launch; median, p05 "
           "and p95 of the samples.\n"
           "  Fit: blocks that the occupancy calculation gives an SM. At once, waves: as seen by "
           "the counters of the SMs in the last launch.\n"
           "  Span: from the first beginning to the last end of the blocks of one SM, the longest "
           "over the SMs.\n";
}
//! [report table]

//! [report average]
/// The line that the chapter's source prints, and what it is in time.
void report_average(std::ostream& out, const Measured& standard, long long ruler_clocks,
                    const std::optional<double>& mhz) {
    const double clocks = mf::median(standard.average_clocks);
    out << "Average clocks/block = " << mf::fixed(clocks, 1) << "\n  "
        << standard.configuration.name << ", " << standard.configuration.text() << "; ";
    if (mhz) {
        out << "at the measured " << mf::fixed(*mhz, 0) << " MHz " << mf::readable(clocks / *mhz)
            << " us. ";
    }
    out << "Reading the counter twice in a row: " << ruler_clocks << " clocks.\n";
}
//! [report average]

//! [report waves]
/// The launch of a variant with the most blocks, in blocks of the first one's size.
const Measured& largest(const std::vector<Measured>& all, const std::string& name) {
    const Measured* most = nullptr;
    for (const Measured& one : all) {
        const Configuration& c = one.configuration;
        if (c.name != name || c.threads != all.front().configuration.threads) continue;
        if (most == nullptr || c.blocks > most->configuration.blocks) most = &one;
    }
    return *most;
}

/// A line a block, `#` where it runs, all on the scale of the SM's own counter.
void draw(std::ostream& out, const block_clock::SmStory& story) {
    constexpr std::size_t most_lines = 12;
    constexpr double width = 60;
    const std::size_t lines = std::min(story.blocks.size(), most_lines);
    long long last_end = 0;
    for (std::size_t i = 0; i < lines; ++i)
        last_end = std::max(last_end, story.blocks[i].end);
    const auto column = [last_end](long long clocks) {
        return static_cast<std::size_t>(width * static_cast<double>(clocks) /
                                        static_cast<double>(last_end));
    };
    mf::Table table({"  block", "wave", "from", "to", ""});
    for (std::size_t i = 0; i < lines; ++i) {
        const block_clock::Placed& one = story.blocks[i];
        const std::size_t from = column(one.start);
        std::string bar(from, ' ');
        bar += std::string(std::max<std::size_t>(column(one.end) - from, 1), '#');
        bar.resize(static_cast<std::size_t>(width) + 1, ' ');
        table.add_row({"  " + std::to_string(one.block), std::to_string(one.wave),
                       std::to_string(one.start), std::to_string(one.end), bar + "|"});
    }
    table.print(out);
    if (story.blocks.size() > lines) out << "  and " << story.blocks.size() - lines << " more\n";
}

/// The SM with the most blocks.
void draw_waves(std::ostream& out, const Measured& measured) {
    const auto stories = block_clock::stories_of(measured.last);
    const auto busiest =
        std::max_element(stories.begin(), stories.end(), [](const auto& a, const auto& b) {
            return a.second.blocks.size() < b.second.blocks.size();
        });
    out << measured.configuration.name << ", " << measured.configuration.text() << ": SM "
        << busiest->first << ", " << busiest->second.blocks.size() << " blocks in "
        << busiest->second.span << " clocks\n";
    draw(out, busiest->second);
}
//! [report waves]

//! [report counters]
/// What becomes of the difference of two SMs' counters if it is taken for a time: it is held
/// against the clock that all SMs share. Where that clock advances in steps of a microsecond, it
/// cannot tell smaller errors; ten are beyond doubt.
void report_counters(std::ostream& out, const Measured& measured, double mhz, mf::Record& record) {
    const BlockTimes& first = measured.last.front();
    double apart_us = 0;
    double claimed_us = 0;
    double wrong_us = 0;
    for (const BlockTimes& block : measured.last) {
        const double by_ns =
            (static_cast<double>(block.start_ns) - static_cast<double>(first.start_ns)) / 1e3;
        const double by_counters = static_cast<double>(block.start - first.start) / mhz;
        apart_us = std::max(apart_us, std::fabs(by_ns));
        claimed_us = std::max(claimed_us, std::fabs(by_counters));
        wrong_us = std::max(wrong_us, std::fabs(by_counters - by_ns));
    }
    const double block_us = block_clock::average_clocks(measured.last) / mhz;
    out << "Counters of different SMs: the blocks of one launch began within "
        << mf::readable(apart_us) << " us of block 0 by the clock that all SMs share.\n"
        << "  By the difference of the SMs' counters it would be " << mf::readable(claimed_us)
        << " us; that is wrong by up to " << mf::readable(wrong_us) << " us, where a block takes "
        << mf::readable(block_us) << " us.\n"
        << (measured.series.emulated ? "  EMULATED: all SMs read the same clock here, the host's.\n"
            : wrong_us > 10
                ? "  Such a difference is no time: only differences taken on one SM are.\n"
                : "  The counters of this device agree as far as can be told; nothing promises "
                  "that "
                  "they do.\n");
    record.add_extra("counters_of_different_sms", {{"began_within_us", apart_us},
                                                   {"by_counters_us", claimed_us},
                                                   {"wrong_by_us", wrong_us},
                                                   {"block_us", block_us}});
}
//! [report counters]

//! [report variants]
/// What sharing one segment changes, and what having an SM alone does. The first three
/// configurations are the variants of the standard grid.
void compare_variants(std::ostream& out, const std::vector<Measured>& all,
                      const mf::CommonOptions& options, mf::Record& record) {
    for (std::size_t i = 1; i < 3; ++i) {
        const auto comparison =
            mf::compare(all[0].series, all[i].series, options.plan.order, options.seed);
        record.add_comparison(all[0].label(), comparison);
        const double ratio = mf::median(all[i].average_clocks) / mf::median(all[0].average_clocks);
        out << all[i].configuration.name << ": " << mf::fixed(ratio, 3)
            << " of the clocks/block of " << all[0].configuration.name << "; kernel ms: ";
        mf::print_comparison(out, comparison);
    }
}
//! [report variants]

//! [record]
void fill_record(mf::Record& record, const std::vector<Measured>& all, long long ruler_clocks,
                 const std::optional<double>& mhz) {
    mf::Json details = mf::Json::array();
    for (const Measured& one : all) {
        record.add_series(one.label(), one.series);
        std::vector<long long> of_blocks;
        for (const BlockTimes& block : one.last)
            of_blocks.push_back(block.end - block.start);
        details.push(
            mf::Json{{"variant", one.configuration.name},
                     {"blocks", one.configuration.blocks},
                     {"threads", one.configuration.threads},
                     {"shared_bytes", one.configuration.shared_bytes()},
                     {"average_clocks", one.average_clocks},
                     {"fit_on_an_sm", one.fit},
                     {"last_launch", mf::Json{{"clocks", of_blocks},
                                              {"sms_used", one.schedule.sms_used},
                                              {"blocks_on_one_sm", one.schedule.blocks_on_one_sm},
                                              {"at_once", one.schedule.at_once},
                                              {"waves", one.schedule.waves},
                                              {"span_clocks", one.schedule.span}}}});
    }
    record.add_extra("block_clocks", details);
    record.add_extra("reading_twice_clocks", ruler_clocks);
    record.add_extra("sm_clock_mhz", mhz);
}
//! [record]

//! [main]
int run(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) return mf::exit_ok;
    const mf::RecordFile record_file(options.common.json);

    const mf::DeviceInfo device =
        mf::pick_device(options.fastest ? mf::fastest_device() : options.common.device);
    std::ostream& out = mf::report_stream(options.common);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    mf::Record record("block_clock", argc, argv, device, options.common);

    // The standard grid first; of the sweep, the rest.
    const Configuration standard;
    std::vector<Configuration> configurations =
        variants_of(options.blocks > 0 ? options.blocks : standard.blocks,
                    options.threads > 0 ? options.threads : standard.threads);
    if (options.sweep()) {
        const auto rest = sweep(static_cast<unsigned>(device.multiprocessors));
        configurations.insert(configurations.end(), rest.begin(), rest.end());
    }
    const auto small = small_configurations();
    const std::size_t floats = std::max(floats_for(configurations), floats_for(small));
    const std::vector<float> input = block_clock::random_floats(floats, options.common.seed);
    record.set_input("random floats in [-1, 1)", {{"floats", floats}});

    for (const auto& check : check_all(small, input, device.multiprocessors, stream))
        mf::require(check);
    const auto checks = check_all(configurations, input, device.multiprocessors, stream);
    record.add_checks(checks, "before timing");
    out << configurations.front().text() << (options.sweep() ? " and the sweep" : "") << ": "
        << mf::checks_line(checks) << "\n";
    for (const mf::CheckResult& check : checks)
        mf::require(check);

    std::vector<Measured> all = prepare(configurations);
    measure(all, input, device.multiprocessors, options.common.plan, stream, record);
    std::optional<double> mhz;
    if (mf::attached_tool().empty()) mhz = mf::sm_clock_mhz(stream);
    const long long ruler_clocks = ruler(stream);
    fill_record(record, all, ruler_clocks, mhz);

    out << "\n";
    print_table(out, all, mhz);
    out << "\n";
    report_average(out, all.front(), ruler_clocks, mhz);
    compare_variants(out, all, options.common, record);
    out << "\n";
    for (const char* const name : {"own_segment", "alone"})
        draw_waves(out, largest(all, name));
    out << "\n";
    if (mhz) report_counters(out, largest(all, "alone"), *mhz, record);
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
