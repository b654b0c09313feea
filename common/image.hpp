/// \file
/// Grey pictures of 8 bits a pixel, from and to files. PGM needs no library; PNG and JPEG are read,
/// and PNG is written, where stb is installed (Debian's libstb-dev).
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "image_stb.hpp"
#include "options.hpp"
#include "program.hpp"
#include "whole_file.hpp"

namespace mf {

/// Rows from top to bottom, pixels from left to right; pixels.size() == width * height.
struct GrayImage {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> pixels;
};

namespace detail {

/// The whole content of a regular file. Throws UsageError with the reason.
inline std::string read_file(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        throw UsageError(path + ": cannot be read: " + std::strerror(errno));
    }
    // A device or a pipe may never end.
    if (!S_ISREG(status.st_mode)) throw UsageError(path + ": is not a regular file");
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                               std::fclose);
    if (!file) throw UsageError(path + ": cannot be read: " + std::strerror(errno));
    std::string content(static_cast<std::size_t>(status.st_size), '\0');
    if (std::fread(&content[0], 1, content.size(), file.get()) != content.size()) {
        throw UsageError(path + ": cannot be read to its end");
    }
    return content;
}

/// Reads PGM, raw (P5) and plain (P2), with comments. Nothing is allocated for pixels before the
/// file is known to be long enough to hold them, whatever size its header claims.
class PgmReader {
public:
    PgmReader(const std::string& content, const std::string& path)
        : content_(content), path_(path) {}

    GrayImage read() {
        const bool raw = content_[1] == '5';
        position_ = 2;
        const std::size_t width = number("width");
        const std::size_t height = number("height");
        maximum_ = number("maxval");
        const std::size_t longest = static_cast<std::size_t>(longest_image_side);
        if (width < 1 || height < 1 || width > longest || height > longest) {
            fail("a picture of " + std::to_string(width) + "x" + std::to_string(height) +
                 " pixels; each side may be 1 to " + std::to_string(longest));
        }
        if (maximum_ > 255) {
            fail("16 bits a pixel (maxval " + std::to_string(maximum_) +
                 "); convert it to 8 bits first");
        }
        if (maximum_ < 1) fail("maxval is 0");

        GrayImage image{static_cast<int>(width), static_cast<int>(height), {}};
        const std::size_t count = width * height;
        if (raw) {
            read_raw(image, count);
        } else {
            read_plain(image, count);
        }
        skip_blanks();
        if (position_ < content_.size()) {
            fail(std::to_string(content_.size() - position_) +
                 " bytes follow the picture; is the "
                 "size in its header right?");
        }
        return image;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw UsageError(path_ + ": not a readable PGM: " + what);
    }

    [[noreturn]] void fail_truncated(std::size_t count, std::size_t found) const {
        fail("truncated: " + std::to_string(count) + " pixels announced, " + std::to_string(found) +
             " there");
    }

    static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

    void skip_blanks() {
        while (position_ < content_.size() && is_blank(content_[position_]))
            ++position_;
    }

    void skip_blanks_and_comments() {
        skip_blanks();
        while (position_ < content_.size() && content_[position_] == '#') {
            position_ = content_.find_first_of("\r\n", position_);
            if (position_ == std::string::npos) position_ = content_.size();
            skip_blanks();
        }
    }

    std::size_t number(const char* what) {
        skip_blanks_and_comments();
        const std::size_t start = position_;
        std::size_t value = 0;
        while (position_ < content_.size() && content_[position_] >= '0' &&
               content_[position_] <= '9') {
            value = value * 10 + static_cast<std::size_t>(content_[position_++] - '0');
            if (value > 1000000000) fail(std::string(what) + " is absurdly large");
        }
        const bool ends = position_ >= content_.size() || is_blank(content_[position_]) ||
                          content_[position_] == '#';
        if (position_ == start || !ends) fail(std::string(what) + " is not a number");
        return value;
    }

