/// \file
/// The ledger of what the program has allocated: every address of the device, and the host memory
/// that the device may reach.
#pragma once

#include <cstddef>
#include <string>

#include "emulator/runtime_api.h"

namespace emu {

enum class MemoryKind {
    device,      ///< cudaMalloc and its kin
    pinned,      ///< cudaMallocHost, cudaHostAlloc
    registered,  ///< cudaHostRegister: the program's own
    managed,     ///< cudaMallocManaged
    symbol       ///< a __device__ or __constant__ variable
};

struct Allocation {
    const char* made_by;  ///< the call, for reports
    unsigned number;      ///< 1: the first such call
    MemoryKind kind;
    unsigned flags;
    char* begin;
    std::size_t size;              ///< bytes
    char* mapping;                 ///< null: not ours to release
    std::size_t mapping_size;      ///< bytes, guards included
    bool released = false;         ///< freed: it faults when touched
    bool release_pending = false;  ///< cudaFreeAsync was called
};

/// Memory that the device offers, in bytes: three quarters of what this process may have.
std::size_t device_memory_limit();

/// Makes an allocation between two guards, filled with the poison. Errors:
/// cudaErrorMemoryAllocation.
cudaError_t allocate(const char* made_by, MemoryKind kind, unsigned flags, std::size_t size,
                     void** address);

/// Releases what `allocate` made. The address must be its beginning and of one of two kinds.
/// Errors: cudaErrorInvalidValue.
cudaError_t release(void* address, MemoryKind kind, MemoryKind or_kind);

/// Marks an allocation of the device for release(), so that a second attempt is an error.
cudaError_t prepare_release(void* address);

/// Enters memory that exists already. Errors, if it overlaps: cudaErrorHostMemoryAlreadyRegistered,
/// cudaErrorInvalidValue for memory of the device.
cudaError_t enter(const char* made_by, MemoryKind kind, unsigned flags, void* address,
                  std::size_t size);

/// Takes registered memory out again. Errors: cudaErrorHostMemoryNotRegistered,
/// cudaErrorInvalidValue.
cudaError_t withdraw(void* address);

/// The allocation that holds the address, the released ones included. False: none.
bool find_allocation(const void* address, Allocation& found);

/// Bytes of the device in use.
std::size_t device_memory_in_use();

/// Releases all but variables and registered memory.
void release_all_memory();

/// Says in words where an address lies: "12 bytes past the end of a 256-byte allocation
/// (cudaMalloc #3)". May be called from the handler of a fault in a kernel: the thread that faulted
/// holds none of the locks that this takes.
std::string describe(const void* address);

}  // namespace emu
