//! [question]
// vector_add: what does reading four floats at once buy?
//
// y = a + b for long arrays, the plainest kernel there is, and a claim about it that is often read:
// with float4 the share of the memory's bandwidth rises from 35 % to 92 %, and the time falls to a
// third. This program measures it, beside the other advice that comes with it (no boundary branch,
// aligned arrays), and shows under which condition float4 does bring so much.
//
// Build and run, from the folder that holds common/ and chapters/:
//
//     f=chapters/05_vector_add/vector_add.cu
//     nvcc -O2 -std=c++17 -arch=native -I common $f -o vector_add
//     ./vector_add
//     ./vector_add --n 33554432 --cold
//
// Versions:
//     scalar          one element a thread
//     exact           the same without the boundary branch, which an n of whole blocks allows
//     blocked         four neighbouring elements a thread, one after the other
//     float4          four neighbouring elements a thread, by one 16-byte access
//     scalar_shifted  scalar on arrays that begin 4 bytes behind a 16-byte boundary
//     float4_shifted  float4 on such arrays
//     scalar_few      so few threads that few bytes are under way: one block a multiprocessor
//     float4_few      as few threads, with four times the bytes under way
//
// The order of the file is the order of the work: reference, kernels, launchers, check, measure,
// report, main.
//! [question]

//! [includes]
#include "add_kernel.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
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

using namespace vector_add;
//! [includes]

//! [reference]
/// What n elements of y must hold, where a begins `a_offset` elements into its array and b
/// `b_offset`. A sum of two floats is rounded once, on every machine alike: the comparison needs no
/// tolerance.
std::vector<float> add_reference(const std::vector<float>& a, std::size_t a_offset,
                                 const std::vector<float>& b, std::size_t b_offset, std::size_t n) {
    std::vector<float> y(n);
    for (std::size_t i = 0; i < n; ++i)
        y[i] = a[a_offset + i] + b[b_offset + i];
    return y;
}

std::vector<float> random_floats(std::size_t n, std::uint64_t seed) {
    mf::Random random(seed);
    std::vector<float> values(n);
    for (float& value : values)
        value = random.uniform(-1, 1);
    return values;
}
//! [reference]

//! [exact]
/// As add_scalar, for grids of exactly n threads.
__global__ void add_exact(const float* __restrict__ a, const float* __restrict__ b,
                          float* __restrict__ y) {
    const std::size_t i = thread_index();
    y[i] = a[i] + b[i];
}
//! [exact]

//! [blocked]
/// Four neighbouring elements a thread. What is near for one thread is far for a warp: its 32
/// threads touch places 16 bytes apart at the same time.
__global__ void add_blocked(std::size_t n, const float* __restrict__ a, const float* __restrict__ b,
                            float* __restrict__ y) {
    const std::size_t first = 4 * thread_index();
    for (std::size_t i = first; i < first + 4; ++i) {
        if (i < n) y[i] = a[i] + b[i];
    }
}
//! [blocked]

//! [float4]
__device__ float4 sum(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// The same four elements a thread, by 16-byte accesses, which must begin at a multiple of 16
/// bytes: `head` elements, up to three, lie before the first such address. They and the up to three
/// behind the last whole float4 are left over; the first threads take one of them each.
__global__ void add_float4(std::size_t n, std::size_t head, const float* __restrict__ a,
                           const float* __restrict__ b, float* __restrict__ y) {
    const std::size_t i = thread_index();
    const std::size_t vectors = (n - head) / 4;
    if (i < vectors) {
        const float4 as = reinterpret_cast<const float4*>(a + head)[i];
        const float4 bs = reinterpret_cast<const float4*>(b + head)[i];
        reinterpret_cast<float4*>(y + head)[i] = sum(as, bs);
    }
    if (i < n - 4 * vectors) {
        const std::size_t left_over = i < head ? i : 4 * vectors + i;
        y[left_over] = a[left_over] + b[left_over];
    }
}
//! [float4]

//! [few]
/// Any number of threads covers n elements. Without unrolling, so that a thread waits for its two
/// loads before it asks for the next two.
__global__ void add_scalar_loop(std::size_t n, const float* __restrict__ a,
                                const float* __restrict__ b, float* __restrict__ y) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (std::size_t i = thread_index(); i < n; i += stride)
        y[i] = a[i] + b[i];
}

