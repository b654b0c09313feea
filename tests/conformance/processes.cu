/// \file
/// Errors that ruin the process for good, each met in a process of its own: the program starts
/// itself again with the name of a hidden test.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cstring>

#include "support.hpp"

using namespace conformance;

extern char** environ;

namespace {

/// Runs the hidden test of this name in a new process; true if it passed.
bool passes_in_own_process(const char* test, const char* visible_devices = nullptr) {
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    REQUIRE(length > 0);
    program[length] = '\0';

    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const bool hides = std::strncmp(*variable, "CUDA_VISIBLE_DEVICES=", 21) == 0;
        if (visible_devices == nullptr || !hides) variables.emplace_back(*variable);
    }
    if (visible_devices != nullptr) {
        variables.push_back(std::string("CUDA_VISIBLE_DEVICES=") + visible_devices);
    }
    std::vector<char*> environment;
    for (std::string& variable : variables)
        environment.push_back(&variable[0]);
    environment.push_back(nullptr);

    std::string name = test;
    char* const arguments[] = {program, &name[0], nullptr};
    pid_t child = 0;
    REQUIRE(posix_spawn(&child, program, nullptr, nullptr, arguments, environment.data()) == 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

__global__ void store(int* to, int value) {
    *to = value;
}

__global__ void fail_assertion(int value) {
    assert(value == 1);
}

__global__ void stop_by_trap(int value) {
    if (value == 2) __trap();
}

/// After an error that ruins the process, every call that needs the device gives that error, also
/// once it was got.
void check_that_nothing_works(cudaError_t error) {
    CHECK_CODE(cudaGetLastError(), error);
    CHECK_OK(cudaGetLastError());
    int* memory = nullptr;
    CHECK_CODE(cudaDeviceSynchronize(), error);
    CHECK_CODE(cudaMalloc(&memory, 16), error);
    (void)cudaGetLastError();
    CHECK_CODE(cudaDeviceSynchronize(), error);
    cudaStream_t stream = nullptr;
    CHECK_CODE(cudaStreamCreate(&stream), error);
    (void)cudaGetLastError();
    store<<<1, 1>>>(nullptr, 1);
    CHECK_CODE(cudaGetLastError(), error);
    int device = -1;
    CHECK_OK(cudaGetDevice(&device));  // needs no device
    CHECK(device == 0);
}

}  // namespace

TEST_CASE("hidden: a store to an illegal address", "[.process]") {
    store<<<1, 1>>>(reinterpret_cast<int*>(8), 1);
    CHECK_OK(cudaGetLastError());
    CHECK_CODE(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    check_that_nothing_works(cudaErrorIllegalAddress);
}

TEST_CASE("hidden: an illegal address is seen by the next copy", "[.process]") {
    int* memory = nullptr;
    int value = 0;
    REQUIRE_OK(cudaMalloc(&memory, 16));
    store<<<1, 1>>>(nullptr, 1);
    CHECK_CODE(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost),
               cudaErrorIllegalAddress);
    CHECK_CODE(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost),
               cudaErrorIllegalAddress);
}

TEST_CASE("hidden: an illegal address is seen by an event", "[.process]") {
    cudaEvent_t event = nullptr;
    REQUIRE_OK(cudaEventCreate(&event));
    store<<<1, 1>>>(nullptr, 1);
    (void)cudaEventRecord(event);
    CHECK_CODE(cudaEventSynchronize(event), cudaErrorIllegalAddress);
}

TEST_CASE("hidden: a failed assertion", "[.process]") {
    fail_assertion<<<1, 1>>>(1);
    REQUIRE_COMPLETES();
    fail_assertion<<<2, 40>>>(0);
    CHECK_OK(cudaGetLastError());
    CHECK_CODE(cudaDeviceSynchronize(), cudaErrorAssert);
    check_that_nothing_works(cudaErrorAssert);
}

TEST_CASE("hidden: a trap", "[.process]") {
    stop_by_trap<<<1, 32>>>(1);
    REQUIRE_COMPLETES();
    stop_by_trap<<<1, 32>>>(2);
    CHECK_CODE(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    check_that_nothing_works(cudaErrorLaunchFailure);
}

TEST_CASE("hidden: no device", "[.process]") {
    int count = -1;
    CHECK_CODE(cudaGetDeviceCount(&count), cudaErrorNoDevice);
    CHECK(count <= 0);
    int* memory = nullptr;
    CHECK_CODE(cudaMalloc(&memory, 16), cudaErrorNoDevice);
    CHECK_CODE(cudaDeviceSynchronize(), cudaErrorNoDevice);
    store<<<1, 1>>>(nullptr, 1);
    CHECK_CODE(cudaGetLastError(), cudaErrorNoDevice);
}

TEST_CASE("hidden: the device can be reset", "[.process]") {
    int* memory = nullptr;
    REQUIRE_OK(cudaMalloc(&memory, 16));
    REQUIRE_OK(cudaDeviceReset());
    REQUIRE_OK(cudaMalloc(&memory, 16));
    store<<<1, 1>>>(memory, 5);
    REQUIRE_COMPLETES();
    int value = 0;
    REQUIRE_OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 5);
}

TEST_CASE("a store to an illegal address ruins the process", "[process][errors]") {
    CHECK(passes_in_own_process("hidden: a store to an illegal address"));
    CHECK(passes_in_own_process("hidden: an illegal address is seen by the next copy"));
    CHECK(passes_in_own_process("hidden: an illegal address is seen by an event"));
}

TEST_CASE("a failed assertion ruins the process", "[process][errors]") {
    CHECK(passes_in_own_process("hidden: a failed assertion"));
}

TEST_CASE("a trap ruins the process", "[process][errors]") {
    CHECK(passes_in_own_process("hidden: a trap"));
}

TEST_CASE("no device at all", "[process][device]") {
    CHECK(passes_in_own_process("hidden: no device", ""));
    CHECK(passes_in_own_process("hidden: no device", "-1"));
}

TEST_CASE("a device that is reset", "[process][device]") {
    CHECK(passes_in_own_process("hidden: the device can be reset"));
}
