/// \file
/// The only place that touches stb: PNG and JPEG through its single-header readers and writer,
/// compiled into the program as static functions; refusals with a reason where stb is missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "program.hpp"

#if __has_include(<stb/stb_image.h>) && __has_include(<stb/stb_image_write.h>)
#define MEASURE_FIRST_HAS_STB 1
#ifndef MEASURE_FIRST_LINK_STB  // a build that links stb's library defines it, to compile faster
// Static, and quiet about those of its functions that nobody here calls.
#define STBIDEF static __attribute__((unused))
#define STBIWDEF static __attribute__((unused))
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#endif
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_WRITE_NO_STDIO
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#endif
#if defined(__NVCC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#endif
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#if defined(__NVCC__)
#pragma nv_diagnostic pop
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif

namespace mf {
namespace detail {

constexpr const char* stb_missing =
    "PNG and JPEG need stb at compile time (Debian's libstb-dev); PGM works without";

#ifdef MEASURE_FIRST_HAS_STB

constexpr bool have_stb = true;

/// Decodes PNG or JPEG to grey. The size is judged before memory is allocated for it.
inline void decode_with_stb(const std::string& content, const std::string& path, int longest_side,
                            int& width, int& height, std::vector<std::uint8_t>& pixels) {
    const auto fail = [&path](const std::string& what) {
        throw UsageError(path + ": not a readable PNG or JPEG: " + what);
    };
    const auto* const bytes = reinterpret_cast<const unsigned char*>(content.data());
    if (content.size() > 0x7FFFFFFF) fail("more than 2 GiB");
    const int size = static_cast<int>(content.size());
    int channels = 0;
    if (stbi_info_from_memory(bytes, size, &width, &height, &channels) == 0) {
        fail(stbi_failure_reason());
    }
    // 2^30: what stb can address with a few channels.
    if (width > longest_side || height > longest_side ||
        static_cast<std::int64_t>(width) * height > (std::int64_t{1} << 30) / channels) {
        fail("too large, " + std::to_string(width) + "x" + std::to_string(height) + " pixels");
    }
    if (stbi_is_16_bit_from_memory(bytes, size) != 0) {
        fail("16 bits a channel; convert it to 8 bits first");
    }
    // stb fills up what is missing at the end of a JPEG, so its end marker is looked for here.
    const bool jpeg = bytes[0] == 0xFF;
    const std::size_t tail = content.size() > 1024 ? content.size() - 1024 : 0;
    if (jpeg && content.find("\xFF\xD9", tail) == std::string::npos) fail("truncated");

    unsigned char* const decoded =
        stbi_load_from_memory(bytes, size, &width, &height, &channels, 1);
    if (decoded == nullptr) fail(stbi_failure_reason());
    pixels.assign(decoded, decoded + static_cast<std::size_t>(width) * height);
    stbi_image_free(decoded);
}

/// A grey PNG as the content of a file.
inline std::string encode_png_with_stb(int width, int height,
                                       const std::vector<std::uint8_t>& pixels) {
    std::string content;
    const auto append = [](void* context, void* data, int size) {
        static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                                   static_cast<std::size_t>(size));
    };
    if (stbi_write_png_to_func(append, &content, width, height, 1, pixels.data(), width) == 0) {
        throw std::runtime_error("the picture could not be encoded as PNG");
    }
    return content;
}

#else

constexpr bool have_stb = false;

inline void decode_with_stb(const std::string&, const std::string& path, int, int&, int&,
                            std::vector<std::uint8_t>&) {
    throw UsageError(path + ": " + stb_missing);
}

inline std::string encode_png_with_stb(int, int, const std::vector<std::uint8_t>&) {
    throw std::logic_error(stb_missing);
}

#endif

}  // namespace detail
}  // namespace mf
