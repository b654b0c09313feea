//! [question]
// box_blur: does a tile in shared memory make a 3x3 box blur faster?
//
// Each pixel of the result is the mean of the pixel and its neighbours, rounded down. At the edge
// the mean is taken over the neighbours that lie inside the picture. Neighbouring results read
// mostly the same pixels, so keeping them in shared memory looks like a gain; whether it is one
// depends on what the caches do already, and is measured here.
//
// Build and run in this folder:
//
//     nvcc -O2 -std=c++17 -arch=native -I ../../common box_blur.cu -o box_blur
//     ./box_blur
//     ./box_blur --input photo.png --output blurred.png
//
// Versions:
//     direct  each thread reads its nine pixels from global memory: the plain one
//     tiled   a block copies its 16x16 pixels and a border of one, 18x18 in all, to shared memory,
//             waits once, and reads its nine pixels there
//
// The order is that of the work: reference, kernels and launcher (in blur_kernels.cuh), check,
// measure, report, main.
//! [question]

//! [includes]
#include "blur_kernels.cuh"

#include <cuda_runtime.h>

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

using namespace blur;
//! [includes]

//! [versions]
struct Version {
    std::string name;
    BlurKernel kernel;
};

const std::vector<Version> versions = {{"direct", blur_direct}, {"tiled", blur_tiled}};
//! [versions]

//! [input]
/// A picture with what the report calls it.
struct Input {
    std::string name;
    mf::GrayImage picture;
};

std::string size_text(int width, int height) {
    return std::to_string(width) + "x" + std::to_string(height);
}

/// Random pixels: a picture of one value would come out right from many a wrong kernel.
Input random_input(int width, int height, std::uint64_t seed) {
    const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    return {size_text(width, height), {width, height, mf::random_bytes(pixels, seed)}};
}
//! [input]

//! [check]
/// Every pixel of a result; the first wrong one is named by its column and row.
mf::CheckResult check_pixels(const std::string& name, const mf::GrayImage& expected,
                             const std::vector<unsigned char>& actual) {
    const auto place = [&expected](std::size_t index) {
        const auto width = static_cast<std::size_t>(expected.width);
        return "pixel (" + std::to_string(index % width) + ", " + std::to_string(index / width) +
               ")";
    };
    return mf::check_equal(name, expected.pixels, actual, place);
}

/// Runs each version once into a poisoned buffer, prints one line, throws for a wrong pixel.
std::vector<mf::CheckResult> check_versions(std::ostream& out, const Input& input,
                                            const mf::GrayImage& expected, cudaStream_t stream) {
    const auto& [width, height, pixels] = input.picture;
    const mf::DeviceBuffer<unsigned char> from(pixels);
    mf::DeviceBuffer<unsigned char> to(pixels.size());
    std::vector<mf::CheckResult> checks;
    for (const Version& version : versions) {
        to.poison();
        launch(version.kernel, from.get(), to.get(), width, height, stream);
        checks.push_back(check_pixels(version.name, expected, to.download()));
    }
    out << input.name << ": " << mf::checks_line(checks) << "\n";
    for (const mf::CheckResult& check : checks)
        mf::require(check);
    return checks;
}
//! [check]

//! [measure kernel]
/// kernel ms: launches on a picture that is in device memory already, timed by events. Each version
/// has an output buffer of its own, poisoned before and verified after the timing.
std::vector<mf::Series> measure_kernels(const Input& input, const mf::GrayImage& expected,
                                        const mf::MeasurePlan& plan, cudaStream_t stream,
                                        mf::Record& record) {
    const auto& [width, height, pixels] = input.picture;
    const mf::DeviceBuffer<unsigned char> from(pixels);
    std::vector<mf::DeviceBuffer<unsigned char>> results;
    std::vector<mf::Variant> variants;
    for (const Version& version : versions) {
        results.emplace_back(pixels.size()).poison();
        variants.push_back(
            {version.name, "one launch, picture in device memory",
             [&, kernel = version.kernel, to = results.back().get()](cudaStream_t s) {
                 launch(kernel, from.get(), to, input.picture.width, input.picture.height, s);
             }});
    }
    auto series = mf::measure_variants(plan, stream, variants);
    for (std::size_t i = 0; i < versions.size(); ++i) {
        const auto check = check_pixels(versions[i].name, expected, results[i].download());
        record.add_check(check, "after timing");
        mf::require(check);
    }
    return series;
}
//! [measure kernel]

//! [measure roundtrip]
/// roundtrip ms: upload, launch, download, timed by the host's clock, which is right here because
/// the work ends with a wait. The buffers exist already, one a version: nobody may pass with
/// another one's result. The host's memory is pageable.
std::vector<mf::Series> measure_roundtrips(const Input& input, const mf::GrayImage& expected,
                                           const mf::MeasurePlan& plan, cudaStream_t stream,
                                           mf::Record& record) {
    const auto& [width, height, pixels] = input.picture;
    const mf::DeviceBuffer<unsigned char> from(pixels.size());
    std::vector<mf::DeviceBuffer<unsigned char>> outputs;
    std::vector<std::vector<unsigned char>> results(
        versions.size(), std::vector<unsigned char>(pixels.size(), 0xA5));
    std::vector<mf::HostVariant> variants;
    for (std::size_t i = 0; i < versions.size(); ++i) {
        outputs.emplace_back(pixels.size()).poison();
        const auto work = [&, i, to = outputs.back().get()] {
            CUDA_CHECK(cudaMemcpyAsync(from.get(), input.picture.pixels.data(), from.bytes(),
                                       cudaMemcpyHostToDevice, stream));
            launch(versions[i].kernel, from.get(), to, input.picture.width, input.picture.height,
                   stream);
            CUDA_CHECK(cudaMemcpyAsync(results[i].data(), to, results[i].size(),
                                       cudaMemcpyDeviceToHost, stream));
            CUDA_CHECK(cudaStreamSynchronize(stream));
        };
        variants.push_back(
            {versions[i].name, "upload, one launch, download, wait; pageable host memory", work});
    }
    auto series = mf::measure_host_variants(plan, variants);
    for (std::size_t i = 0; i < versions.size(); ++i) {
        const auto check = check_pixels(versions[i].name + " roundtrip", expected, results[i]);
        record.add_check(check, "after timing");
        mf::require(check);
    }
    return series;
}
//! [measure roundtrip]

