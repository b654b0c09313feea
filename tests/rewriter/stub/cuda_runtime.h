/// \file
/// The least that rewritten sources need: every launch runs at once, thread after thread. It lets
/// the rewriter's output be compiled and run without the emulator, and records how each launch was
/// written.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct float2 {
    float x, y;
};
struct int4 {
    int x, y, z, w;
};
using cudaStream_t = int;

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

inline long long clock64() {
    return 64;
}

inline int cudaDeviceSynchronize() {
    return 0;
}

inline int atomicMax(int* p, int v) {
    return std::exchange(*p, *p < v ? v : *p);
}

namespace emu {

inline std::string form;          ///< how the last launch was written: named, pointer, call
inline std::string name;          ///< the name it was given
inline std::size_t shared_bytes;  ///< its dynamic shared memory
inline cudaStream_t stream;
alignas(1024) inline unsigned char dynamic_memory[65536];

inline unsigned long long globaltimer() {
    return 1000;
}
inline unsigned smid() {
    return 7;
}

struct Config {
    dim3 grid, block;
    std::size_t shared;
    cudaStream_t stream;
};

inline Config config(dim3 grid, dim3 block, std::size_t shared = 0, cudaStream_t stream = 0) {
    return {grid, block, shared, stream};
}

template <class Body>
void run(const Config& config, const char* form_, const char* name_, Body body) {
    form = form_, name = name_, shared_bytes = config.shared, stream = config.stream;
    gridDim = config.grid, blockDim = config.block;
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x)
            body();
}

template <auto Kernel, class Signature = decltype(Kernel)>
struct Named;

template <auto Kernel, class... P>
struct Named<Kernel, void (*)(P...)> {
    Config config;
    const char* name;
    void operator()(P... arguments) const {
        run(config, "named", name, [&] { Kernel(arguments...); });
    }
};

template <auto Kernel>
Named<Kernel> launch(const Config& config, const char* name) {
    return {config, name};
}

template <class... P>
struct Pointer {
    Config config;
    void (*kernel)(P...);
    const char* name;
    void operator()(P... arguments) const {
        run(config, "pointer", name, [&] { kernel(arguments...); });
    }
};

template <class... P>
Pointer<P...> launch_pointer(const Config& config, void (*kernel)(P...), const char* name) {
    return {config, kernel, name};
}

template <class Call>
struct Calling {
    Config config;
    Call call;
    const char* name;
    template <class... A>
    void operator()(A... arguments) const {
        run(config, "call", name, [&] { call(arguments...); });
    }
};

template <class Call>
Calling<Call> launch_call(const Config& config, Call call, const char* name) {
    return {config, call, name};
}

template <class MakePointer, class Call>
auto launch_any(const Config& config, MakePointer make, Call call, const char* name) {
    if constexpr (std::is_invocable_v<MakePointer, const Config&>) {
        return make(config);
    } else {
        return launch_call(config, call, name);
    }
}

template <class T, class Key>
T& shared_variable() {
    alignas(T) static unsigned char bytes[sizeof(T)];
    return *reinterpret_cast<T*>(bytes);
}

template <class Array>
Array& dynamic_shared() {
    return *reinterpret_cast<Array*>(dynamic_memory);
}

}  // namespace emu
