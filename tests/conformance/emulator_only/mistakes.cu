/// \file
/// Programs with one mistake each, chosen by the first argument. They print what they computed and
/// the name of the error that the runtime reports; the emulator says on stderr what went wrong.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int count = 64;

/// The barrier between the store and the load is missing.
__global__ void reverse_without_barrier(const int* in, int* out) {
    __shared__ int cells[count];
    const int i = threadIdx.x;
    cells[i] = in[i];
    out[i] = cells[count - 1 - i];
}

__global__ void reverse(const int* in, int* out) {
    __shared__ int cells[count];
    const int i = threadIdx.x;
    cells[i] = in[i];
    __syncthreads();
    out[i] = cells[count - 1 - i];
}

/// One half of the block waits at one barrier, the other at another.
__global__ void different_barriers(const int*, int* out) {
    if (threadIdx.x < 32) {
        __syncthreads();  // the first barrier
    } else {
        __syncthreads();  // the second barrier
    }
    out[threadIdx.x] = 1;
}

/// Lanes 0 to 15 name all 32 in their mask, but the others wait for the whole block.
__global__ void lanes_that_never_come(const int*, int* out) {
    if (threadIdx.x < 16) __syncwarp();  // the warp's barrier
    __syncthreads();                     // the block's barrier
    out[threadIdx.x] = 1;
}

/// The upper half's warps return; half a warp is left at the barrier, half at a warp's.
__global__ void others_have_returned(const int*, int* out) {
    if (threadIdx.x < 16) {
        __syncthreads();  // lanes 0 to 15
    } else if (threadIdx.x < 32) {
        __syncwarp();  // lanes 16 to 31
    }
    out[threadIdx.x] = 1;
}

__global__ void mask_without_the_caller(const int*, int* out) {
    out[threadIdx.x] = __shfl_sync(0xFFFFFFFEu, 1, 5);  // lane 0 is not in it
}

/// Waits for a value that only a later thread of the block would write.
__global__ void spin_on_another_thread(const int*, int* out) {
    volatile int* const flag = out;
    if (threadIdx.x == count - 1) *flag = 1;
    while (*flag != 1) {  // the endless loop
    }
}

__global__ void increment(const int* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x] + 1;
}

__global__ void recurse_without_end(const int* in, int* out) {
    struct Deep {
        __device__ static int down(const int* in, int level) {
            if (level < in[0]) return 0;  // never: in[0] is 0
            volatile char here[512];
            here[level % 512] = static_cast<char>(level);
            return down(in, level + 1) + here[level % 512] + in[level % count];
        }
    };
    out[threadIdx.x] = Deep::down(in, 0);
}

/// A frame that reaches past the guard of its own stack, into another thread's.
__global__ void use_a_large_frame(const int* in, int* out) {
    volatile char here[100000];
    here[in[threadIdx.x]] = 1;
    out[threadIdx.x] = here[in[threadIdx.x]];
}

using Kernel = void (*)(const int*, int*);

struct Mistake {
    const char* name;
    Kernel kernel;
};

const Mistake mistakes[] = {
    {"missing_barrier", reverse_without_barrier},
    {"no_mistake", reverse},
    {"different_barriers", different_barriers},
    {"lanes_that_never_come", lanes_that_never_come},
    {"others_have_returned", others_have_returned},
    {"mask_without_the_caller", mask_without_the_caller},
    {"spin", spin_on_another_thread},
    {"endless_recursion", recurse_without_end},
    {"large_frame", use_a_large_frame},
};

/// Runs a kernel on 0, 1, 2, …; prints the error's name, then the results if there is none.
int run(Kernel kernel) {
    std::vector<int> values(count);
    for (int i = 0; i < count; ++i)
        values[i] = i;
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, count * sizeof(int));
    cudaMalloc(&out, count * sizeof(int));
    cudaMemset(out, 0, count * sizeof(int));
    cudaMemcpy(in, values.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    kernel<<<1, count>>>(in, out);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s", cudaGetErrorName(error));
    if (error == cudaSuccess) {
        cudaMemcpy(values.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost);
        for (const int value : values)
            std::printf(" %d", value);
    }
    std::printf("\n");
    return 0;
}

/// A copy in one stream, the kernel that makes its data in another; with or without the wait
/// between.
int copy_from_another_stream(bool waits) {
    int *device = nullptr, *host = nullptr;
    cudaMalloc(&device, count * sizeof(int));
    cudaMemset(device, 0, count * sizeof(int));
    cudaDeviceSynchronize();
    cudaHostAlloc(&host, count * sizeof(int), cudaHostAllocDefault);
    cudaStream_t work, copies;
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaEvent_t done;
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    increment<<<1, count, 0, work>>>(device, device);
    cudaEventRecord(done, work);
    if (waits) cudaStreamWaitEvent(copies, done, 0);
    cudaMemcpyAsync(host, device, count * sizeof(int), cudaMemcpyDeviceToHost, copies);
    cudaStreamSynchronize(copies);
    std::printf("%d\n", host[count - 1]);
    return cudaDeviceSynchronize() != cudaSuccess;
}

int device_pointer_on_the_host() {
    int* device = nullptr;
    cudaMalloc(&device, count * sizeof(int));
    std::printf("%d\n", *device);
    return 0;
}

}  // namespace

int main(int arguments, char** values) {
    const char* const name = arguments > 1 ? values[1] : "";
    for (const Mistake& mistake : mistakes) {
        if (std::strcmp(mistake.name, name) == 0) return run(mistake.kernel);
    }
    if (std::strcmp(name, "missing_wait") == 0) return copy_from_another_stream(false);
    if (std::strcmp(name, "no_missing_wait") == 0) return copy_from_another_stream(true);
    if (std::strcmp(name, "device_pointer") == 0) return device_pointer_on_the_host();
    std::fprintf(stderr, "no mistake is called %s\n", name);
    return 2;
}
