// The kernels of histogram_reduction on every size from 0 to 1025, on primes, and on more than 2^24
// pixels of 255, whose sum neither 32 bits nor a float holds. Exit status as of every program.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "device.hpp"
#include "histogram_kernels.cuh"
#include "random.hpp"
#include "stream.hpp"
#include "verify.hpp"

namespace {

/// Device memory for up to `most` pixels. Pixels beyond the size in use are 255, so that a kernel
/// that reads them is found out.
class Bench {
public:
    explicit Bench(std::size_t most)
        : most_(most),
          pixels_(most),
          counts_(histogram::bins),
          partial_(histogram::blocks_for(most) + 1) {}

    void check_sum(std::vector<unsigned char> input) {
        const std::size_t n = input.size();
        const std::uint64_t expected = histogram::sum_reference(input);
        upload(std::move(input));
        partial_.poison();
        histogram::launch_reduce_blocks(pixels_.get(), partial_.get(), n, stream_);
        std::vector<unsigned> partial = partial_.download();
        partial.resize(histogram::blocks_for(n));
        require("sum", n, std::vector<std::uint64_t>{expected},
                std::vector<std::uint64_t>{histogram::merge(partial)});
    }

    void check_histograms(const std::vector<unsigned char>& input) {
        const std::vector<unsigned> expected = histogram::histogram_reference(input);
        const std::size_t n = input.size();
        upload(input);
        for (const auto kernel : {histogram::histogram_global, histogram::histogram_block}) {
            counts_.poison();
            histogram::clear(counts_.get(), stream_);
            histogram::launch_histogram(kernel, pixels_.get(), counts_.get(), n, stream_);
            const std::vector<unsigned> counts = counts_.download();
            const bool global = kernel == histogram::histogram_global;
            require(global ? "global" : "block", n, expected, counts);
            require("bins' sum", n, std::vector<std::uint64_t>{n},
                    std::vector<std::uint64_t>{histogram::merge(counts)});
        }
    }

private:
    void upload(std::vector<unsigned char> input) {
        input.resize(most_, 255);
        pixels_.upload(input);
    }

    template <typename Values>
    void require(const std::string& name, std::size_t n, const Values& expected,
                 const Values& actual) {
        mf::require(
            mf::check_equal(name + " of " + std::to_string(n) + " pixels", expected, actual));
    }

    std::size_t most_;
    mf::Stream stream_;
    mf::DeviceBuffer<unsigned char> pixels_;
    mf::DeviceBuffer<unsigned> counts_;
    mf::DeviceBuffer<unsigned> partial_;
};

int run(int, char**) {
    mf::pick_device(0);

    std::vector<std::size_t> sizes;
    for (std::size_t n = 0; n <= 1025; ++n)
        sizes.push_back(n);
    for (const std::size_t prime : {1031, 4093, 10007, 65521, 65537})
        sizes.push_back(prime);
    Bench bench(*std::max_element(sizes.begin(), sizes.end()) + 1);
    for (const std::size_t n : sizes) {
        const std::vector<unsigned char> mixed = mf::random_bytes(n, n);
        bench.check_sum(mixed);
        bench.check_sum(std::vector<unsigned char>(n, 255));
        bench.check_histograms(mixed);
    }

    constexpr std::size_t many = (std::size_t{1} << 24) + (std::size_t{1} << 17) + 1;
    static_assert(many * 255 > 0xFFFFFFFFu, "the sum must not fit into 32 bits");
    Bench(many).check_sum(std::vector<unsigned char>(many, 255));
    std::printf("%zu sizes and %zu pixels of 255: PASS\n", sizes.size(), many);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
