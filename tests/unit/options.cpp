/// \file
/// The command line: what is accepted, and one clear line for everything else.
#include "options.hpp"

#include "catch.hpp"

namespace {

struct Parsed {
    mf::CommonOptions common;
    int n = 100;
    mf::ImageSize size{7, 5};
    std::string input;
    bool go_on = false;
    std::string error;  ///< of the UsageError, if one was thrown
};

Parsed parse(std::vector<std::string> arguments) {
    Parsed parsed;
    mf::OptionParser parser("program", "a test");
    parser.add_common(parsed.common);
    parser.add_number("--n", "N", "elements", parsed.n, 0, 1000);
    parser.add_size("--size", "size of the picture", parsed.size);
    parser.add_text("--input", "IMAGE", "picture to read", parsed.input);
    arguments.insert(arguments.begin(), "program");
    std::vector<char*> argv;
    for (std::string& argument : arguments)
        argv.push_back(&argument[0]);
    try {
        parsed.go_on = parser.parse(static_cast<int>(argv.size()), argv.data());
    } catch (const mf::UsageError& error) {
        parsed.error = error.what();
    }
    return parsed;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("no arguments leave the defaults") {
    const Parsed p = parse({});
    CHECK(p.go_on);
    CHECK(p.common.device == 0);
    CHECK(p.common.plan.repeats == 16);
    CHECK(p.common.plan.inner == 0);
    CHECK(p.common.plan.order == mf::Order::interleaved);
    CHECK_FALSE(p.common.plan.cold);
    CHECK(p.common.json.empty());
    CHECK(p.n == 100);
    CHECK(p.size.width == 7);
}

TEST_CASE("every option is taken, with a blank and with an equals sign") {
    const Parsed p = parse({"--device", "2", "--repeats=5", "--inner", "10", "--order", "ba",
                            "--seed=18446744073709551615", "--json", "-", "--n", "0", "--size",
                            "1003x769", "--input=a=b.pgm"});
    CHECK(p.error.empty());
    CHECK(p.go_on);
    CHECK(p.common.device == 2);
    CHECK(p.common.plan.repeats == 5);
    CHECK(p.common.plan.inner == 10);
    CHECK(p.common.plan.order == mf::Order::ba);
    CHECK(p.common.seed == 18446744073709551615u);
    CHECK(p.common.json == "-");
    CHECK(p.n == 0);
    CHECK(p.size.width == 1003);
    CHECK(p.size.height == 769);
    CHECK(p.input == "a=b.pgm");
    CHECK(parse({"--cold"}).common.plan.cold);
    CHECK(parse({"--order", "ab"}).common.plan.order == mf::Order::ab);
    CHECK(parse({"--order", "interleaved"}).common.plan.order == mf::Order::interleaved);
    CHECK(parse({"--n", "007"}).n == 7);
}

TEST_CASE("malformed numbers are refused and named") {
    for (const char* const option : {"--repeats", "--n", "--device", "--inner", "--seed"}) {
        for (const char* const value :
             {"", "-1", "+1", "1e9", "0x5", "5 ", " 5", "5x", "1.0", "1,000", "nan", "inf", "abc",
              "99999999999999999999", "18446744073709551616",
              "340282366920938463463374607431768211456"}) {
            const Parsed p = parse({std::string(option) + "=" + value});
            INFO(option << "=" << value << ": " << p.error);
            CHECK_FALSE(p.go_on);
            CHECK(contains(p.error, option));
            CHECK(contains(p.error, std::string("\"") + value + "\""));
            CHECK_FALSE(contains(p.error, "\n"));
        }
    }
}

TEST_CASE("numbers out of range are refused with the range") {
    CHECK(contains(parse({"--repeats", "0"}).error, "from 1 to 10000"));
    CHECK(contains(parse({"--repeats", "10001"}).error, "from 1 to 10000"));
    CHECK(contains(parse({"--inner", "0"}).error, "from 1 to 1000000"));
    CHECK(contains(parse({"--n", "1001"}).error, "from 0 to 1000"));
    CHECK(contains(parse({"--n", "4294967297"}).error, "from 0 to 1000"));
}

TEST_CASE("malformed sizes are refused") {
    for (const char* const value :
         {"0x5", "5x0", "5", "x", "5x", "x5", "5x5x5", "5X5", "-5x5", "5 x5", "5x5 ", "65537x1",
          "1x65537", "99999999999999999999x1", "5.5x5", "0x0"}) {
        const Parsed p = parse({"--size", value});
        INFO(value << ": " << p.error);
        CHECK(contains(p.error, std::string("--size: \"") + value + "\""));
        CHECK(contains(p.error, "WIDTHxHEIGHT"));
    }
    CHECK(parse({"--size", "65536x1"}).size.width == 65536);
}

TEST_CASE("an option with no value, given twice, or given a value it has no use for") {
    CHECK(contains(parse({"--json"}).error, "--json needs a value"));
    CHECK(contains(parse({"--json", "--cold"}).error, "--json needs a value"));
    CHECK(contains(parse({"--repeats"}).error, "--repeats needs a value"));
    CHECK(contains(parse({"--json="}).error, "--json"));
    CHECK(contains(parse({"--repeats", "3", "--repeats", "4"}).error, "--repeats is given twice"));
    CHECK(contains(parse({"--cold", "--cold"}).error, "given twice"));
    CHECK(contains(parse({"--cold=1"}).error, "--cold takes no value"));
    CHECK(contains(parse({"--order", "abba"}).error, "ab|ba|interleaved"));
}

TEST_CASE("a cold sample is one launch") {
    CHECK(contains(parse({"--cold", "--inner", "2"}).error, "one launch a sample"));
    CHECK(parse({"--cold", "--inner", "1"}).go_on);
}

TEST_CASE("an unknown option suggests the nearest") {
    CHECK(contains(parse({"--repeat", "3"}).error, "did you mean --repeats?"));
    CHECK(contains(parse({"--devise", "3"}).error, "did you mean --device?"));
    CHECK(contains(parse({"--josn=x"}).error, "did you mean --json?"));
    CHECK(contains(parse({"--completely-else"}).error, "--help lists the options"));
    CHECK_FALSE(contains(parse({"--completely-else"}).error, "did you mean"));
    CHECK(contains(parse({"file.pgm"}).error, "unexpected argument \"file.pgm\""));
    CHECK(contains(parse({""}).error, "unexpected argument"));
    CHECK(contains(parse({"-n", "3"}).error, "unknown option -n"));
}

TEST_CASE("--help ends the program, whatever else is there") {
    const Parsed p = parse({"--repeats", "nonsense", "--help"});
    CHECK(p.error.empty());
    CHECK_FALSE(p.go_on);
}

TEST_CASE("edit distance") {
    CHECK(mf::edit_distance("", "") == 0);
    CHECK(mf::edit_distance("abc", "") == 3);
    CHECK(mf::edit_distance("kitten", "sitting") == 3);
    CHECK(mf::edit_distance("--repeat", "--repeats") == 1);
}
