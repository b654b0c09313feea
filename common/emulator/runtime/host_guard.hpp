/// \file
/// Keeps host code away from the device's memory, where the processor can (memory protection keys,
/// x86-64): reading through a device pointer on the host faults, as it does with a GPU. Elsewhere
/// such a mistake goes unnoticed. The fault is explained on stderr before it takes its course.
#pragma once

#include <cstddef>

namespace emu {

/// Puts a range of whole pages out of the host threads' reach.
void guard_from_host(void* begin, std::size_t size);

/// While it lives, the calling thread may touch the device's memory, and so may, for good, the
/// threads that it starts. Workers and copy engines need it; a signal handler loses it.
class DeviceAccess {
public:
    DeviceAccess();
    ~DeviceAccess();
    DeviceAccess(const DeviceAccess&) = delete;
    DeviceAccess& operator=(const DeviceAccess&) = delete;

private:
    int rights_before_;
};

/// Gives the calling thread the right for good.
void allow_device_access();

/// Takes it away: a thread inherits it from the one that started it.
void deny_device_access();

}  // namespace emu
