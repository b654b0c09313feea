//! [question]
// histogram_reduction: what do atomic additions to the same place cost?
//
// A histogram of a grey picture counts how often each of the 256 values occurs. One pixel a thread
// is easy; the threads then meet at the counters. Two kernels meet there in different ways, on two
// pictures: one of a single value, where all want the same counter, and one of mixed values. A
// third kernel sums the pixels, one partial sum a block: the same idea, with a barrier instead of
// atomics.
//
// Build and run, from the folder that holds common/ and chapters/:
//
//     f=chapters/07_histogram_reduction/histogram_reduction.cu
//     nvcc -O2 -std=c++17 -arch=native -I common $f -o histogram_reduction
//     ./histogram_reduction
//     ./histogram_reduction --input photo.png --output histogram.png
//
// Versions (in histogram_kernels.cuh, since later chapters use them too):
//     global  each thread adds to the result in global memory
//     block   each block counts in shared memory and adds what it found to the result at its end
//
// The order of the files is the order of the work: reference, kernels, launchers; then check,
// measure, report, main.
//! [question]

//! [includes]
#include "histogram_kernels.cuh"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

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

//! [versions]
struct Version {
    std::string name;
    histogram::HistogramKernel kernel;
};

const std::vector<Version> versions = {{"global", histogram::histogram_global},
                                       {"block", histogram::histogram_block}};
//! [versions]

//! [input]
/// Pixels with what the report calls them. Their arrangement in rows plays no part.
struct Input {
    std::string name;
    std::vector<unsigned char> pixels;
};

/// The worst case for atomics: every thread wants the same counter.
Input identical_pixels(std::size_t n) {
    return {std::to_string(n) + " identical pixels", std::vector<unsigned char>(n, 137)};
}

std::string size_text(int width, int height) {
    return std::to_string(width) + "x" + std::to_string(height);
}

Input mixed_pixels(int width, int height, std::uint64_t seed) {
    const std::size_t n = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    return {size_text(width, height) + " mixed pixels", mf::random_bytes(n, seed)};
}
//! [input]

//! [check]
/// Every bin, and that the bins add up to the number of pixels, which does not rest on the
/// reference.
mf::CheckResult check_bins(const std::string& name, const std::vector<unsigned>& expected,
                           const std::vector<unsigned>& actual, std::size_t n) {
    mf::CheckResult result = mf::check_equal(
        name, expected, actual, [](std::size_t bin) { return "bin " + std::to_string(bin); });
    const std::uint64_t total = histogram::merge(actual);
    if (result.passed && total != n) {
        result.passed = false;
        result.message = "the bins add up to " + std::to_string(total) + " instead of " +
                         std::to_string(n) + " pixels";
    }
    return result;
}

