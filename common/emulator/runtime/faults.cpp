#include "faults.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "emulator/device_code.hpp"
#include "memory.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "worker.hpp"

namespace emu {
namespace {

constexpr std::size_t fault_stack_bytes = 64 * 1024;
constexpr int watchdog_signal = SIGURG;  // ignored by default, so a late one does no harm

struct sigaction host_segv_action;
struct sigaction host_bus_action;
struct sigaction host_fpe_action;

void allow_signal(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool in_kernel() {
    return this_worker != nullptr && block.in_kernel;
}

void handle_fault(int signal, siginfo_t* info, void*) {
    if (!in_kernel()) {
        // Not a kernel's fault: let it happen again, with whatever action stood there before.
        sigaction(signal, signal == SIGSEGV ? &host_segv_action : &host_bus_action, nullptr);
        return;
    }
    allow_signal(signal);
    if (this_worker->stack_overflowed(info->si_addr)) {
        this_worker->give_up(cudaErrorIllegalAddress,
                             "%s: the thread's stack overflowed (%zu KB a thread)",
                             where_running().c_str(), Stacks::stack_bytes / 1024 - 4);
    }
    this_worker->give_up(cudaErrorIllegalAddress, "%s: illegal access to address %p: %s",
                         where_running().c_str(), info->si_addr, describe(info->si_addr).c_str());
}

void handle_arithmetic(int signal, siginfo_t*, void*) {
    if (!in_kernel()) {
        sigaction(signal, &host_fpe_action, nullptr);
        return;
    }
    allow_signal(signal);
    this_worker->give_up(
        cudaErrorLaunchFailure,
        "%s: integer division by zero (a GPU would go on with a meaningless value)",
        where_running().c_str());
}

void handle_watchdog(int signal, siginfo_t*, void*) {
    if (!in_kernel()) return;
    allow_signal(signal);
    this_worker->give_up(
        cudaErrorLaunchTimeout,
        "%s has run for over %.0f s. Does it wait in a loop for another thread or block? The "
        "emulator runs a thread until it reaches a barrier, so that such a loop never ends. "
        "EMULATOR_WATCHDOG=SECONDS sets the limit.%s",
        where_running().c_str(), settings().watchdog_s, describe_waits(true).c_str());
}

void install(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction* before) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(signal, &action, before);
}

}  // namespace

void install_fault_handlers() {
    install(SIGSEGV, handle_fault, &host_segv_action);
    install(SIGBUS, handle_fault, &host_bus_action);
    install(SIGFPE, handle_arithmetic, &host_fpe_action);
    install(watchdog_signal, handle_watchdog, nullptr);
}

void interrupt_worker(pthread_t worker) {
    pthread_kill(worker, watchdog_signal);
}

FaultStack::FaultStack() : memory_(new char[fault_stack_bytes]) {
    stack_t stack = {};
    stack.ss_sp = memory_.get();
    stack.ss_size = fault_stack_bytes;
    sigaltstack(&stack, nullptr);
}

FaultStack::~FaultStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
}

void trap() {
    this_worker->give_up(cudaErrorLaunchFailure, "%s: __trap()", where_running().c_str());
}

unsigned running_worker() {
    return this_worker == nullptr ? 0 : this_worker->index();
}

unsigned laneid() {
    return block.current->linear % 32u;
}

unsigned warpid() {
    return block.current->linear / 32u;
}

unsigned nsmid() {
    return settings().workers;
}

}  // namespace emu

/// Takes the place of the C library's: in a kernel it counts cycles, elsewhere it measures the
/// process's time as before.
extern "C" std::clock_t clock() noexcept {
    if (emu::in_kernel()) return static_cast<std::clock_t>(clock64());
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * CLOCKS_PER_SEC + time.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}

/// Takes the place of the C library's: a kernel's failed assert() ends the kernel, not the process.
extern "C" [[noreturn]] void __assert_fail(const char* expression, const char* file,
                                           unsigned int line, const char* function) noexcept {
    if (emu::in_kernel()) {
        emu::this_worker->give_up(cudaErrorAssert, "%s:%u: %s: %s: Assertion `%s` failed.", file,
                                  line, function, emu::where_running().c_str(), expression);
    }
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    std::abort();
}
