/// \file
/// What ends a kernel from outside its code: a fault, a failed assertion, the watchdog.
#pragma once

#include <pthread.h>

#include <memory>

namespace emu {

/// Makes an illegal access in a kernel an error of the launch instead of the end of the process.
/// Host code faults as before.
void install_fault_handlers();

/// Tells a worker that its block has run for too long.
void interrupt_worker(pthread_t worker);

/// The stack that the calling thread's signal handlers run on: a fiber's own may have overflowed.
class FaultStack {
public:
    FaultStack();
    ~FaultStack();
    FaultStack(const FaultStack&) = delete;
    FaultStack& operator=(const FaultStack&) = delete;

private:
    std::unique_ptr<char[]> memory_;
};

}  // namespace emu
