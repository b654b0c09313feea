//! [twin question]
// block_clock_nvrtc: does a kernel that is compiled while the program runs do as well?
//
// NVRTC is nvcc's compiler as a library. Here it gets the kernel of block_clock as a text, which is
// part of this program, so that it runs from any folder and needs no other file. The result is
// loaded through the driver and held against the kernel that nvcc compiled beforehand.
//
// Build and run, from the folder that holds common/ and chapters/:
//
//     f=chapters/10_block_clock/block_clock_nvrtc.cu
//     nvcc -O2 -std=c++17 -arch=native -I common $f -o block_clock_nvrtc
//     ./block_clock_nvrtc
//     ./block_clock_nvrtc --nvrtc /usr/local/cuda/lib64/libnvrtc.so
//
// The libraries of NVRTC and of the driver are loaded by name when the program runs: it can be
// built without a further option, and it can say what is missing (exit status 77).
//
// Variants:
//     nvcc   the kernel as it was compiled with the program
//     nvrtc  the same text, compiled now for the device that is there
//
// The order of the file is the order of the work: the text, the libraries, compile, load, check,
// measure, report, main.
//! [twin question]

//! [twin includes]
#include "timed_reduction.cuh"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "cache.hpp"
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
//! [twin includes]

//! [embedded]
/// The kernel of timed_reduction.cuh, letter for letter: a test compares the two.
const char* const embedded_source = R"cuda(
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
)cuda";
//! [embedded]

//! [library]
/// A shared library, loaded by name while the program runs.
class Library {
public:
    /// Null where it cannot be loaded.
    static std::shared_ptr<Library> try_load(const std::string& name) {
        void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        return handle == nullptr ? nullptr : std::shared_ptr<Library>(new Library(name, handle));
    }
    ~Library() { dlclose(handle_); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    const std::string& name() const { return name_; }

    /// Sets `function` to the library's function of this name.
    template <typename Function>
    void find(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(dlsym(handle_, name));
        if (function == nullptr) {
            throw mf::NoDevice(name_ + " has no function " + name + ": it is too old");
        }
    }

private:
    Library(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}

    std::string name_;
    void* handle_;
};
//! [library]

//! [find nvrtc]
/// Where NVRTC may lie: first the version of CUDA that the program was built with, which the driver
/// certainly takes; where the loader looks, then in the toolkit's usual folders.
std::vector<std::string> nvrtc_names() {
    int runtime = 0;
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    const int major = runtime / 1000;
    std::vector<std::string> folders = {""};
    for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char* const folder = std::getenv(variable);
        if (folder != nullptr && *folder != '\0')
            folders.push_back(std::string(folder) + "/lib64/");
    }
    folders.push_back("/usr/local/cuda/lib64/");
    std::vector<std::string> names;
    for (const std::string& folder : folders) {
        // The libraries of CUDA 11.3 and later 11s all call themselves 11.2.
        names.push_back(folder + "libnvrtc.so." + (major == 11 ? "11.2" : std::to_string(major)));
        names.push_back(folder + "libnvrtc.so");
    }
    return names;
}

/// `wanted`: the library's file; empty: the first one found.
std::shared_ptr<Library> load_nvrtc(const std::string& wanted) {
    const auto names = wanted.empty() ? nvrtc_names() : std::vector<std::string>{wanted};
    std::string tried;
    for (const std::string& name : names) {
        if (auto library = Library::try_load(name)) return library;
        tried += (tried.empty() ? "" : ", ") + name;
    }
    throw mf::NoDevice("NVRTC, the run-time compiler, is missing (tried " + tried +
                       "): it comes with the CUDA toolkit; name its file with --nvrtc, or its "
                       "folder in LD_LIBRARY_PATH");
}
//! [find nvrtc]

//! [nvrtc]
/// The functions of nvrtc.h that are needed here, with the types that pass for its own: a result is
/// an enumeration (0: success), a program is a pointer.
class Nvrtc {
public:
    using Program = void*;