/// Runs all three kernels once on the input, each into a poisoned buffer.
std::vector<mf::CheckResult> check_kernels(const Input& input, cudaStream_t stream) {
    const std::size_t n = input.pixels.size();
    const mf::DeviceBuffer<unsigned char> pixels(input.pixels);
    const std::vector<unsigned> expected = histogram::histogram_reference(input.pixels);

    std::vector<mf::CheckResult> checks;
    mf::DeviceBuffer<unsigned> counts(histogram::bins);
    for (const Version& version : versions) {
        counts.poison();
        histogram::clear(counts.get(), stream);
        histogram::launch_histogram(version.kernel, pixels.get(), counts.get(), n, stream);
        checks.push_back(check_bins(version.name, expected, counts.download(), n));
    }

    mf::DeviceBuffer<unsigned> partial(histogram::blocks_for(n));
    partial.poison();
    histogram::launch_reduce_blocks(pixels.get(), partial.get(), n, stream);
    const std::vector<std::uint64_t> sum = {histogram::merge(partial.download())};
    const std::vector<std::uint64_t> expected_sum = {histogram::sum_reference(input.pixels)};
    checks.push_back(mf::check_equal("sum", expected_sum, sum,
                                     [](std::size_t) { return std::string("sum of the pixels"); }));
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

//! [measure step]
/// step ms: clear the bins, then one launch, timed by events. The pixels are in device memory.
std::vector<mf::Series> measure_steps(const Input& input, const mf::MeasurePlan& plan,
                                      cudaStream_t stream, mf::Record& record) {
    const std::size_t n = input.pixels.size();
    const mf::DeviceBuffer<unsigned char> pixels(input.pixels);
    std::vector<mf::DeviceBuffer<unsigned>> results;
    std::vector<mf::Variant> variants;
    for (const Version& version : versions) {
        results.emplace_back(histogram::bins).poison();
        variants.push_back(
            {version.name, "clear the bins, one launch; pixels in device memory",
             [&pixels, n, kernel = version.kernel, to = results.back().get()](cudaStream_t s) {
                 histogram::clear(to, s);
                 histogram::launch_histogram(kernel, pixels.get(), to, n, s);
             }});
    }
    auto series = mf::measure_variants(plan, stream, variants);

    const std::vector<unsigned> expected = histogram::histogram_reference(input.pixels);
    for (std::size_t i = 0; i < versions.size(); ++i) {
        const auto check = check_bins(versions[i].name, expected, results[i].download(), n);
        record.add_check(check, "after timing");
        mf::require(check);
    }
    return series;
}
//! [measure step]

//! [measure roundtrip]
/// roundtrip ms: upload, clear, launch, download, timed by the host's clock, which is right here
/// because the work ends with a wait. The buffers exist already, the counts one a version: nobody
/// may pass with another one's result. The host's memory is pageable.
std::vector<mf::Series> measure_roundtrips(const Input& input, const mf::MeasurePlan& plan,
                                           cudaStream_t stream, mf::Record& record) {
    const std::size_t n = input.pixels.size();
    const mf::DeviceBuffer<unsigned char> pixels(n);
    std::vector<mf::DeviceBuffer<unsigned>> outputs;
    std::vector<std::vector<unsigned>> results(versions.size(),
                                               std::vector<unsigned>(histogram::bins, 0xA5A5A5A5));
    std::vector<mf::HostVariant> variants;
    for (std::size_t i = 0; i < versions.size(); ++i) {
        outputs.emplace_back(histogram::bins).poison();
        const auto work = [&, i, counts = outputs.back().get()] {
            CUDA_CHECK(cudaMemcpyAsync(pixels.get(), input.pixels.data(), pixels.bytes(),
                                       cudaMemcpyHostToDevice, stream));
            histogram::clear(counts, stream);
            histogram::launch_histogram(versions[i].kernel, pixels.get(), counts, n, stream);
            CUDA_CHECK(cudaMemcpyAsync(results[i].data(), counts,
                                       sizeof(unsigned) * histogram::bins, cudaMemcpyDeviceToHost,
                                       stream));
            CUDA_CHECK(cudaStreamSynchronize(stream));
        };
        variants.push_back({versions[i].name,
                            "upload, clear the bins, one launch, download, wait; pageable host "
                            "memory",
                            work});
    }
    auto series = mf::measure_host_variants(plan, variants);

    const std::vector<unsigned> expected = histogram::histogram_reference(input.pixels);
    for (std::size_t i = 0; i < versions.size(); ++i) {
        const auto check = check_bins(versions[i].name + " roundtrip", expected, results[i], n);
        record.add_check(check, "after timing");
        mf::require(check);
    }
    return series;
}
//! [measure roundtrip]

//! [picture]
/// The histogram as a picture: 256 columns, the fullest bin as high as the picture, dark on light.
mf::GrayImage picture_of(const std::vector<unsigned>& counts) {
    constexpr int height = 128;
    const unsigned fullest = *std::max_element(counts.begin(), counts.end());
    mf::GrayImage picture{histogram::bins, height,
                          std::vector<unsigned char>(histogram::bins * height, 255)};
    for (int bin = 0; bin < histogram::bins; ++bin) {
        const auto share = static_cast<double>(counts[static_cast<std::size_t>(bin)]) / fullest;
        const int bar = static_cast<int>(share * height + 0.5);
        for (int y = height - bar; y < height; ++y) {
            picture.pixels[static_cast<std::size_t>(y * histogram::bins + bin)] = 40;
        }
    }
    return picture;
}
//! [picture]

//! [report]
/// Is the block-local version the faster one?
void report_verdict(std::ostream& out, const std::string& label, const Input& input,
                    const std::vector<mf::Series>& series, const mf::CommonOptions& options,
                    mf::Record& record) {
    const auto comparison = mf::compare(series[0], series[1], options.plan.order, options.seed);
    out << label << ": ";
    mf::print_comparison(out, comparison);
    record.add_comparison(label + ", " + input.name, comparison);
}

/// Measures one input and prints both tables. The rate counts one byte a pixel, read once.
void measure_input(std::ostream& out, const Input& input, const mf::Ceilings& ceilings,
                   const mf::CommonOptions& options, cudaStream_t stream, mf::Record& record) {
    out << "\nMeasured on " << input.name << "\n\n";
    auto steps = measure_steps(input, options.plan, stream, record);
    std::vector<std::optional<mf::Rate>> rates;
    for (const mf::Series& series : steps) {
        rates.push_back(mf::rate_of(series, static_cast<double>(input.pixels.size()), ceilings));
    }
    mf::print_series(out, "step ms", steps, rates);
    record.add_series("step ms, " + input.name, steps, rates);
    report_verdict(out, "step ms", input, steps, options, record);

    const auto roundtrips = measure_roundtrips(input, options.plan, stream, record);
    out << "\n";
    mf::print_series(out, "roundtrip ms", roundtrips);
    record.add_series("roundtrip ms, " + input.name, roundtrips);
    report_verdict(out, "roundtrip ms", input, roundtrips, options, record);
}
//! [report]

//! [options]
struct Options {
    mf::CommonOptions common;
    mf::ImageSize size;
    std::string input;
    std::string output;
};

/// False if only --help was asked for.
bool parse(int argc, char** argv, Options& options) {
    mf::OptionParser parser("histogram_reduction", "histogram and sum of a grey picture's pixels");
    parser.add_common(options.common);
    parser.add_size("--size", "measure on mixed pixels of this size only", options.size);
    parser.add_text("--input", "IMAGE", "measure on this picture only (PGM, PNG, JPEG)",
                    options.input);
    parser.add_text("--output", "IMAGE", "write a picture of the last histogram (.pgm, .png)",
                    options.output);
    if (!parser.parse(argc, argv)) return false;
    if (!options.input.empty() && options.size.width > 0) {
        throw mf::UsageError("--size and --input exclude each other");
    }
    return true;
}

/// Two inputs that differ in what atomics mind most; or the one that was asked for.
std::vector<Input> inputs_of(const Options& options) {
    const std::uint64_t seed = options.common.seed;
    std::vector<Input> inputs;
    if (!options.input.empty()) {
        mf::GrayImage picture = mf::load_image(options.input);
        inputs.push_back({size_text(picture.width, picture.height) + " " + options.input,
                          std::move(picture.pixels)});
    } else if (options.size.width > 0) {
        inputs.push_back(mixed_pixels(options.size.width, options.size.height, seed));
    } else {
        inputs.push_back(identical_pixels(262145));
        inputs.push_back(mixed_pixels(1003, 769, seed));
    }
    for (const Input& input : inputs) {
        if (input.pixels.size() > histogram::most_pixels) {
            throw mf::UsageError(input.name +
                                 ": more than 4294967295 pixels, a bin could overflow");
        }
    }
    return inputs;
}
//! [options]

//! [main]
int run(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) return mf::exit_ok;
    // Files first: what cannot be read or written is found before anything is measured.
    const std::vector<Input> inputs = inputs_of(options);
    mf::refuse_one_file(options.common.json, options.input, "--input");
    mf::refuse_one_file(options.common.json, options.output, "--output");
    const mf::RecordFile record_file(options.common.json);
    std::optional<mf::ImageFile> output;
    if (!options.output.empty()) output.emplace(options.output);

    const mf::DeviceInfo device = mf::pick_device(options.common.device);
    std::ostream& out = mf::report_stream(options.common);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    mf::Record record("histogram_reduction", argc, argv, device, options.common);
    mf::Json sizes = mf::Json::array();
    std::string names;
    for (const Input& input : inputs) {
        sizes.push(input.pixels.size());
        names += (names.empty() ? "" : "; ") + input.name;
    }
    record.set_input(names, {{"pixels", sizes}, {"picture", options.input}});

    // Sizes around the border of a block, then what will be measured.
    for (const int n : {1, 2, 3, 255, 256, 257, 1025}) {
        const Input small = mixed_pixels(n, 1, options.common.seed);
        for (const auto& check : check_kernels(small, stream))
            mf::require(check);
    }
    for (const Input& input : inputs) {
        const auto checks = check_kernels(input, stream);
        record.add_checks(checks, "before timing");
        report_checks(out, input, checks);
    }

    const mf::Ceilings ceilings = mf::measure_ceilings(stream, device);
    record.set_ceilings(ceilings);
    mf::print_ceilings(out, ceilings);
    for (const Input& input : inputs) {
        measure_input(out, input, ceilings, options.common, stream, record);
    }

    // The kernels have computed these counts too, bin by bin.
    if (output) output->write(picture_of(histogram::histogram_reference(inputs.back().pixels)));
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
