/// \file
/// What a rewritten `__shared__` declaration becomes: memory of the worker that runs the block.
#pragma once

#include <cstddef>
#include <typeinfo>

#include "emulator/block_state.hpp"

namespace emu {

/// Where one `__shared__` variable lies in every block's shared memory.
struct SharedSite {
    std::size_t offset;  ///< bytes from BlockState::shared
    std::size_t bytes;
    unsigned index;         ///< into BlockState::touched
    const char* type_name;  ///< of its key, mangled: the rewriter put the variable's name in
};

/// Reserves room for a variable of `bytes` at a multiple of `alignment`. Called before main.
SharedSite register_shared(std::size_t bytes, std::size_t alignment, const char* type_name);

/// Counts the variable towards its kernel's static shared memory and fills it with the pattern that
/// stands for "never written". Ends the kernel when the sum passes the limit of 48 KB.
void touch_shared(const SharedSite& site);

/// One variable; `Key` is a type made for its declaration, so that each site and each instantiation
/// of a template has its own.
template <class T, class Key>
struct SharedVariable {
    static inline const SharedSite site =
        register_shared(sizeof(T), alignof(T), typeid(Key).name());
};

#ifdef EMULATOR_INSPECTED

/// As below, from the library, where the emulator's own accesses are not reported.
void* shared_address(const SharedSite& site);
void* dynamic_shared_address();

template <class T, class Key>
T& shared_variable() {
    return *static_cast<T*>(shared_address(SharedVariable<T, Key>::site));
}

template <class Array>
Array& dynamic_shared() {
    return *static_cast<Array*>(dynamic_shared_address());
}

#else

template <class T, class Key>
[[gnu::always_inline]] inline T& shared_variable() {
    const SharedSite& site = SharedVariable<T, Key>::site;
    if (__builtin_expect(block.touched[site.index] == 0, 0)) touch_shared(site);
    return *reinterpret_cast<T*>(block.shared + site.offset);
}

/// The launch's dynamic shared memory, as the array of unknown bound that it was declared as.
template <class Array>
Array& dynamic_shared() {
    return *reinterpret_cast<Array*>(block.dynamic_shared);
}

#endif

}  // namespace emu