    explicit Nvrtc(const std::string& wanted) : library(load_nvrtc(wanted)) {
        library->find("nvrtcVersion", version);
        library->find("nvrtcGetErrorString", error_string);
        library->find("nvrtcGetNumSupportedArchs", supported_count);
        library->find("nvrtcGetSupportedArchs", supported);
        library->find("nvrtcCreateProgram", create);
        library->find("nvrtcDestroyProgram", destroy);
        library->find("nvrtcCompileProgram", compile);
        library->find("nvrtcGetProgramLogSize", log_size);
        library->find("nvrtcGetProgramLog", log);
        library->find("nvrtcGetCUBINSize", cubin_size);
        library->find("nvrtcGetCUBIN", cubin);
        library->find("nvrtcGetPTXSize", ptx_size);
        library->find("nvrtcGetPTX", ptx);
    }

    void require(int result, const std::string& what) const {
        if (result != 0) throw std::runtime_error(what + ": NVRTC: " + error_string(result));
    }

    std::shared_ptr<Library> library;
    int (*version)(int* major, int* minor);
    const char* (*error_string)(int result);
    int (*supported_count)(int* count);
    int (*supported)(int* architectures);
    int (*create)(Program*, const char* source, const char* name, int headers,
                  const char* const* header_texts, const char* const* header_names);
    int (*destroy)(Program*);
    int (*compile)(Program, int count, const char* const* options);
    int (*log_size)(Program, std::size_t*);
    int (*log)(Program, char*);
    int (*cubin_size)(Program, std::size_t*);
    int (*cubin)(Program, char*);
    int (*ptx_size)(Program, std::size_t*);
    int (*ptx)(Program, char*);
};
//! [nvrtc]

//! [architecture]
/// What to compile for: machine code for the device if this NVRTC knows it ("sm_90"), else PTX for
/// the newest architecture before it that it knows ("compute_90"), which the driver compiles on.
std::string architecture_for(const Nvrtc& nvrtc, const mf::DeviceInfo& device) {
    int count = 0;
    nvrtc.require(nvrtc.supported_count(&count), "the list of architectures");
    std::vector<int> known(static_cast<std::size_t>(count));
    nvrtc.require(nvrtc.supported(known.data()), "the list of architectures");
    const int own = 10 * device.compute_major + device.compute_minor;
    int best = 0;
    for (const int one : known) {
        if (one <= own) best = std::max(best, one);
    }
    if (best == 0) {
        throw std::runtime_error("this NVRTC knows no architecture as old as compute capability " +
                                 device.compute_capability() + ": take that of an older toolkit");
    }
    return (best == own ? "sm_" : "compute_") + std::to_string(best);
}
//! [architecture]

//! [compile]
/// Compiles the text; the result is machine code, or PTX with a 0 at its end. What the compiler has
/// to say about mistakes becomes part of the exception.
std::vector<char> compile(const Nvrtc& nvrtc, const std::string& source,
                          const std::string& architecture) {
    Nvrtc::Program program = nullptr;
    nvrtc.require(nvrtc.create(&program, source.c_str(), "timed_reduction.cu", 0, nullptr, nullptr),
                  "create");
    const std::unique_ptr<Nvrtc::Program, std::function<void(Nvrtc::Program*)>> owner(
        &program, [&nvrtc](Nvrtc::Program* p) { nvrtc.destroy(p); });

    const std::string target = "--gpu-architecture=" + architecture;
    const char* const options[] = {target.c_str(), "--std=c++17"};
    const int result = nvrtc.compile(program, 2, options);
    if (result != 0) {
        std::size_t size = 0;
        nvrtc.require(nvrtc.log_size(program, &size), "the compiler's messages");
        std::string log(size, '\0');
        nvrtc.require(nvrtc.log(program, &log[0]), "the compiler's messages");
        throw std::runtime_error(std::string("NVRTC: ") + nvrtc.error_string(result) + ": " +
                                 log.c_str());
    }

    const bool machine_code = architecture.compare(0, 3, "sm_") == 0;
    std::size_t size = 0;
    nvrtc.require((machine_code ? nvrtc.cubin_size : nvrtc.ptx_size)(program, &size), "code size");
    std::vector<char> code(size);
    nvrtc.require((machine_code ? nvrtc.cubin : nvrtc.ptx)(program, code.data()), "code");
    return code;
}
//! [compile]