//! [report]
/// Each pixel is read once and written once: 2 N bytes for N pixels, the least that the task needs.
/// Both kernels ask for nine pixels and more a result, which caches and shared memory mostly
/// answer. So the rate compares kernels that do the same task; it is not what the memory chips saw.
void report_kernels(std::ostream& out, const std::vector<mf::Series>& kernels, std::size_t pixels,
                    const mf::Ceilings& ceilings, mf::Record& record) {
    const double bytes = mf::image_filter_bytes(static_cast<double>(pixels));
    std::vector<std::optional<mf::Rate>> rates;
    for (const mf::Series& series : kernels) {
        rates.push_back(mf::rate_of(series, bytes, ceilings));
    }
    mf::print_series(out, "kernel ms", kernels, rates);
    out << "  Counted: 2 N = " << 2 * pixels
        << " bytes, each pixel read once and written once; not the traffic of the DRAM.\n";
    record.add_series("kernel ms", kernels, rates);
}

/// Is the tiled version the faster one?
void report_verdict(std::ostream& out, const std::string& label,
                    const std::vector<mf::Series>& series, const mf::CommonOptions& options,
                    mf::Record& record) {
    const auto comparison = mf::compare(series[0], series[1], options.plan.order, options.seed);
    out << label << ": ";
    mf::print_comparison(out, comparison);
    record.add_comparison(label, comparison);
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
    mf::OptionParser parser("box_blur", "3x3 mean of a grey picture, direct and tiled");
    parser.add_common(options.common);
    parser.add_size("--size", "measure on random pixels of this size (default: 1003x769)",
                    options.size);
    parser.add_text("--input", "IMAGE", "measure on this picture (PGM, PNG, JPEG)", options.input);
    parser.add_text("--output", "IMAGE", "write the blurred picture (.pgm, .png)", options.output);
    if (!parser.parse(argc, argv)) return false;
    if (!options.input.empty() && options.size.width > 0) {
        throw mf::UsageError("--size and --input exclude each other");
    }
    return true;
}
//! [options]

//! [main]
int run(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) return mf::exit_ok;
    // Files first: what cannot be read or written is found before anything is measured.
    const std::uint64_t seed = options.common.seed;
    std::vector<Input> inputs = {random_input(5, 5, seed), random_input(1, 1, seed),
                                 random_input(1003, 769, seed)};
    if (options.size.width > 0) {
        inputs.push_back(random_input(options.size.width, options.size.height, seed));
    }
    if (!options.input.empty()) {
        mf::GrayImage picture = mf::load_image(options.input);
        const std::string name = size_text(picture.width, picture.height) + " " + options.input;
        inputs.push_back({name, std::move(picture)});
    }
    mf::refuse_one_file(options.common.json, options.input, "--input");
    mf::refuse_one_file(options.common.json, options.output, "--output");
    const mf::RecordFile record_file(options.common.json);
    std::optional<mf::ImageFile> output;
    if (!options.output.empty()) output.emplace(options.output);

    const mf::DeviceInfo device = mf::pick_device(options.common.device);
    std::ostream& out = mf::report_stream(options.common);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    mf::Record record("box_blur", argc, argv, device, options.common);

    mf::GrayImage expected;
    for (const Input& input : inputs) {
        expected = blur_reference(input.picture);
        record.add_checks(check_versions(out, input, expected, stream), "before timing");
    }

    // The last input is the one to measure.
    const Input& measured = inputs.back();
    const std::size_t pixels = measured.picture.pixels.size();
    record.set_input(measured.name, {{"width", measured.picture.width},
                                     {"height", measured.picture.height},
                                     {"picture", options.input}});
    const mf::Ceilings ceilings = mf::measure_ceilings(stream, device);
    record.set_ceilings(ceilings);
    mf::print_ceilings(out, ceilings);

    const mf::MeasurePlan& plan = options.common.plan;
    const auto kernels = measure_kernels(measured, expected, plan, stream, record);
    const auto roundtrips = measure_roundtrips(measured, expected, plan, stream, record);

    out << "\nMeasured on " << measured.name << "\n\n";
    report_kernels(out, kernels, pixels, ceilings, record);
    report_verdict(out, "kernel ms", kernels, options.common, record);
    out << "\n";
    mf::print_series(out, "roundtrip ms", roundtrips);
    record.add_series("roundtrip ms", roundtrips);
    report_verdict(out, "roundtrip ms", roundtrips, options.common, record);

    if (output) output->write(expected);  // what both versions computed, pixel by pixel
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
