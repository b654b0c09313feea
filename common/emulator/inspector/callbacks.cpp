// What the compiler's instrumentation calls: -fsanitize=thread before each access to memory,
// -fsanitize-coverage=trace-pc in each basic block. The names and the parameters are the
// compilers'; the sanitizer's own library, which also has them, is not linked.

#include <cstring>

#include "inspector.hpp"

using emu::inspector::Access;
using emu::inspector::AccessKind;
using emu::inspector::FenceScope;
using emu::inspector::inspector;
using emu::inspector::Pc;

namespace {

/// Whether device code is running, and not the emulator between a block's threads.
[[gnu::always_inline]] inline bool in_thread() {
    return emu::block.in_kernel && emu::block.current->wait != emu::wait_for_ever;
}

[[gnu::always_inline]] inline void report(const volatile void* address, unsigned bytes,
                                          AccessKind kind, bool any_alignment, const void* from,
                                          bool adds_one = false) {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    const auto pc = static_cast<Pc>(reinterpret_cast<std::uintptr_t>(from));
    const Access access{place, pc, static_cast<std::uint8_t>(bytes), kind, any_alignment, adds_one};
    if (in_thread()) {
        inspector().device_access(access);
    } else if (!emu::block.in_kernel) {
        inspector().host_access(access);
    }
}

/// A structure copied as a whole: pieces as a GPU would make them of a type without alignment.
void report_range(const void* address, std::size_t bytes, AccessKind kind, const void* from) {
    const auto* const begin = static_cast<const char*>(address);
    for (std::size_t done = 0; done < bytes;) {
        const std::size_t piece = bytes - done >= 4 ? 4 : bytes - done >= 2 ? 2 : 1;
        report(begin + done, static_cast<unsigned>(piece), kind, true, from);
        done += piece;
    }
}

/// atomicCAS(); the others are compiled to the weak form, in a loop.
void note_compare(const volatile void* address) {
    if (in_thread()) inspector().compares(reinterpret_cast<std::uintptr_t>(address));
}

/// The end of the last structure whose copy was reported in this host thread.
thread_local const void* reported_to = nullptr;

/// A structure's copy may be a call, too: of what was reported right before.
void report_copy(const void* to, const void* from, std::size_t bytes, const void* caller) {
    const bool known = reported_to == static_cast<const char*>(to) + bytes;
    reported_to = nullptr;
    if (known) return;
    report_range(from, bytes, AccessKind::read, caller);
    report_range(to, bytes, AccessKind::write, caller);
}

}  // namespace

#define CALLED_FROM __builtin_return_address(0)

extern "C" {

void __tsan_init() {
    emu::inspector::start();
}

void __tsan_func_entry(void*) {
    if (in_thread()) inspector().enter_function();
}
void __tsan_func_exit() {
    if (in_thread()) inspector().leave_function();
}

void __sanitizer_cov_trace_pc() {
    if (in_thread())
        inspector().device_step(static_cast<Pc>(reinterpret_cast<std::uintptr_t>(CALLED_FROM)));
}

#define PLAIN_ACCESSES(bytes)                                          \
    void __tsan_read##bytes(void* address) {                           \
        report(address, bytes, AccessKind::read, false, CALLED_FROM);  \
    }                                                                  \
    void __tsan_write##bytes(void* address) {                          \
        report(address, bytes, AccessKind::write, false, CALLED_FROM); \
    }                                                                  \
    void __tsan_unaligned_read##bytes(const void* address) {           \
        report(address, bytes, AccessKind::read, true, CALLED_FROM);   \
    }                                                                  \
    void __tsan_unaligned_write##bytes(void* address) {                \
        report(address, bytes, AccessKind::write, true, CALLED_FROM);  \
    }
PLAIN_ACCESSES(1)
PLAIN_ACCESSES(2)
PLAIN_ACCESSES(4)
PLAIN_ACCESSES(8)
PLAIN_ACCESSES(16)
#undef PLAIN_ACCESSES