//! [driver]
/// The driver's own interface, which takes code that was compiled elsewhere; the runtime of CUDA
/// rests on the same context. As above: a result is an enumeration, the handles are pointers.
class Driver {
public:
    using Module = void*;
    using Function = void*;

    Driver() : library_(Library::try_load("libcuda.so.1")) {
        if (!library_) throw mf::NoDevice("no usable CUDA device: libcuda.so.1 is missing");
        library_->find("cuGetErrorString", error_string_);
        library_->find("cuModuleLoadData", load);
        library_->find("cuModuleUnload", unload);
        library_->find("cuModuleGetFunction", get_function);
        library_->find("cuFuncGetAttribute", get_attribute);
        library_->find("cuLaunchKernel", launch);
    }

    void require(int result, const std::string& what) const {
        if (result == 0) return;
        const char* text = nullptr;
        if (error_string_(result, &text) != 0) text = "unknown error";
        throw std::runtime_error(what + ": CUDA driver: " + text);
    }

    int (*load)(Module*, const void* code);
    int (*unload)(Module);
    int (*get_function)(Function*, Module, const char* name);
    int (*get_attribute)(int* value, int attribute, Function);
    int (*launch)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                  unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
                  void** parameters, void** extra);

private:
    std::shared_ptr<Library> library_;
    int (*error_string_)(int result, const char** text);
};
//! [driver]

//! [loaded kernel]
/// The compiled kernel in the current context.
class LoadedKernel {
public:
    LoadedKernel(const Driver& driver, const std::vector<char>& code) : driver_(driver) {
        driver_.require(driver_.load(&module_, code.data()), "loading the compiled code");
        driver_.require(driver_.get_function(&function_, module_, "timed_reduction"),
                        "looking for timed_reduction in the compiled code");
    }
    ~LoadedKernel() { driver_.unload(module_); }
    LoadedKernel(const LoadedKernel&) = delete;
    LoadedKernel& operator=(const LoadedKernel&) = delete;

    /// The parameters are handed over by their addresses: nobody checks their types.
    void launch(const Configuration& c, const float* input, float* output, BlockTimes* times,
                cudaStream_t stream) const {
        unsigned step = c.segment_step();
        void* parameters[] = {&input, &output, &times, &step};
        driver_.require(
            driver_.launch(function_, c.blocks, 1, 1, c.threads, 1, 1,
                           static_cast<unsigned>(c.shared_bytes()), stream, parameters, nullptr),
            "launch of the compiled kernel");
    }

    int registers() const {
        constexpr int number_of_registers = 4;  // CU_FUNC_ATTRIBUTE_NUM_REGS
        int value = 0;
        driver_.require(driver_.get_attribute(&value, number_of_registers, function_), "registers");
        return value;
    }

private:
    const Driver& driver_;
    Driver::Module module_ = nullptr;
    Driver::Function function_ = nullptr;
};
//! [loaded kernel]

//! [twin versions]
using Launch =
    std::function<void(const Configuration&, const float*, float*, BlockTimes*, cudaStream_t)>;

/// A version with what it writes, and what was measured on it.
struct Version {
    Configuration configuration;
    Launch launch;
    mf::DeviceBuffer<float> output;
    mf::DeviceBuffer<BlockTimes> times;
    std::vector<double> average_clocks;  ///< one a sample

    void poison() {
        output.poison();
        times.poison();
    }
};

Version version_of(const std::string& name, Configuration configuration, Launch launch) {
    configuration.name = name;
    Version version{configuration,
                    std::move(launch),
                    mf::DeviceBuffer<float>(configuration.blocks),
                    mf::DeviceBuffer<BlockTimes>(configuration.blocks),
                    {}};
    version.poison();
    return version;
}
//! [twin versions]

//! [twin check]
std::vector<mf::CheckResult> check_versions(std::vector<Version>& versions,
                                            const std::vector<float>& input, int multiprocessors) {
    std::vector<mf::CheckResult> checks;
    for (Version& one : versions) {
        checks.push_back(block_clock::check_blocks(one.configuration, input, one.output.download(),
                                                   one.times.download(), multiprocessors));
        one.poison();
    }
    return checks;
}

