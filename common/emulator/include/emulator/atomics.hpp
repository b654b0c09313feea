/// \file
/// Atomic read-modify-write functions. All are relaxed and return the value before.
///
/// Those of block scope (`…_block`), and the others where they meet the block's shared memory, have
/// only the block's own threads to reckon with. These share one host thread and give way to each
/// other only in barriers and warp functions, so a plain load and store does, without the host's
/// locked instruction. Code compiled with memory-access instrumentation always takes the latter,
/// which arrives in the access stream as one atomic.
#pragma once

#include "emulator/block_state.hpp"
#include "emulator/conversions.hpp"

namespace emu {

/// Who else may change the memory at the same time.
enum class Scope { block, device, system };

/// Loads and stores as the unsigned integer of the same size: floating-point types have no atomic
/// instructions of their own.
template <int Bytes>
struct AtomicWord;
template <>
struct AtomicWord<2> {
    typedef unsigned short type __attribute__((may_alias));
};
template <>
struct AtomicWord<4> {
    typedef unsigned int type __attribute__((may_alias));
};
template <>
struct AtomicWord<8> {
    typedef unsigned long long type __attribute__((may_alias));
};

/// True if only the running block's threads can reach `address`, so that no lock is needed.
template <Scope scope>
[[gnu::always_inline]] inline bool is_block_private(const void* address) {
#ifdef __SANITIZE_THREAD__
    static_cast<void>(address);
    return false;
#else
    static_cast<void>(address);
    return scope == Scope::block;
#endif
}

/// Replaces the value at `address` by `change` of it, and gives the value before.
template <Scope scope, class T, class Change>
[[gnu::always_inline]] inline T atomic_update(T* address, Change change) {
    using Word = typename AtomicWord<sizeof(T)>::type;
    Word* const word = reinterpret_cast<Word*>(address);
    Word before = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (is_block_private<scope>(address)) {
        __atomic_store_n(word, bits_as<Word>(change(bits_as<T>(before))), __ATOMIC_RELAXED);
        return bits_as<T>(before);
    }
    while (!__atomic_compare_exchange_n(word, &before, bits_as<Word>(change(bits_as<T>(before))),
                                        true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return bits_as<T>(before);
}

}  // namespace emu

// `plain` is the new value, made from `before` and `value`; `locked` is the host's own instruction.
#define EMU_ATOMIC_SCOPE(name, scope_suffix, scope, type, plain, locked)    \
    inline type name##scope_suffix(type* address, type value) {             \
        if (emu::is_block_private<emu::Scope::scope>(address)) {            \
            const type before = __atomic_load_n(address, __ATOMIC_RELAXED); \
            __atomic_store_n(address, plain, __ATOMIC_RELAXED);             \
            return before;                                                  \
        }                                                                   \
        return locked(address, value, __ATOMIC_RELAXED);                    \
    }
#define EMU_UPDATE_SCOPE(name, scope_suffix, scope, type, plain)      \
    inline type name##scope_suffix(type* address, type value) {       \
        return emu::atomic_update<emu::Scope::scope>(                 \
            address, [value](type before) -> type { return plain; }); \
    }
#define EMU_ATOMIC(name, type, plain, locked)                  \
    EMU_ATOMIC_SCOPE(name, , device, type, plain, locked)      \
    EMU_ATOMIC_SCOPE(name, _block, block, type, plain, locked) \
    EMU_ATOMIC_SCOPE(name, _system, system, type, plain, locked)
#define EMU_UPDATE(name, type, plain)                  \
    EMU_UPDATE_SCOPE(name, , device, type, plain)      \
    EMU_UPDATE_SCOPE(name, _block, block, type, plain) \
    EMU_UPDATE_SCOPE(name, _system, system, type, plain)