void __tsan_read_range(void* address, std::size_t bytes) {
    report_range(address, bytes, AccessKind::read, CALLED_FROM);
}
void __tsan_write_range(void* address, std::size_t bytes) {
    reported_to = static_cast<const char*>(address) + bytes;
    report_range(address, bytes, AccessKind::write, CALLED_FROM);
}

void __tsan_vptr_read(void** address) {
    report(address, sizeof *address, AccessKind::read, false, CALLED_FROM);
}
void __tsan_vptr_update(void** address, void*) {
    report(address, sizeof *address, AccessKind::write, false, CALLED_FROM);
}

// What the program calls memcpy, memmove and memset, by emucc or, in newer compilers, by
// themselves.
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
    report_copy(to, from, bytes, CALLED_FROM);
    return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
    report_copy(to, from, bytes, CALLED_FROM);
    return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
    report_range(to, bytes, AccessKind::write, CALLED_FROM);
    return std::memset(to, value, bytes);
}

// CUDA's atomics are loops of a load and an exchange where the processor lacks the instruction: the
// exchange is reported, the load is not. A plain atomic load or store does what its name says.
#define ATOMIC_UPDATE(bits, type, name, builtin, adds_one)                               \
    type __tsan_atomic##bits##_##name(volatile type* address, type value, int) {         \
        report(address, sizeof(type), AccessKind::atomic, false, CALLED_FROM, adds_one); \
        return builtin(address, value, __ATOMIC_SEQ_CST);                                \
    }
#define ATOMIC_EXCHANGE_IF(bits, type, name, is_atomic_cas)                                   \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type* address, type* expected, \
                                                      type value, int, int) {                 \
        if (is_atomic_cas) note_compare(address);                                             \
        report(address, sizeof(type), AccessKind::atomic, false, CALLED_FROM);                \
        return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST);                                 \
    }
#define ATOMICS(bits, type)                                                                \
    type __tsan_atomic##bits##_load(const volatile type* address, int) {                   \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                 \
    }                                                                                      \
    void __tsan_atomic##bits##_store(volatile type* address, type value, int) {            \
        report(address, sizeof(type), AccessKind::atomic, false, CALLED_FROM);             \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                \
    }                                                                                      \
    ATOMIC_UPDATE(bits, type, exchange, __atomic_exchange_n, false)                        \
    ATOMIC_UPDATE(bits, type, fetch_add, __atomic_fetch_add, value == 1)                   \
    ATOMIC_UPDATE(bits, type, fetch_sub, __atomic_fetch_sub, false)                        \
    ATOMIC_UPDATE(bits, type, fetch_and, __atomic_fetch_and, false)                        \
    ATOMIC_UPDATE(bits, type, fetch_or, __atomic_fetch_or, false)                          \
    ATOMIC_UPDATE(bits, type, fetch_xor, __atomic_fetch_xor, false)                        \
    ATOMIC_UPDATE(bits, type, fetch_nand, __atomic_fetch_nand, false)                      \
    ATOMIC_EXCHANGE_IF(bits, type, strong, true)                                           \
    ATOMIC_EXCHANGE_IF(bits, type, weak, false)                                            \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type* address, type expected, \
                                                    type value, int, int) {                \
        report(address, sizeof(type), AccessKind::atomic, false, CALLED_FROM);             \
        __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST,    \
                                    __ATOMIC_SEQ_CST);                                     \
        return expected;                                                                   \
    }
ATOMICS(8, std::uint8_t)
ATOMICS(16, std::uint16_t)
ATOMICS(32, std::uint32_t)
ATOMICS(64, std::uint64_t)
#undef ATOMICS
#undef ATOMIC_EXCHANGE_IF
#undef ATOMIC_UPDATE

void __tsan_atomic_thread_fence(int) {
    if (in_thread()) inspector().fence(FenceScope::device);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {  // what __threadfence_block() is made of
    if (in_thread()) inspector().fence(FenceScope::block);
}

}  // extern "C"