void require_all(const std::vector<mf::CheckResult>& checks, mf::Record& record) {
    record.add_checks(checks, "after timing");
    for (const mf::CheckResult& check : checks)
        mf::require(check);
}
//! [twin check]

//! [twin measure]
std::vector<mf::Series> measure_kernels(const std::vector<Version>& versions, const float* input,
                                        const mf::MeasurePlan& plan, cudaStream_t stream) {
    std::vector<mf::Variant> variants;
    for (const Version& one : versions) {
        variants.push_back({one.configuration.name, "one launch; input in device memory",
                            [&one, input](cudaStream_t s) {
                                one.launch(one.configuration, input, one.output.get(),
                                           one.times.get(), s);
                            }});
    }
    return mf::measure_variants(plan, stream, variants);
}

/// The blocks' own clocks, of the second of two launches, as in block_clock.
void measure_clocks(std::vector<Version>& versions, const float* input, const mf::MeasurePlan& plan,
                    cudaStream_t stream) {
    std::optional<mf::CacheFlusher> flusher;
    if (plan.cold) flusher.emplace();
    const int repeats = mf::attached_tool().empty() ? plan.repeats : 1;
    for (int round = 0; round < repeats; ++round) {
        for (std::size_t k = 0; k < versions.size(); ++k) {
            Version& one = versions[round % 2 == 0 ? k : versions.size() - 1 - k];
            const auto launch = [&one, input, stream] {
                one.launch(one.configuration, input, one.output.get(), one.times.get(), stream);
            };
            launch();
            if (flusher) flusher->flush(stream);
            launch();
            one.average_clocks.push_back(block_clock::average_clocks(one.times.download()));
        }
    }
}
//! [twin measure]

//! [compile time]
/// compile ms: from the text to code in memory. The first time is apart, as that of a first launch.
mf::Series measure_compiling(const Nvrtc& nvrtc, const std::string& architecture,
                             const mf::MeasurePlan& plan) {
    mf::MeasurePlan few;
    few.repeats = std::min(plan.repeats, 5);
    few.inner = 1;
    few.warm_up_ms = 0;
    return mf::measure_host(few, "nvrtc", "compile the embedded text", [&nvrtc, &architecture] {
        compile(nvrtc, embedded_source, architecture);
    });
}
//! [compile time]

//! [twin report]
void report(std::ostream& out, const std::vector<Version>& versions,
            const std::vector<mf::Series>& series, const mf::Series& compiling,
            const std::vector<int>& registers, const std::optional<double>& mhz) {
    out << "\n";
    mf::print_series(out, "compile ms", {compiling});
    out << "\n";
    mf::print_series(out, "kernel ms", series);
    out << "\n";
    for (std::size_t i = 0; i < versions.size(); ++i) {
        const mf::Summary clocks = mf::summarize(versions[i].average_clocks);
        out << versions[i].configuration.name
            << ": Average clocks/block = " << mf::fixed(clocks.median, 1) << " (p05 "
            << mf::fixed(clocks.p05, 1) << ", p95 " << mf::fixed(clocks.p95, 1) << ")";
        if (mhz) {
            out << ", at the measured " << mf::fixed(*mhz, 0) << " MHz "
                << mf::readable(clocks.median / *mhz) << " us";
        }
        out << "; " << registers[i] << " registers a thread\n";
    }
    if (!mf::reason_for_no_rates().empty()) return;
    out << "Compiling once takes as long as "
        << mf::fixed(mf::median(compiling.ms) / mf::median(series.back().ms), 0)
        << " launches of the kernel.\n";
}
//! [twin report]

//! [twin options]
struct Options {
    mf::CommonOptions common;
    Configuration configuration;
    bool fastest = false;
    std::string nvrtc;
};

bool parse(int argc, char** argv, Options& options) {
    mf::OptionParser parser("block_clock_nvrtc",
                            "block_clock with its kernel compiled while the program runs");
    parser.add_common(options.common);
    parser.add_flag("--fastest", "take the device with the most SMs x clock instead of --device",
                    options.fastest);
    parser.add_number("--blocks", "N", "blocks of the grid", options.configuration.blocks, 1,
                      65535);
    parser.add_number("--threads", "N", "threads of a block", options.configuration.threads, 1,
                      1024);
    parser.add_text("--nvrtc", "FILE", "the library of NVRTC (else: search)", options.nvrtc);
    return parser.parse(argc, argv);
}
//! [twin options]