/// The same by 16-byte accesses; all arrays begin at a multiple of 16 bytes.
__global__ void add_float4_loop(std::size_t n, const float* __restrict__ a,
                                const float* __restrict__ b, float* __restrict__ y) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (std::size_t i = thread_index(); i < n / 4; i += stride) {
        const float4 as = reinterpret_cast<const float4*>(a)[i];
        const float4 bs = reinterpret_cast<const float4*>(b)[i];
        reinterpret_cast<float4*>(y)[i] = sum(as, bs);
    }
    const std::size_t left_over = n / 4 * 4 + thread_index();
    if (left_over < n) y[left_over] = a[left_over] + b[left_over];
}
//! [few]

//! [launchers]
unsigned blocks_for(std::size_t all_threads) {
    return static_cast<unsigned>((all_threads + threads - 1) / threads);
}

/// Elements before the first 16-byte boundary.
std::size_t elements_to_boundary(const float* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    return (16 - address % 16) % 16 / sizeof(float);
}

bool misaligned_alike(const float* a, const float* b, const float* y) {
    return elements_to_boundary(a) == elements_to_boundary(y) &&
           elements_to_boundary(b) == elements_to_boundary(y);
}

/// All launchers have this signature, and do nothing for n = 0: a grid of no blocks is an error.
using Launcher = std::function<void(std::size_t n, const float* a, const float* b, float* y,
                                    cudaStream_t stream)>;

void launch_scalar(std::size_t n, const float* a, const float* b, float* y, cudaStream_t stream) {
    if (n == 0) return;
    add_scalar<<<blocks_for(n), threads, 0, stream>>>(n, a, b, y);
    CUDA_CHECK_LAUNCH();
}

/// Only for an n of whole blocks.
void launch_exact(std::size_t n, const float* a, const float* b, float* y, cudaStream_t stream) {
    if (n == 0) return;
    add_exact<<<blocks_for(n), threads, 0, stream>>>(a, b, y);
    CUDA_CHECK_LAUNCH();
}

void launch_blocked(std::size_t n, const float* a, const float* b, float* y, cudaStream_t stream) {
    if (n == 0) return;
    add_blocked<<<blocks_for((n + 3) / 4), threads, 0, stream>>>(n, a, b, y);
    CUDA_CHECK_LAUNCH();
}

/// Where the three arrays are not misaligned alike, no start suits all, and scalar does the work.
void launch_float4(std::size_t n, const float* a, const float* b, float* y, cudaStream_t stream) {
    if (n == 0) return;
    if (!misaligned_alike(a, b, y)) return launch_scalar(n, a, b, y, stream);
    const std::size_t head = std::min(elements_to_boundary(y), n);
    const std::size_t vectors = (n - head) / 4;
    const unsigned blocks = blocks_for(std::max(vectors, n - 4 * vectors));
    add_float4<<<blocks, threads, 0, stream>>>(n, head, a, b, y);
    CUDA_CHECK_LAUNCH();
}

void launch_scalar_few(unsigned blocks, std::size_t n, const float* a, const float* b, float* y,
                       cudaStream_t stream) {
    if (n == 0) return;
    add_scalar_loop<<<blocks, threads, 0, stream>>>(n, a, b, y);
    CUDA_CHECK_LAUNCH();
}

void launch_float4_few(unsigned blocks, std::size_t n, const float* a, const float* b, float* y,
                       cudaStream_t stream) {
    if (n == 0) return;
    if (!misaligned_alike(a, b, y) || elements_to_boundary(y) != 0) {
        return launch_scalar_few(blocks, n, a, b, y, stream);
    }
    add_float4_loop<<<blocks, threads, 0, stream>>>(n, a, b, y);
    CUDA_CHECK_LAUNCH();
}
//! [launchers]

