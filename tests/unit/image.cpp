/// \file
/// Pictures from and to files, whole ones and broken ones.
#include "image.hpp"

#include <fstream>

#include "catch.hpp"
#include "scratch_folder.hpp"

namespace {

/// Writes `content` to a file, loads it as a picture, and returns the error or "".
std::string error_of(const std::string& content, mf::GrayImage* image = nullptr) {
    const ScratchFolder folder;
    const std::string path = folder.path("picture");
    std::ofstream(path, std::ios::binary) << content;
    try {
        const mf::GrayImage loaded = mf::load_image(path);
        if (image != nullptr) *image = loaded;
    } catch (const mf::UsageError& error) {
        CHECK(std::string(error.what()).find(path) == 0);
        CHECK(std::string(error.what()).find('\n') == std::string::npos);
        return error.what();
    }
    return "";
}

mf::GrayImage load(const std::string& content) {
    mf::GrayImage image;
    CHECK(error_of(content, &image) == "");
    return image;
}

bool fails_with(const std::string& content, const std::string& part) {
    const std::string error = error_of(content);
    INFO(error);
    CHECK(error.find(part) != std::string::npos);
    return error.find(part) != std::string::npos;
}

using Pixels = std::vector<std::uint8_t>;

mf::GrayImage gradient(int width, int height) {
    mf::GrayImage image{width, height, {}};
    for (int i = 0; i < width * height; ++i) {
        image.pixels.push_back(static_cast<std::uint8_t>(i * 37 % 251));
    }
    return image;
}

}  // namespace

TEST_CASE("raw PGM") {
    const mf::GrayImage image = load(std::string("P5\n3 2\n255\n\0\1\2\xFD\xFE\xFF", 17));
    CHECK(image.width == 3);
    CHECK(image.height == 2);
    CHECK(image.pixels == Pixels{0, 1, 2, 253, 254, 255});
}

TEST_CASE("a raw pixel may look like a blank, a comment or a digit") {
    CHECK(load("P5 4 1 255\n\n# 1").pixels == Pixels{'\n', '#', ' ', '1'});
}

TEST_CASE("plain PGM") {
    CHECK(load("P2\n3 2\n255\n0 1 2\n253 254 255\n").pixels == Pixels{0, 1, 2, 253, 254, 255});
    CHECK(load("P2 1 1 255 7").pixels == Pixels{7});
}

TEST_CASE("comments may stand between the numbers of a header") {
    CHECK(load("P5\n# made by hand\n# twice\n2 # width\n1\n#max\n255\nab").pixels ==
          Pixels{'a', 'b'});
    CHECK(load("P2\n#\n2 1 255\n# pixels\n5\n# between\n6\n# last").pixels == Pixels{5, 6});
}

TEST_CASE("a maxval below 255 is scaled, with rounding") {
    CHECK(load(std::string("P5 3 1 1\n\0\1\1", 12)).pixels == Pixels{0, 255, 255});
    CHECK(load("P2 4 1 15\n0 5 10 15").pixels == Pixels{0, 85, 170, 255});
    CHECK(load("P2 3 1 100\n0 50 100").pixels == Pixels{0, 128, 255});
}

TEST_CASE("blanks after the picture are no content") {
    CHECK(load("P5 2 1 255\nab\n\n").pixels == Pixels{'a', 'b'});
}

TEST_CASE("broken PGM files: one line with the reason") {
    CHECK(fails_with("P5\n3 2\n255\nabcde", "truncated: 6 pixels announced, 5 there"));
    CHECK(fails_with("P5\n3 2\n255", "truncated"));
    CHECK(fails_with("P5\n3 2\n", "maxval is not a number"));
    CHECK(fails_with("P5\n3", "height is not a number"));
    CHECK(fails_with("P5", "width is not a number"));
    CHECK(fails_with("P5\n# endless comment", "width is not a number"));
    CHECK(fails_with("P5\n-3 2\n255\nabcdef", "width is not a number"));
    CHECK(fails_with("P5\n3x 2\n255\nabcdef", "width is not a number"));
    CHECK(fails_with("P5\n0 2\n255\n", "0x2 pixels"));
    CHECK(fails_with("P5\n3 2\n0\nabcdef", "maxval is 0"));
    CHECK(fails_with("P5\n3 2\n65535\nabcdefabcdef", "16 bits a pixel"));
    CHECK(fails_with("P5\n3 2\n255\nabcdefg", "1 bytes follow"));
    CHECK(fails_with("P5\n3 2\n255#\nabcdef", "not followed by a blank"));
    CHECK(fails_with("P5\n2 1\n100\nab\xFF", "bytes follow"));
    CHECK(fails_with("P5\n2 1\n100\na\xFF", "exceeds maxval 100"));
    CHECK(fails_with("P2\n2 1\n255\n1", "truncated"));
    CHECK(fails_with("P2\n4 1\n255\n1   2  3 ", "truncated: 4 pixels announced, 3 there"));
    CHECK(fails_with("P2\n2 1\n255\n1 256", "exceeds maxval 255"));
    CHECK(fails_with("P2\n2 1\n255\n1 x", "a pixel is not a number"));
    CHECK(fails_with("P2\n2 1\n255\n1 2 3", "bytes follow"));
}

