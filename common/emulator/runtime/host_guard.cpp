#include "host_guard.hpp"

#include <sys/mman.h>

#include <csignal>
#include <cstdio>

#include "memory.hpp"

namespace emu {
namespace {

constexpr int no_key = -1;
constexpr int all_rights = 0;

struct sigaction action_before;

/// Explains a fault that the key caused, and leaves the rest to whoever stood here before.
void handle_fault(int signal, siginfo_t* info, void* context) {
    if (info->si_code == SEGV_PKUERR) {
        std::fprintf(stderr,
                     "emulator: host code touched device memory: address %p, %s. Copy it to the "
                     "host with cudaMemcpy first.\n",
                     info->si_addr, describe(info->si_addr).c_str());
    }
    if ((action_before.sa_flags & SA_SIGINFO) != 0) {
        action_before.sa_sigaction(signal, info, context);
    } else {
        sigaction(signal, &action_before, nullptr);  // the access is made again and faults again
    }
}

void install_handler() {
    struct sigaction action = {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &action_before);
}

/// The protection key of the device's memory. Threads have no right to a new key's pages.
int make_key() {
    const int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
    if (key < 0) return no_key;
    // A C library may know the call without knowing the processor's register.
    if (pkey_get(key) != PKEY_DISABLE_ACCESS) {
        pkey_free(key);
        return no_key;
    }
    install_handler();
    return key;
}

int device_key() {
    static const int key = make_key();
    return key;
}

int change_rights(int rights) {
    const int key = device_key();
    if (key == no_key) return all_rights;
    const int before = pkey_get(key);
    if (before != rights) pkey_set(key, static_cast<unsigned>(rights));
    return before;
}

}  // namespace

void guard_from_host(void* begin, std::size_t size) {
    if (device_key() == no_key) return;
    pkey_mprotect(begin, size, PROT_READ | PROT_WRITE, device_key());
}

DeviceAccess::DeviceAccess() : rights_before_(change_rights(all_rights)) {}
DeviceAccess::~DeviceAccess() {
    change_rights(rights_before_);
}

void allow_device_access() {
    change_rights(all_rights);
}
void deny_device_access() {
    change_rights(PKEY_DISABLE_ACCESS);
}

}  // namespace emu