    /// A value of 0 to maxval as one of 0 to 255, rounded.
    std::uint8_t scaled(std::size_t value) const {
        if (value > maximum_) {
            fail("a pixel of " + std::to_string(value) + " exceeds maxval " +
                 std::to_string(maximum_));
        }
        return static_cast<std::uint8_t>((value * 255 + maximum_ / 2) / maximum_);
    }

    void read_raw(GrayImage& image, std::size_t count) {
        if (position_ < content_.size() && !is_blank(content_[position_])) {
            fail("maxval is not followed by a blank");
        }
        ++position_;  // exactly one blank separates the header from the pixels
        const std::size_t found = content_.size() > position_ ? content_.size() - position_ : 0;
        if (found < count) fail_truncated(count, found);
        image.pixels.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            image.pixels[i] = scaled(static_cast<unsigned char>(content_[position_ + i]));
        }
        position_ += count;
    }

    void read_plain(GrayImage& image, std::size_t count) {
        // A pixel takes a digit and a blank at least; the last one may lack the blank.
        const std::size_t possible = (content_.size() - position_ + 1) / 2;
        if (possible < count) fail_truncated(count, possible);
        image.pixels.reserve(count);
        while (image.pixels.size() < count) {
            skip_blanks_and_comments();
            if (position_ == content_.size()) fail_truncated(count, image.pixels.size());
            image.pixels.push_back(scaled(number("a pixel")));
        }
        skip_blanks_and_comments();
    }

    const std::string& content_;
    const std::string& path_;
    std::size_t position_ = 0;
    std::size_t maximum_ = 255;
};

inline bool starts_with(const std::string& text, const std::string& start) {
    return text.compare(0, start.size(), start) == 0;
}

inline bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace detail

/// Reads a picture; its content, not its name, tells the format. Colours become grey. Throws
/// UsageError with one line that says what is wrong with the file.
inline GrayImage load_image(const std::string& path) {
    const std::string content = detail::read_file(path);
    if (detail::starts_with(content, "P5") || detail::starts_with(content, "P2")) {
        return detail::PgmReader(content, path).read();
    }
    if (detail::starts_with(content, "\x89PNG") || detail::starts_with(content, "\xFF\xD8")) {
        GrayImage image;
        detail::decode_with_stb(content, path, longest_image_side, image.width, image.height,
                                image.pixels);
        return image;
    }
    if (content.size() > 1 && content[0] == 'P' && content[1] >= '1' && content[1] <= '7') {
        throw UsageError(path + ": of the PNM family only PGM (P5, P2) is read, this is P" +
                         content[1]);
    }
    throw UsageError(path + (content.empty() ? ": is empty" : ": is neither PGM nor PNG nor JPEG"));
}

/// Where a picture is written to, PGM or PNG by the end of its name. Make it before measuring: a
/// file that cannot be written is then found in time (UsageError).
class ImageFile {
public:
    explicit ImageFile(const std::string& path)
        : png_(detail::ends_with(path, ".png")), file_(path) {
        if (!png_ && !detail::ends_with(path, ".pgm")) {
            throw UsageError(path + ": pictures are written as .pgm or .png");
        }
        if (png_ && !detail::have_stb) throw UsageError(path + ": " + detail::stb_missing);
    }

    /// Whole or not at all; throws std::runtime_error.
    void write(const GrayImage& image) const {
        if (png_) {
            file_.write(detail::encode_png_with_stb(image.width, image.height, image.pixels));
            return;
        }
        std::string content =
            "P5\n" + std::to_string(image.width) + " " + std::to_string(image.height) + "\n255\n";
        content.append(image.pixels.begin(), image.pixels.end());
        file_.write(content);
    }

private:
    bool png_;
    WholeFile file_;
};

inline void save_image(const std::string& path, const GrayImage& image) {
    ImageFile(path).write(image);
}

}  // namespace mf
