/// \file
/// JSON values, files that are written whole or not at all, and the record.
#include "record.hpp"

#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "catch.hpp"
#include "sample_record.hpp"
#include "scratch_folder.hpp"

namespace {

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

std::string refusal_of(const std::string& path) {
    try {
        const mf::WholeFile file(path);
    } catch (const mf::UsageError& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("JSON numbers read back as themselves") {
    for (const double value :
         {0.0, 1.0, -1.5, 0.1, 1.0 / 3, 1e-42, 4.814e3, 123456789012345678.0}) {
        CHECK(std::strtod(mf::json_number(value).c_str(), nullptr) == value);
    }
    CHECK(mf::json_number(0.1) == "0.1");
    CHECK(mf::json_number(200) == "200");
    CHECK(mf::json_number(137438953472) == "137438953472");
    CHECK(mf::Json(18446744073709551615u).text() == "18446744073709551615");
    CHECK(mf::Json(true).text() == "true");
    CHECK(mf::Json(std::optional<double>()).text() == "null");
    CHECK(mf::Json(std::optional<double>(2)).text() == "2");
}

TEST_CASE("JSON refuses NaN and infinity instead of writing null") {
    for (const double value : {double(NAN), double(INFINITY), -double(INFINITY)}) {
        CHECK_THROWS_AS(mf::Json(value), mf::MeasurementRefused);
        CHECK_THROWS_AS(mf::Json(std::vector<double>{1, value}), mf::MeasurementRefused);
        CHECK_THROWS_AS(mf::Json(std::optional<double>(value)), mf::MeasurementRefused);
    }
}

TEST_CASE("JSON strings are escaped, and always valid UTF-8") {
    CHECK(mf::json_string("a\"b\\c") == R"("a\"b\\c")");
    CHECK(mf::json_string("line\nbreak\t\x01") == R"("line\u000abreak\u0009\u0001")");
    CHECK(mf::json_string("G\xC3\xA4rten \xF0\x9F\x98\x80") ==
          "\"G\xC3\xA4rten \xF0\x9F\x98\x80\"");
    CHECK(mf::json_string("\xFF") == "\"\xEF\xBF\xBD\"");
    CHECK(mf::json_string("a\xC3") == "\"a\xEF\xBF\xBD\"");                // cut off
    CHECK(mf::json_string("\xC0\x80") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");  // overlong
    CHECK(mf::json_string("\xED\xA0\x80") ==
          "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");  // surrogate
}

TEST_CASE("JSON values nest") {
    mf::Json list = mf::Json::array();
    list.push(1).push("two");
    CHECK(list.text() == R"([1, "two"])");
    CHECK(mf::Json::array().text() == "[]");
    CHECK(mf::Json::object().text() == "{}");
    CHECK(mf::Json{{"a", list}, {"b", nullptr}}.text() ==
          "{\n  \"a\": [1, \"two\"],\n  \"b\": null\n}");
    mf::Json nested = mf::Json::array();
    nested.push(mf::Json{{"x", 1}});
    CHECK(nested.text() == "[\n  {\n    \"x\": 1\n  }\n]");
}

TEST_CASE("a file is written whole, in place of the old one, with its permissions") {
    const ScratchFolder folder;
    const std::string path = folder.path("record.json");
    const mf::WholeFile file(path);
    CHECK(folder.names().empty());  // asking changes nothing
    file.write("one");
    CHECK(content_of(path) == "one");
    REQUIRE(chmod(path.c_str(), 0640) == 0);
    mf::WholeFile(path).write("two");
    CHECK(content_of(path) == "two");
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);
    CHECK(folder.names() == std::vector<std::string>{"record.json"});
}

TEST_CASE("a new file has the permissions that the umask leaves") {
    const ScratchFolder folder;
    const mode_t before = umask(0027);
    mf::WholeFile(folder.path("a")).write("x");
    umask(before);
    struct stat status {};
    REQUIRE(stat(folder.path("a").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a file that cannot be written is found before anything is measured") {
    const ScratchFolder folder;
    CHECK(contains(refusal_of(folder.path("none/record.json")), "no such folder"));
    CHECK(contains(refusal_of(folder.path("none/")), "no such folder"));
    CHECK(contains(refusal_of(folder.path("")), "is a folder"));
    CHECK(contains(refusal_of(""), "needs a name"));
    CHECK(contains(refusal_of(folder.path(std::string(300, 'x'))), "cannot be written"));
    std::ofstream(folder.path("plain")) << "x";
    CHECK(contains(refusal_of(folder.path("plain/record.json")), "cannot be written"));
    std::filesystem::create_symlink("nowhere", folder.path("dangling"));
    CHECK(contains(refusal_of(folder.path("dangling")), "link leads nowhere"));
    if (geteuid() != 0) {  // root may write everywhere
        std::filesystem::create_directory(folder.path("closed"));
        chmod(folder.path("closed").c_str(), 0555);
        CHECK(contains(refusal_of(folder.path("closed/record.json")), "Permission denied"));
        chmod(folder.path("plain").c_str(), 0444);
        CHECK(contains(refusal_of(folder.path("plain")), "Permission denied"));
    }
}

TEST_CASE("a full disk: the old file stays, and nothing is left behind") {
    const ScratchFolder folder;
    const std::string path = folder.path("record.json");
    mf::WholeFile(path).write("the record of yesterday");
    const mf::WholeFile file(path);
    std::string message;
    {
        const FileSizeLimit limit(4096);
        try {
            file.write(std::string(100000, 'x'));
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
    }
    CHECK(contains(message, path + ": cannot be written: File too large"));
    CHECK(content_of(path) == "the record of yesterday");
    CHECK(folder.names() == std::vector<std::string>{"record.json"});
}

TEST_CASE("a device is written to, not replaced") {
    mf::WholeFile("/dev/null").write("x");
    struct stat status {};
    REQUIRE(stat("/dev/null", &status) == 0);
    CHECK(S_ISCHR(status.st_mode));
    CHECK_THROWS_AS(mf::WholeFile("/dev/full").write("x"), std::runtime_error);
}

TEST_CASE("a link is followed: the file behind it is replaced, the link stays") {
    const ScratchFolder folder;
    mf::WholeFile(folder.path("target")).write("old");
    std::filesystem::create_symlink("target", folder.path("link"));
    mf::WholeFile(folder.path("link")).write("new");
    CHECK(std::filesystem::is_symlink(folder.path("link")));
    CHECK(content_of(folder.path("target")) == "new");
}

TEST_CASE("the record holds what a run needs to be repeated") {
    const std::string text = sample_record().text();
    for (const char* const part :
         {"\"schema\": \"measure-first/record/v1\"", "\"revision\": \"", "\"flags\": \"",
          "\"seed\": 42", "\"boundary\": \"between two events",
          "\"warm_up_ms\": ", "\"order\": \"interleaved\"", "\"ms\": [0.25, 0.5, 0.75]",
          "\"median\": 0.5", "\"driver_release\": \"580.159\"", "\"inner\": \"auto\"",
          "\"correct\": true", "\"memory_clock_khz\": null", "\"verdict\": \"inconclusive\""}) {
        INFO(part);
        CHECK(contains(text, part));
    }
    CHECK(text.back() == '\n');
}

TEST_CASE("a record without its input, or with a NaN among its samples, is not written") {
    mf::Record record("program", 0, nullptr, mf::DeviceInfo{}, mf::CommonOptions{});
    CHECK_THROWS_AS(record.text(), std::logic_error);
    mf::Series series;
    series.ms = {1, NAN};
    CHECK_THROWS(record.add_series("kernel ms", series));
}

TEST_CASE("one failed check makes the record's result wrong") {
    mf::Record record = sample_record();
    record.add_check({"tiled", false, "pixel 3: expected 1, found 2"}, "after timing");
    CHECK(contains(record.text(), "\"correct\": false"));
    CHECK(contains(record.text(), "expected 1, found 2"));
}