//! [versions]
struct Version {
    std::string name;
    std::string baseline;  ///< what it is compared with; none for the first
    std::size_t offset;    ///< of all three arrays when timed, in elements behind a boundary
    bool whole_blocks;     ///< only for an n that is a multiple of a block's threads
    Launcher launch;

    bool can(std::size_t n) const { return !whole_blocks || n % threads == 0; }
};

std::vector<Version> versions_for(const mf::DeviceInfo& device) {
    const auto blocks = static_cast<unsigned>(device.multiprocessors);
    using namespace std::placeholders;
    const Launcher scalar_few = std::bind(launch_scalar_few, blocks, _1, _2, _3, _4, _5);
    const Launcher float4_few = std::bind(launch_float4_few, blocks, _1, _2, _3, _4, _5);
    return {{"scalar", "", 0, false, launch_scalar},
            {"exact", "scalar", 0, true, launch_exact},
            {"blocked", "scalar", 0, false, launch_blocked},
            {"float4", "scalar", 0, false, launch_float4},
            {"scalar_shifted", "scalar", 1, false, launch_scalar},
            {"float4_shifted", "float4", 1, false, launch_float4},
            {"scalar_few", "scalar", 0, false, scalar_few},
            {"float4_few", "scalar_few", 0, false, float4_few}};
}
//! [versions]