//! [twin main]
int run(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) return mf::exit_ok;
    const mf::RecordFile record_file(options.common.json);
    const mf::DeviceInfo device =
        mf::pick_device(options.fastest ? mf::fastest_device() : options.common.device);
    if (device.emulated) {
        throw mf::NoDevice(
            "run-time compilation needs a GPU: NVRTC makes no code for the emulator");
    }
    const Nvrtc nvrtc(options.nvrtc);
    const Driver driver;
    const std::string architecture = architecture_for(nvrtc, device);
    const std::vector<char> code = compile(nvrtc, embedded_source, architecture);
    const LoadedKernel kernel(driver, code);

    std::ostream& out = mf::report_stream(options.common);
    mf::print_conditions(out, device);
    int major = 0;
    int minor = 0;
    nvrtc.require(nvrtc.version(&major, &minor), "version");
    const std::string version = std::to_string(major) + "." + std::to_string(minor);
    out << "NVRTC " << version << " (" << nvrtc.library->name() << "): " << architecture << ", "
        << code.size() << " bytes of " << (architecture[0] == 's' ? "machine code" : "PTX") << "\n";
    mf::Record record("block_clock_nvrtc", argc, argv, device, options.common);

    const mf::Stream stream;
    const Configuration& configuration = options.configuration;
    const auto input =
        block_clock::random_floats(configuration.input_floats(), options.common.seed);
    const mf::DeviceBuffer<float> on_device(input);
    record.set_input("random floats in [-1, 1)", {{"floats", input.size()},
                                                  {"blocks", configuration.blocks},
                                                  {"threads", configuration.threads}});
    std::vector<Version> versions;
    versions.push_back(version_of("nvcc", configuration, block_clock::launch));
    versions.push_back(version_of(
        "nvrtc", configuration,
        [&kernel](const Configuration& c, const float* in, float* output, BlockTimes* times,
                  cudaStream_t s) { kernel.launch(c, in, output, times, s); }));
    for (const Version& one : versions) {
        one.launch(one.configuration, on_device.get(), one.output.get(), one.times.get(), stream);
    }
    const auto checks = check_versions(versions, input, device.multiprocessors);
    record.add_checks(checks, "before timing");
    out << configuration.text() << ": " << mf::checks_line(checks) << "\n";
    for (const mf::CheckResult& check : checks)
        mf::require(check);

    const auto series = measure_kernels(versions, on_device.get(), options.common.plan, stream);
    require_all(check_versions(versions, input, device.multiprocessors), record);
    measure_clocks(versions, on_device.get(), options.common.plan, stream);
    require_all(check_versions(versions, input, device.multiprocessors), record);
    std::optional<double> mhz;
    if (mf::attached_tool().empty()) mhz = mf::sm_clock_mhz(stream);
    const mf::Series compiling = measure_compiling(nvrtc, architecture, options.common.plan);

    cudaFuncAttributes attributes{};
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, block_clock::timed_reduction));
    const std::vector<int> registers = {attributes.numRegs, kernel.registers()};
    report(out, versions, series, compiling, registers, mhz);
    const auto comparison =
        mf::compare(series[0], series[1], options.common.plan.order, options.common.seed);
    out << "kernel ms: ";
    mf::print_comparison(out, comparison);

    record.add_series("kernel ms", series);
    record.add_series("compile ms", compiling);
    record.add_comparison("kernel ms", comparison);
    record.add_extra("nvrtc", {{"version", version},
                               {"architecture", architecture},
                               {"code_bytes", code.size()},
                               {"registers_nvcc", registers[0]},
                               {"registers_nvrtc", registers[1]},
                               {"average_clocks_nvcc", versions[0].average_clocks},
                               {"average_clocks_nvrtc", versions[1].average_clocks},
                               {"sm_clock_mhz", mhz}});
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [twin main]
