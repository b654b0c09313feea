/// \file
/// The timing library against work of known length: a kernel that spins until the device's own
/// nanosecond clock has advanced so far, and notes how far that was.
///
///     nvcc -O2 -std=c++17 -arch=native -I common tests/benchmarks/timing_accuracy.cu -o
///     timing_accuracy
///
/// On a GPU the exit status is 1 if one launch of 1 ms is off by more than 1 %, or launches of 20
/// us, batched, by more than 10 %. On the emulator the table is printed and nothing is judged: the
/// computer's other work moves its times at will.
#include <cuda_runtime.h>

#include <cmath>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "check.hpp"
#include "device.hpp"
#include "options.hpp"
#include "record.hpp"
#include "stream.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

/// Spins for at least `ns` and adds what it really was to `spun`: {nanoseconds, launches}.
__global__ void spin(unsigned long long ns, unsigned long long* spun) {
    const unsigned long long start = mf::global_timer_ns();
    unsigned long long now = start;
    while (now - start < ns)
        now = mf::global_timer_ns();
    spun[0] += now - start;
    spun[1] += 1;
}

struct Trial {
    std::string name;
    double us;  ///< length of the spin
    int inner;  ///< launches a sample; 0: automatic
    std::optional<double> allowed_percent;
};

struct Outcome {
    mf::Series series;
    double spun_us = 0;  ///< mean length of a spin by the device's own clock

    double error_percent() const {
        return 100 * (mf::us_of_ms(mf::median(series.ms)) - spun_us) / spun_us;
    }
};

Outcome measure_trial(const Trial& trial, mf::MeasurePlan plan, cudaStream_t stream) {
    const auto ns = static_cast<unsigned long long>(trial.us * 1e3);
    mf::DeviceBuffer<unsigned long long> spun(std::vector<unsigned long long>(2, 0));
    plan.inner = trial.inner;
    Outcome outcome;
    outcome.series = mf::measure(plan, stream, trial.name, "a kernel that spins for a known time",
                                 [&](cudaStream_t s) {
                                     spin<<<1, 1, 0, s>>>(ns, spun.get());
                                     CUDA_CHECK_LAUNCH();
                                 });
    const auto total = spun.download();
    outcome.spun_us = static_cast<double>(total[0]) / 1e3 / static_cast<double>(total[1]);
    return outcome;
}

int run(int argc, char** argv) {
    mf::CommonOptions options;
    mf::OptionParser parser("timing_accuracy", "the timing library against work of known length");
    parser.add_common(options);
    if (!parser.parse(argc, argv)) return mf::exit_ok;
    if (options.plan.cold || options.plan.inner != 0) {
        throw mf::UsageError("this program chooses the launches a sample itself");
    }
    const mf::RecordFile file(options.json);
    std::ostream& out = mf::report_stream(options);
    const mf::DeviceInfo device = mf::pick_device(options.device);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    const mf::Ceilings ceilings = mf::measure_ceilings(stream, device);
    mf::print_ceilings(out, ceilings);

    mf::Record record("timing_accuracy", argc, argv, device, options);
    record.set_input("spins of known length");
    record.set_ceilings(ceilings);
    mf::Table table(
        {"launch", "launches", "spun us", "measured us", "error", "allowed", "verdict"});
    bool all_within = true;
    for (const Trial& trial : std::vector<Trial>{{"20 us, single", 20, 1, std::nullopt},
                                                 {"100 us, single", 100, 1, std::nullopt},
                                                 {"1 ms, single", 1000, 1, 1.0},
                                                 {"10 ms, single", 10000, 1, std::nullopt},
                                                 {"5 us, batched", 5, 0, std::nullopt},
                                                 {"20 us, batched", 20, 0, 10.0},
                                                 {"100 us, batched", 100, 0, std::nullopt}}) {
        const Outcome outcome = measure_trial(trial, options.plan, stream);
        const bool judged = trial.allowed_percent && !device.emulated;
        const bool within = std::fabs(outcome.error_percent()) <= trial.allowed_percent.value_or(0);
        const std::string verdict = !judged ? "not judged" : within ? "PASS" : "FAIL";
        table.add_row({trial.name, std::to_string(outcome.series.launches_per_sample),
                       mf::fixed(outcome.spun_us, 2),
                       mf::fixed(mf::us_of_ms(mf::median(outcome.series.ms)), 2),
                       mf::fixed(outcome.error_percent(), 2) + " %",
                       trial.allowed_percent ? mf::fixed(*trial.allowed_percent, 0) + " %" : "",
                       verdict});
        record.add_series("kernel ms", outcome.series);
        record.add_extra(trial.name, mf::Json{{"spun_us", outcome.spun_us},
                                              {"error_percent", outcome.error_percent()}});
        if (judged) {
            record.add_check({trial.name, within, within ? "" : "off by more than allowed"},
                             "after timing");
            all_within = all_within && within;
        }
    }
    table.print(out);
    out << "Median of " << options.plan.repeats
        << " samples; a single launch carries about an empty launch's time, a batch hides it.\n";
    file.write(record);
    return all_within ? mf::exit_ok : mf::exit_failed;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
