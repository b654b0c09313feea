// Does a program built here really run on a GPU here? Exit status 0: yes; else the reason on
// stdout.
#include <cstdio>

__global__ void answer(int* result) {
    *result = 42;
}

int main() {
    int* result = nullptr;
    int copy = 0;
    cudaError_t error = cudaMalloc(&result, sizeof *result);
    if (error == cudaSuccess) {
        answer<<<1, 1>>>(result);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) {
        error = cudaMemcpy(&copy, result, sizeof copy, cudaMemcpyDeviceToHost);
    }
    if (error != cudaSuccess) {
        std::printf("%s (%s)\n", cudaGetErrorString(error), cudaGetErrorName(error));
        return 1;
    }
    if (copy != 42) {
        std::puts("a kernel returned a wrong value");
        return 1;
    }
    cudaFree(result);
    return 0;
}