TEST_CASE("absurd sizes are refused without memory for them") {
    CHECK(fails_with("P5\n65536 65536\n255\nabc", "truncated: 4294967296 pixels announced"));
    CHECK(fails_with("P2\n65536 65536\n255\n1 2 3", "truncated"));
    CHECK(fails_with("P5\n65537 1\n255\nabc", "each side may be 1 to 65536"));
    CHECK(fails_with("P5\n99999999999999999999999 1\n255\nabc", "absurdly large"));
}

TEST_CASE("other kinds of files") {
    CHECK(fails_with("", "is empty"));
    CHECK(fails_with("hello", "neither PGM nor PNG nor JPEG"));
    CHECK(fails_with("P6\n1 1\n255\nabc", "this is P6"));
    CHECK_THROWS_AS(mf::load_image("/dev/zero"), mf::UsageError);
    CHECK_THROWS_AS(mf::load_image("/"), mf::UsageError);
    CHECK_THROWS_AS(mf::load_image("/nowhere/at/all.pgm"), mf::UsageError);
}

TEST_CASE("a picture survives being written and read") {
    const ScratchFolder folder;
    for (const auto& [width, height] : {std::pair<int, int>{1, 1}, {5, 5}, {1, 300}, {300, 1}}) {
        const mf::GrayImage image = gradient(width, height);
        std::vector<std::string> names{"a.pgm"};
        if (mf::detail::have_stb) names.push_back("a.png");
        for (const std::string& name : names) {
            mf::save_image(folder.path(name), image);
            const mf::GrayImage again = mf::load_image(folder.path(name));
            CHECK(again.width == width);
            CHECK(again.height == height);
            CHECK(again.pixels == image.pixels);
        }
    }
}

TEST_CASE("a picture is written whole or not at all, and found out in time") {
    const ScratchFolder folder;
    CHECK_THROWS_AS(mf::ImageFile(folder.path("none/a.pgm")), mf::UsageError);
    CHECK_THROWS_AS(mf::ImageFile(folder.path("a.bmp")), mf::UsageError);
    CHECK_THROWS_AS(mf::ImageFile(""), mf::UsageError);
    const mf::ImageFile file(folder.path("a.pgm"));
    CHECK(folder.names().empty());  // the trial left nothing
    mf::save_image(folder.path("a.pgm"), gradient(3, 3));
    {
        const FileSizeLimit limit(100);
        CHECK_THROWS_AS(file.write(gradient(100, 100)), std::runtime_error);
    }
    CHECK(folder.names() == std::vector<std::string>{"a.pgm"});
    CHECK(mf::load_image(folder.path("a.pgm")).pixels == gradient(3, 3).pixels);
}

#ifdef MEASURE_FIRST_HAS_STB
TEST_CASE("broken PNG and JPEG files") {
    const mf::GrayImage image = gradient(64, 64);
    const std::string png = mf::detail::encode_png_with_stb(64, 64, image.pixels);
    CHECK(load(png).pixels == image.pixels);
    for (const std::size_t length :
         {std::size_t{8}, std::size_t{20}, png.size() / 2, png.size() - 20}) {
        CHECK(fails_with(png.substr(0, length), "not a readable PNG or JPEG"));
    }
    CHECK(fails_with("\xFF\xD8 nonsense", "not a readable PNG or JPEG"));

    // A header that announces 2^31 - 1 pixels in each direction.
    std::string huge = png;
    for (const std::size_t at : {16, 20})
        huge.replace(at, 4, "\x7F\xFF\xFF\xFF");
    CHECK(fails_with(huge, "not a readable PNG or JPEG"));

    std::string jpeg;
    stbi_write_jpg_to_func(
        [](void* context, void* data, int size) {
            static_cast<std::string*>(context)->append(static_cast<char*>(data),
                                                       static_cast<std::size_t>(size));
        },
        &jpeg, 64, 64, 1, image.pixels.data(), 90);
    CHECK(load(jpeg).pixels.size() == 64 * 64);
    CHECK(fails_with(jpeg.substr(0, jpeg.size() / 2), "truncated"));
}
#endif