// Signed sums wrap, as the device's do: the arithmetic is the unsigned type's.
EMU_ATOMIC(atomicAdd, int, int(unsigned(before) + unsigned(value)), __atomic_fetch_add)
EMU_ATOMIC(atomicAdd, unsigned int, before + value, __atomic_fetch_add)
EMU_ATOMIC(atomicAdd, unsigned long long, before + value, __atomic_fetch_add)
EMU_UPDATE(atomicAdd, float, before + value)
EMU_UPDATE(atomicAdd, double, before + value)
EMU_ATOMIC(atomicSub, int, int(unsigned(before) - unsigned(value)), __atomic_fetch_sub)
EMU_ATOMIC(atomicSub, unsigned int, before - value, __atomic_fetch_sub)

EMU_ATOMIC(atomicExch, int, value, __atomic_exchange_n)
EMU_ATOMIC(atomicExch, unsigned int, value, __atomic_exchange_n)
EMU_ATOMIC(atomicExch, unsigned long long, value, __atomic_exchange_n)
EMU_UPDATE(atomicExch, float, (static_cast<void>(before), value))

EMU_UPDATE(atomicMin, int, value < before ? value : before)
EMU_UPDATE(atomicMin, unsigned int, value < before ? value : before)
EMU_UPDATE(atomicMin, long long, value < before ? value : before)
EMU_UPDATE(atomicMin, unsigned long long, value < before ? value : before)
EMU_UPDATE(atomicMax, int, before < value ? value : before)
EMU_UPDATE(atomicMax, unsigned int, before < value ? value : before)
EMU_UPDATE(atomicMax, long long, before < value ? value : before)
EMU_UPDATE(atomicMax, unsigned long long, before < value ? value : before)

// Counting round: up to `value` and then 0; down from `value`, also from anything above it.
EMU_UPDATE(atomicInc, unsigned int, before >= value ? 0 : before + 1)
EMU_UPDATE(atomicDec, unsigned int, before == 0 || before > value ? value : before - 1)

EMU_ATOMIC(atomicAnd, int, (before & value), __atomic_fetch_and)
EMU_ATOMIC(atomicAnd, unsigned int, (before & value), __atomic_fetch_and)
EMU_ATOMIC(atomicAnd, unsigned long long, (before & value), __atomic_fetch_and)
EMU_ATOMIC(atomicOr, int, before | value, __atomic_fetch_or)
EMU_ATOMIC(atomicOr, unsigned int, before | value, __atomic_fetch_or)
EMU_ATOMIC(atomicOr, unsigned long long, before | value, __atomic_fetch_or)
EMU_ATOMIC(atomicXor, int, before ^ value, __atomic_fetch_xor)
EMU_ATOMIC(atomicXor, unsigned int, before ^ value, __atomic_fetch_xor)
EMU_ATOMIC(atomicXor, unsigned long long, before ^ value, __atomic_fetch_xor)

#undef EMU_UPDATE
#undef EMU_ATOMIC
#undef EMU_UPDATE_SCOPE
#undef EMU_ATOMIC_SCOPE

// Stores `value` if the memory holds `expected`.
#define EMU_ATOMIC_CAS(name, scope, type)                                               \
    inline type name(type* address, type expected, type value) {                        \
        if (emu::is_block_private<emu::Scope::scope>(address)) {                        \
            const type before = __atomic_load_n(address, __ATOMIC_RELAXED);             \
            if (before == expected) __atomic_store_n(address, value, __ATOMIC_RELAXED); \
            return before;                                                              \
        }                                                                               \
        __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, \
                                    __ATOMIC_RELAXED);                                  \
        return expected;                                                                \
    }
#define EMU_ATOMIC_CAS_SCOPES(type)              \
    EMU_ATOMIC_CAS(atomicCAS, device, type)      \
    EMU_ATOMIC_CAS(atomicCAS_block, block, type) \
    EMU_ATOMIC_CAS(atomicCAS_system, system, type)
EMU_ATOMIC_CAS_SCOPES(int)
EMU_ATOMIC_CAS_SCOPES(unsigned int)
EMU_ATOMIC_CAS_SCOPES(unsigned long long)
EMU_ATOMIC_CAS(atomicCAS, device, unsigned short)  // as in CUDA's headers, this scope alone
#undef EMU_ATOMIC_CAS_SCOPES
#undef EMU_ATOMIC_CAS
