/// \file
/// CUDA's vector types (`float4`, `uchar3`, …), `dim3`, and their `make_…` functions.
///
/// Sizes and alignments are CUDA's: a type of 2 or 4 elements is aligned to its size, at most to 16
/// bytes. All are plain aggregates.
///
/// In code compiled with memory-access instrumentation (-fsanitize=thread) the aligned types copy
/// themselves through one access of their whole size, as the GPU does; a plain structure would be
/// taken apart into one access an element, and a count of requests would be four times too high.
/// They are no aggregates there: initialisation in braces still works, but a union that holds one
/// cannot be copied, and the inner braces of nested initialisers cannot be left out. Copying them
/// byte by byte stays right, and std::is_trivially_copyable is told so.
#pragma once

// g++ says by itself that it instruments; clang++ is to be asked.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_THREAD__

#include <type_traits>

namespace emu {

/// The widest accesses that a thread can make, by the size of the type, in bytes.
template <int Bytes>
struct AccessWord;
template <>
struct AccessWord<2> {
    typedef unsigned short type __attribute__((may_alias));
};
template <>
struct AccessWord<4> {
    typedef unsigned int type __attribute__((may_alias));
};
template <>
struct AccessWord<8> {
    typedef unsigned int type __attribute__((vector_size(8), may_alias));
};
template <>
struct AccessWord<16> {
    typedef unsigned long long type __attribute__((vector_size(16), may_alias));
};

/// Copies one vector: a single access up to 16 bytes, two for 32 bytes.
template <class T>
[[gnu::always_inline]] inline void copy_vector(T* to, const T* from) {
    constexpr int word_bytes = sizeof(T) < 16 ? sizeof(T) : 16;
    using Word = typename AccessWord<word_bytes>::type;
    for (unsigned i = 0; i < sizeof(T) / word_bytes; ++i) {
        reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[i];
    }
}

}  // namespace emu

#define EMU_COPIES_AS_ONE(name)           \
    name() = default;                     \
    name(const name& other) {             \
        ::emu::copy_vector(this, &other); \
    }                                     \
    name& operator=(const name& other) {  \
        ::emu::copy_vector(this, &other); \
        return *this;                     \
    }
#define EMU_COPIES_AS_ONE_2(name, element) \
    EMU_COPIES_AS_ONE(name)                \
    constexpr name(element a, element b = 0) : x(a), y(b) {}
#define EMU_COPIES_AS_ONE_4(name, element)                                 \
    EMU_COPIES_AS_ONE(name)                                                \
    constexpr name(element a, element b = 0, element c = 0, element d = 0) \
        : x(a), y(b), z(c), w(d) {}
#define EMU_COPIES_BY_BYTES(name) \
    template <>                   \
    struct std::is_trivially_copyable<name> : std::true_type {};

#else

#define EMU_COPIES_AS_ONE_2(name, element)
#define EMU_COPIES_AS_ONE_4(name, element)
#define EMU_COPIES_BY_BYTES(name)

#endif

#define EMU_VECTOR_1(name, element)                \
    struct name {                                  \
        element x;                                 \
    };                                             \
    inline constexpr name make_##name(element x) { \
        return {x};                                \
    }

#define EMU_VECTOR_2(name, element, alignment)      \
    struct alignas(alignment) name {                \
        element x, y;                               \
        EMU_COPIES_AS_ONE_2(name, element)          \
    };                                              \
    EMU_COPIES_BY_BYTES(name)                       \
    inline name make_##name(element x, element y) { \
        return {x, y};                              \
    }

#define EMU_VECTOR_3(name, element)                                      \
    struct name {                                                        \
        element x, y, z;                                                 \
    };                                                                   \
    inline constexpr name make_##name(element x, element y, element z) { \
        return {x, y, z};                                                \
    }

#define EMU_VECTOR_4(name, element, alignment)                            \
    struct alignas(alignment) name {                                      \
        element x, y, z, w;                                               \
        EMU_COPIES_AS_ONE_4(name, element)                                \
    };                                                                    \
    EMU_COPIES_BY_BYTES(name)                                             \
    inline name make_##name(element x, element y, element z, element w) { \
        return {x, y, z, w};                                              \
    }

/// Types of 1 to 4 elements; `pair` and `quad` are the alignments, in bytes, of those of 2 and 4.
#define EMU_VECTORS(prefix, element, pair, quad) \
    EMU_VECTOR_1(prefix##1, element)             \
    EMU_VECTOR_2(prefix##2, element, pair)       \
    EMU_VECTOR_3(prefix##3, element)             \
    EMU_VECTOR_4(prefix##4, element, quad)

EMU_VECTORS(char, signed char, 2, 4)
EMU_VECTORS(uchar, unsigned char, 2, 4)
EMU_VECTORS(short, short, 4, 8)
EMU_VECTORS(ushort, unsigned short, 4, 8)
EMU_VECTORS(int, int, 8, 16)
EMU_VECTORS(uint, unsigned int, 8, 16)
EMU_VECTORS(long, long, 2 * sizeof(long), 16)
EMU_VECTORS(ulong, unsigned long, 2 * sizeof(long), 16)
EMU_VECTORS(longlong, long long, 16, 16)
EMU_VECTORS(ulonglong, unsigned long long, 16, 16)
EMU_VECTORS(float, float, 8, 16)
EMU_VECTORS(double, double, 16, 16)

// CUDA 13's names that say the alignment.
EMU_VECTOR_4(long4_16a, long, 16)
EMU_VECTOR_4(long4_32a, long, 32)
EMU_VECTOR_4(ulong4_16a, unsigned long, 16)
EMU_VECTOR_4(ulong4_32a, unsigned long, 32)
EMU_VECTOR_4(longlong4_16a, long long, 16)
EMU_VECTOR_4(longlong4_32a, long long, 32)
EMU_VECTOR_4(ulonglong4_16a, unsigned long long, 16)
EMU_VECTOR_4(ulonglong4_32a, unsigned long long, 32)
EMU_VECTOR_4(double4_16a, double, 16)
EMU_VECTOR_4(double4_32a, double, 32)

#undef EMU_VECTORS
#undef EMU_VECTOR_1
#undef EMU_VECTOR_2
#undef EMU_VECTOR_3
#undef EMU_VECTOR_4
#undef EMU_COPIES_AS_ONE_2
#undef EMU_COPIES_AS_ONE_4
#undef EMU_COPIES_BY_BYTES
#ifdef EMU_COPIES_AS_ONE
#undef EMU_COPIES_AS_ONE
#endif

/// The shape of a grid or a block; what is not given is 1.
struct dim3 {
    unsigned int x, y, z;

    constexpr dim3(unsigned int x_size = 1, unsigned int y_size = 1, unsigned int z_size = 1)
        : x(x_size), y(y_size), z(z_size) {}
    constexpr dim3(uint3 size) : x(size.x), y(size.y), z(size.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
