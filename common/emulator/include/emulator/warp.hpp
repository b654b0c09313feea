/// \file
/// Warp primitives: 32 neighbouring threads exchange values. The lanes named in `mask` meet; the
/// last one to arrive works out every lane's result.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulator/block_state.hpp"

constexpr int warpSize = 32;

namespace emu {

enum class WarpOperation : unsigned char {
    sync,
    shuffle_index,
    shuffle_up,
    shuffle_down,
    shuffle_xor,
    ballot,
    match_any,
    match_all,
    reduce_add,
    reduce_min_signed,
    reduce_max_signed,
    reduce_min_unsigned,
    reduce_max_unsigned,
    reduce_and,
    reduce_or,
    reduce_xor,
    active_mask,
};

/// One lane's part in a warp operation.
struct LaneRequest {
    WarpOperation operation;
    unsigned mask;       ///< lanes that take part, the caller's own among them
    std::uint64_t bits;  ///< the lane's value
    unsigned parameter;  ///< shuffles: source lane, distance or lane mask
    unsigned width;      ///< shuffles: lanes in a segment, a power of two
};

/// Waits until every lane of the mask that has not returned has asked for the same; gives the
/// caller's result. Ends the kernel with a report when the mask lacks the caller, when lanes of one
/// mask ask for different operations, or when a lane of the mask never comes.
std::uint64_t meet_warp(const LaneRequest& request, Site site);

template <class T>
std::uint64_t to_bits(T value) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value,
                  "a warp primitive takes a value of up to 8 bytes");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T>
T from_bits(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T>
T shuffle(WarpOperation operation, unsigned mask, T value, unsigned parameter, int width,
          Site site) {
    const LaneRequest request{operation, mask, to_bits(value), parameter,
                              static_cast<unsigned>(width)};
    return from_bits<T>(meet_warp(request, site));
}

template <class T>
T reduce(WarpOperation operation, unsigned mask, T value, Site site) {
    static_assert(std::is_integral<T>::value && sizeof(T) == 4, "int or unsigned int");
    return from_bits<T>(meet_warp({operation, mask, to_bits(value), 0, 32}, site));
}

}  // namespace emu

// The trailing parameters of all of these are for reports; callers leave them out.

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, int line = __builtin_LINE(),
              const char* file = __builtin_FILE()) {
    return emu::shuffle(emu::WarpOperation::shuffle_index, mask, value,
                        static_cast<unsigned>(source), width, {file, line});
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32,
                 int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    return emu::shuffle(emu::WarpOperation::shuffle_up, mask, value, distance, width, {file, line});
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32,
                   int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    return emu::shuffle(emu::WarpOperation::shuffle_down, mask, value, distance, width,
                        {file, line});
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    return emu::shuffle(emu::WarpOperation::shuffle_xor, mask, value,
                        static_cast<unsigned>(lane_mask), width, {file, line});
}

inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) {
    return static_cast<unsigned>(
        emu::meet_warp({emu::WarpOperation::ballot, mask, predicate != 0, 0, 32}, {file, line}));
}

inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE(),
                      const char* file = __builtin_FILE()) {
    return __ballot_sync(mask, predicate, line, file) != 0;
}

inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE(),
                      const char* file = __builtin_FILE()) {
    return __ballot_sync(mask, predicate == 0, line, file) == 0;
}

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, int line = __builtin_LINE(),
                       const char* file = __builtin_FILE()) {
    emu::meet_warp({emu::WarpOperation::sync, mask, 0, 0, 32}, {file, line});
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value, int line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) {
    return static_cast<unsigned>(emu::meet_warp(
        {emu::WarpOperation::match_any, mask, emu::to_bits(value), 0, 32}, {file, line}));
}

template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all_equal, int line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) {
    const unsigned lanes = static_cast<unsigned>(emu::meet_warp(
        {emu::WarpOperation::match_all, mask, emu::to_bits(value), 0, 32}, {file, line}));
    *all_equal = lanes != 0;
    return lanes;
}

template <class T>
T __reduce_add_sync(unsigned mask, T value, int line = __builtin_LINE(),
                    const char* file = __builtin_FILE()) {
    return emu::reduce(emu::WarpOperation::reduce_add, mask, value, {file, line});
}

template <class T>
T __reduce_min_sync(unsigned mask, T value, int line = __builtin_LINE(),
                    const char* file = __builtin_FILE()) {
    return emu::reduce(std::is_signed<T>::value ? emu::WarpOperation::reduce_min_signed
                                                : emu::WarpOperation::reduce_min_unsigned,
                       mask, value, {file, line});
}

template <class T>
T __reduce_max_sync(unsigned mask, T value, int line = __builtin_LINE(),
                    const char* file = __builtin_FILE()) {
    return emu::reduce(std::is_signed<T>::value ? emu::WarpOperation::reduce_max_signed
                                                : emu::WarpOperation::reduce_max_unsigned,
                       mask, value, {file, line});
}

inline unsigned __reduce_and_sync(unsigned mask, unsigned value, int line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) {
    return emu::reduce(emu::WarpOperation::reduce_and, mask, value, {file, line});
}

inline unsigned __reduce_or_sync(unsigned mask, unsigned value, int line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
    return emu::reduce(emu::WarpOperation::reduce_or, mask, value, {file, line});
}

inline unsigned __reduce_xor_sync(unsigned mask, unsigned value, int line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) {
    return emu::reduce(emu::WarpOperation::reduce_xor, mask, value, {file, line});
}

/// The lanes that reach this place together: those of the warp that come here before any of them
/// goes on, once every other lane waits elsewhere or has returned.
inline unsigned __activemask(int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    return static_cast<unsigned>(
        emu::meet_warp({emu::WarpOperation::active_mask, 0xFFFFFFFFu, 0, 0, 32}, {file, line}));
}