//! [output]
/// What a poisoned buffer holds, read as floats.
float poisoned_float() {
    const std::uint32_t bits = 0xA5A5A5A5u;
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/// An output array that begins `offset` elements behind a 16-byte boundary, with elements on either
/// side that nobody may touch.
class Output {
public:
    Output(std::size_t n, std::size_t offset) : begin_(guard + offset), buffer_(n + 2 * guard) {
        buffer_.poison();
    }

    float* get() const { return buffer_.get() + begin_; }

    /// Every element, those beside the array included.
    mf::CheckResult check(const std::string& name, const std::vector<float>& expected) const {
        const auto begin = static_cast<std::ptrdiff_t>(begin_);
        std::vector<float> whole(buffer_.size(), poisoned_float());
        std::copy(expected.begin(), expected.end(), whole.begin() + begin);
        return mf::check_equal(name, whole, buffer_.download(), [begin](std::size_t i) {
            return "y[" + std::to_string(static_cast<std::ptrdiff_t>(i) - begin) + "]";
        });
    }

private:
    static constexpr std::size_t guard = 8;  // more than the largest offset

    std::size_t begin_;
    mf::DeviceBuffer<float> buffer_;
};

/// Inputs, longer by the largest offset.
struct Inputs {
    std::vector<float> host_a;
    std::vector<float> host_b;
    mf::DeviceBuffer<float> a;
    mf::DeviceBuffer<float> b;

    Inputs(std::size_t n, std::uint64_t seed)
        : host_a(random_floats(n + 3, seed)),
          host_b(random_floats(n + 3, seed + 1)),
          a(host_a),
          b(host_b) {}
};
//! [output]

//! [check]
/// How far each array begins behind a 16-byte boundary, in elements.
struct Offsets {
    std::size_t a;
    std::size_t b;
    std::size_t y;
};

/// Runs every version once. Keeps the first failure of each version in `results`.
void check_versions(const std::vector<Version>& versions, std::size_t n, const Offsets& offsets,
                    std::uint64_t seed, cudaStream_t stream,
                    std::vector<mf::CheckResult>& results) {
    const Inputs inputs(n, seed);
    const auto expected = add_reference(inputs.host_a, offsets.a, inputs.host_b, offsets.b, n);
    for (std::size_t v = 0; v < versions.size(); ++v) {
        if (!versions[v].can(n) || !results[v].passed) continue;
        const Output y(n, offsets.y);
        versions[v].launch(n, inputs.a.get() + offsets.a, inputs.b.get() + offsets.b, y.get(),
                           stream);
        results[v] = y.check(versions[v].name, expected);
        if (results[v].passed) continue;
        results[v].message = "n = " + std::to_string(n) + ", a, b and y " +
                             std::to_string(offsets.a) + ", " + std::to_string(offsets.b) +
                             " and " + std::to_string(offsets.y) +
                             " elements behind a 16-byte boundary: " + results[v].message;
    }
}

/// Sizes around the borders of a vector, of a warp and of a block, with arrays misaligned alike and
/// not alike; then the size that is measured.
std::vector<mf::CheckResult> check_all_sizes(const std::vector<Version>& versions, std::size_t n,
                                             std::uint64_t seed, cudaStream_t stream) {
    std::vector<mf::CheckResult> results;
    for (const Version& version : versions)
        results.push_back({version.name, true, ""});
    for (const std::size_t small :
         {0, 1, 2, 3, 4, 5, 7, 31, 32, 33, 127, 129, 255, 256, 257, 1023, 1024, 1025}) {
        for (const Offsets& offsets : {Offsets{0, 0, 0}, Offsets{1, 1, 1}, Offsets{2, 2, 2},
                                       Offsets{3, 3, 3}, Offsets{0, 1, 0}, Offsets{0, 0, 1}}) {
            check_versions(versions, small, offsets, seed, stream, results);
        }
    }
    check_versions(versions, n, {0, 0, 0}, seed, stream, results);
    check_versions(versions, n, {1, 1, 1}, seed, stream, results);
    return results;
}
//! [check]

//! [measure]
/// Times all versions on the same inputs, each with an output of its own, and verifies what the
/// timed launches left there.
std::vector<mf::Series> measure_versions(const std::vector<Version>& versions, std::size_t n,
                                         const mf::CommonOptions& options, cudaStream_t stream,
                                         mf::Record& record) {
    const Inputs inputs(n, options.seed);
    std::vector<Output> outputs;
    std::vector<mf::Variant> variants;
    for (const Version& version : versions) {
        outputs.emplace_back(n, version.offset);
        variants.push_back({version.name, "one launch, arrays in device memory",
                            [&, y = outputs.back().get()](cudaStream_t s) {
                                const float* const a = inputs.a.get() + version.offset;
                                const float* const b = inputs.b.get() + version.offset;
                                version.launch(n, a, b, y, s);
                            }});
    }
    auto series = mf::measure_variants(options.plan, stream, variants);

    for (std::size_t v = 0; v < versions.size(); ++v) {
        const std::size_t offset = versions[v].offset;
        const auto expected = add_reference(inputs.host_a, offset, inputs.host_b, offset, n);
        const auto check = outputs[v].check(versions[v].name, expected);
        record.add_check(check, "after timing");
        mf::require(check);
    }
    return series;
}
//! [measure]

//! [report]
const mf::Series& series_of(const std::string& name, const std::vector<mf::Series>& series) {
    return *std::find_if(series.begin(), series.end(),
                         [&name](const mf::Series& one) { return one.name == name; });
}

/// Twelve bytes an element: a and b in, y out. Then each version against its baseline.
void report(std::ostream& out, const std::vector<Version>& versions,
            const std::vector<mf::Series>& series, std::size_t n, const mf::Ceilings& ceilings,
            const mf::CommonOptions& options, mf::Record& record) {
    const std::string label = "kernel ms, n=" + std::to_string(n);
    std::vector<std::optional<mf::Rate>> rates;
    for (const mf::Series& one : series)
        rates.push_back(mf::rate_of(one, 12 * static_cast<double>(n), ceilings));
    mf::print_series(out, "kernel ms", series, rates);
    record.add_series(label, series, rates);
    for (std::size_t v = 0; v < versions.size(); ++v) {
        if (versions[v].baseline.empty()) continue;
        const auto comparison = mf::compare(series_of(versions[v].baseline, series), series[v],
                                            options.plan.order, options.seed);
        mf::print_comparison(out, comparison);
        record.add_comparison(label, comparison);
    }
}

/// The claim, and what it is here.
void report_claim(std::ostream& out, const std::vector<mf::Series>& series, std::size_t n,
                  const mf::Ceilings& ceilings) {
    const double bytes = 12 * static_cast<double>(n);
    const auto here = [&](const std::string& from, const std::string& to) {
        const mf::Series& before = series_of(from, series);
        const mf::Series& after = series_of(to, series);
        const auto share = [&](const mf::Series& one) {
            const auto rate = mf::rate_of(one, bytes, ceilings);
            return mf::percent_text(rate ? rate->percent_of_data_sheet : std::nullopt);
        };
        return share(before) + " -> " + share(after) + ", " +
               mf::fixed(mf::median(after.ms) / mf::median(before.ms), 2) + " of the time";
    };
    if (!mf::reason_for_no_rates().empty()) return;
    out << "Claimed for float4: 35 % -> 92 % of the data sheet, 0.33 of the time.\n"
        << "Here, with n=" << n << ": " << here("scalar", "float4") << "; with few threads "
        << here("scalar_few", "float4_few") << (series[0].emulated ? " (emulated)" : "") << ".\n";
}
//! [report]

//! [main]
/// The size of the claim, whose arrays fit many a GPU's L2 cache, and one that fits none.
const std::vector<std::size_t> default_sizes = {1u << 20, 1u << 25};

/// The second size is left out where a launch on the first takes longer than this.
constexpr double longest_launch_ms = 1;

/// The longest n: its arrays take 192 GiB.
constexpr std::uint64_t most_elements = std::uint64_t{1} << 34;

int run(int argc, char** argv) {
    mf::CommonOptions options;
    std::optional<std::size_t> only;
    mf::OptionParser parser("vector_add", "y = a + b, one and four elements at once");
    parser.add_common(options);
    parser.add_value(
        "--n", "N", "elements of a, b and y; measure this many only", "",
        [&only](const std::string& text) {
            std::uint64_t value = 0;
            const bool valid = mf::parse_whole(text, 0, most_elements, value);
            if (valid) only = value;
            return valid;
        },
        "a whole number from 0 to " + std::to_string(most_elements));
    if (!parser.parse(argc, argv)) return mf::exit_ok;
    const mf::RecordFile record_file(options.json);

    const mf::DeviceInfo device = mf::pick_device(options.device);
    std::ostream& out = mf::report_stream(options);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    mf::Record record("vector_add", argc, argv, device, options);
    const std::vector<Version> all = versions_for(device);

    mf::Json measured = mf::Json::array();
    std::optional<mf::Ceilings> ceilings;
    for (const std::size_t n : only ? std::vector<std::size_t>{*only} : default_sizes) {
        std::vector<Version> versions;
        std::copy_if(all.begin(), all.end(), std::back_inserter(versions),
                     [n](const Version& version) { return version.can(n); });
        const auto checks = check_all_sizes(versions, n, options.seed, stream);
        out << "n=" << n << ": " << mf::checks_line(checks) << "\n";
        record.add_checks(checks, "before timing");
        for (const mf::CheckResult& check : checks)
            mf::require(check);
        measured.push(n);
        if (versions.size() < all.size()) {
            out << "exact is left out: n is not a multiple of " << threads << ".\n";
        }
        if (n == 0) {
            out << "There is nothing to add: no time, no rate.\n";
            break;
        }
        if (!ceilings) {
            ceilings = mf::measure_ceilings(stream, device);
            record.set_ceilings(*ceilings);
        }
        const auto series = measure_versions(versions, n, options, stream, record);
        out << "\nMeasured with n=" << n << "\n\n";
        mf::print_ceilings(out, *ceilings);
        out << "\n";
        report(out, versions, series, n, *ceilings, options, record);
        report_claim(out, series, n, *ceilings);
        if (!only && mf::median(series[0].ms) > longest_launch_ms) break;
    }
    record.set_input("random floats from -1 to 1", {{"n", measured}});
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
