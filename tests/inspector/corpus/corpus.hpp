#pragma once
/// \file
/// What the programs of the corpus share: device memory, and running one case by its name.
///
/// A case is a namespace of its own. It holds the case's kernels and `int run()`, which returns 0
/// if the result is right, 1 if not. Lines with a planted fault end in `// EXPECT fault`; a case
/// without such a line must give no finding. Launches are not asked for errors here: not asking is
/// a fault of its own, which the helpers must not hide.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <vector>

namespace corpus {

/// Device memory with room for `count` elements, freed at the end of its scope.
template <class T>
class Array {
public:
    /// Memory that nothing has been written to.
    explicit Array(std::size_t count) : count_(count) { cudaMalloc(&data_, count * sizeof(T)); }

    /// Memory that holds `values`, seen by every stream: a copy from pageable memory may return
    /// before the values have arrived, hence the wait.
    explicit Array(const std::vector<T>& values) : Array(values.size()) {
        cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
        cudaDeviceSynchronize();
    }

    ~Array() { cudaFree(data_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    operator T*() const { return data_; }

    /// The elements, once the work in blocking streams is done.
    std::vector<T> values() const {
        std::vector<T> values(count_);
        cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
        return values;
    }

private:
    T* data_ = nullptr;
    std::size_t count_;
};

/// `first`, `first` + 1, …: `count` elements.
template <class T>
std::vector<T> ramp(std::size_t count, T first = T{}) {
    std::vector<T> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

/// `count` zeros.
template <class T>
std::vector<T> zeros(std::size_t count) {
    return std::vector<T>(count);
}

/// The status of a case: 0 if its result is right, else 1.
inline int status(bool right) {
    return right ? 0 : 1;
}

struct Case {
    const char* name;
    int (*run)();
};

/// `--list` prints the names; a name runs that case and returns its status; anything else: 2.
inline int main(std::initializer_list<Case> cases, int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        for (const Case& one : cases)
            std::printf("%s\n", one.name);
        return 0;
    }
    for (const Case& one : cases) {
        if (argc == 2 && std::strcmp(argv[1], one.name) == 0) return one.run();
    }
    std::fprintf(stderr, "usage: %s --list | CASE\n", argv[0]);
    return 2;
}

}  // namespace corpus

/// An entry of the list for corpus::main.
#define CORPUS_CASE(name) \
    { #name, name::run }
