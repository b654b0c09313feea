// What the inspector says: findings in sentences, lines of source, text and JSON.
#include "report.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "../../unit/scratch_folder.hpp"
#include "catch.hpp"
#include "finding_text.hpp"
#include "line_counts.hpp"

using namespace emu::inspector;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::string source = "folder/blur.cu";

Party thread_at(Pc pc, AccessKind kind, Triple thread, Triple block = {}) {
    Party party;
    party.kind = kind;
    party.bytes = 4;
    party.pc = pc;
    party.kernel = "blur";
    party.thread = thread;
    party.block = block;
    return party;
}

Finding race(const Party& later, const Party& earlier, Fault fault = Fault::shared_race) {
    Finding finding{fault, later, earlier, "shared variable tile, 1296 bytes", "", 1};
    return finding;
}

const Symbols symbols(std::map<Pc, Place>{{10, {source, 104}},
                                          {20, {source, 112}},
                                          {21, {source, 112}},
                                          {30, {"folder/other.cuh", 7}},
                                          {40, {source, 130}}});

ExplainedFinding explained(const Finding& finding) {
    const auto all = explain({finding}, symbols);
    REQUIRE(all.size() == 1);
    return all.front();
}

KernelReport kernel_report() {
    KernelReport kernel;
    kernel.name = "blur";
    kernel.grid = {4, 2, 1};
    kernel.block = {16, 16, 1};
    kernel.launches = 1;
    kernel.blocks = 8;
    kernel.counted_blocks = 8;
    AccessCounts& load = kernel.places[10].of(Space::global, AccessKind::read);
    load.requests = 1000;
    load.accesses = 32000;
    load.bytes = 128000;
    load.sectors = 4000;
    load.ideal_sectors = 4000;
    AccessCounts& store = kernel.places[20].of(Space::global, AccessKind::write);
    store = load;
    store.bytes = 64000;
    store.sectors = 32000;
    kernel.places[21].of(Space::global, AccessKind::write) = store;
    kernel.distinct_bytes_read = 32000;
    kernel.distinct_bytes_written = 64000;
    return kernel;
}

Report report_of(std::vector<KernelReport> kernels, std::vector<Finding> findings = {}) {
    Report report;
    report.program = "blur";
    report.kernels = std::move(kernels);
    report.findings = std::move(findings);
    return report;
}

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        widest = std::max(widest, line.size());
    return widest;
}

}  // namespace

TEST_CASE("a finding that comes again is counted, not repeated") {
    const Finding first = race(thread_at(20, AccessKind::read, {3, 0, 0}),
                               thread_at(10, AccessKind::write, {2, 0, 0}));
    Findings findings;
    CHECK(findings.empty());
    CHECK(findings.add(first) == 0);
    Finding other_thread = first;
    other_thread.first.thread = {9, 0, 0};
    CHECK(findings.add(other_thread) == 0);
    REQUIRE(findings.all().size() == 1);
    CHECK(findings.all()[0].times == 2);
    CHECK(findings.all()[0].first.thread.x == 3);

    SECTION("another fault") {
        Finding other = first;
        other.fault = Fault::atomic_mixed;
        findings.add(other);
    }
    SECTION("another instruction") {
        Finding other = first;
        other.second->pc = 11;
        findings.add(other);
    }
    SECTION("another kernel") {
        Finding other = first;
        other.first.kernel = "sharpen";
        findings.add(other);
    }
    SECTION("without the second party") {
        Finding other = first;
        other.second.reset();
        findings.add(other);
    }
    SECTION("another line of the host, where no instruction is known") {
        Finding other = first;
        other.first.line = 5;
        findings.add(other);
    }
    CHECK(findings.all().size() == 2);
}

TEST_CASE("every fault has a name of its own, a title and a sentence") {
    std::set<std::string> names;
    std::set<std::string> titles;
    for (int i = 0; i <= static_cast<int>(Fault::kernel_failure); ++i) {
        const Fault fault = static_cast<Fault>(i);
        Finding finding{fault,        thread_at(20, AccessKind::read, {}),
                        std::nullopt, "cudaMalloc #1, 8 bytes",
                        "DETAIL",     1};
        const ExplainedFinding said = explained(finding);
        INFO(name_of(fault));
        CHECK(names.insert(name_of(fault)).second);
        CHECK(titles.insert(said.title).second);
        CHECK(contains(said.sentence, "blur"));
        CHECK(contains(said.sentence, "DETAIL"));
        CHECK(said.sentence.back() == '.');
        CHECK(said.sentence.find("..") == std::string::npos);
    }
}

TEST_CASE("a race names both threads, both lines, the variable, and what to do") {
    const Party reads = thread_at(20, AccessKind::read, {3, 0, 0});
    const Party writes = thread_at(10, AccessKind::write, {2, 0, 0});

    ExplainedFinding said = explained(race(reads, writes));
    CHECK(said.sentence ==
          "In kernel blur, thread (3,0,0) of block (0,0,0) reads 4 bytes of shared variable tile "
          "(1296 bytes) here, and thread (2,0,0) writes it at line 104, with no barrier in "
          "between.");
    CHECK(contains(said.advice, "Put a __syncthreads() between the two"));

    said = explained(race(writes, thread_at(10, AccessKind::write, {5, 0, 0})));
    CHECK(contains(said.sentence, "thread (5,0,0) writes it too on the same line"));
    CHECK(contains(said.advice, "atomicAdd()"));

    said = explained(race(reads, thread_at(30, AccessKind::write, {5, 0, 0})));
    CHECK(contains(said.sentence, "at other.cuh:7"));
}

TEST_CASE("advice on a race in global memory depends on who the two are") {
    const Party reads = thread_at(20, AccessKind::read, {3, 0, 0}, {1, 0, 0});
    const auto said = [&](const Party& other) {
        return explained(race(reads, other, Fault::global_race));
    };
    Party other = thread_at(10, AccessKind::write, {2, 0, 0}, {0, 0, 0});
    CHECK(contains(said(other).sentence, "thread (2,0,0) of block (0,0,0) writes"));
    CHECK(contains(said(other).advice, "Blocks run at the same time"));

    other.block = reads.block;
    CHECK(contains(said(other).advice, "__syncthreads()"));
    CHECK(contains(said(other).advice, "one block only"));

    other.operation = 7;
    CHECK(contains(said(other).sentence, "of another launch"));
    CHECK(contains(said(other).advice, "cudaStreamWaitEvent"));

    other.kernel = "fill";
    CHECK(contains(said(other).sentence, "of kernel fill"));

    other = thread_at(10, AccessKind::write, {});
    other.anonymous = true;
    CHECK(contains(said(other).sentence, "and a thread writes it at line 104"));

    Party copy;
    copy.who = Party::Who::operation;
    copy.kind = AccessKind::write;
    copy.kernel = "cudaMemcpyAsync";
    copy.file = source;
    copy.line = 200;
    CHECK(contains(said(copy).sentence, "a copy writes it at line 200"));
    CHECK(contains(said(copy).advice, "cudaStreamWaitEvent"));
    copy.kernel = "cudaMemset";
    CHECK(contains(said(copy).sentence, "a fill writes it"));

    copy.who = Party::Who::host;
    CHECK(contains(said(copy).sentence, "the host writes it at line 200"));
    CHECK(contains(said(copy).advice, "cudaStreamSynchronize"));

    // The kernel is named, whoever came last.
    CHECK(explained(race(copy, reads, Fault::global_race)).kernel == "blur");
}

TEST_CASE("advice differs for shared and global memory") {
    Finding finding{Fault::never_written,
                    thread_at(20, AccessKind::read, {}),
                    std::nullopt,
                    "cudaMalloc #1, 8 bytes",
                    "",
                    1};
    CHECK(contains(explained(finding).advice, "cudaMemset"));
    finding.object = "dynamic shared memory, 64 bytes";
    CHECK(contains(explained(finding).advice, "__syncthreads()"));

    Finding mixed = race(thread_at(20, AccessKind::atomic, {1, 0, 0}),
                         thread_at(10, AccessKind::write, {}), Fault::atomic_mixed);
    CHECK(contains(explained(mixed).advice, "Put a __syncthreads()"));
    mixed.object = "cudaMalloc #1, 8 bytes";
    CHECK(contains(explained(mixed).advice, "a launch of its own"));
}

TEST_CASE("instructions of the same lines make one finding") {
    const Party writes = thread_at(10, AccessKind::write, {2, 0, 0});
    const Finding a = race(thread_at(20, AccessKind::read, {3, 0, 0}), writes);
    Finding b = race(thread_at(21, AccessKind::read, {4, 0, 0}), writes);
    b.times = 5;
    REQUIRE(explain({a, b}, symbols).size() == 1);
    CHECK(explain({a, b}, symbols)[0].finding.times == 6);
    // Which of two threads that race runs first is chance.
    CHECK(explain({a, race(writes, a.first)}, symbols).size() == 1);
    // Where no line is known they may be two.
    CHECK(explain({a, b}, Symbols()).size() == 2);
}

TEST_CASE("findings that one piece of advice is for are told once, with the other lines behind") {
    const Party writes = thread_at(10, AccessKind::write, {2, 0, 0});
    const Finding a = race(thread_at(20, AccessKind::read, {3, 0, 0}), writes);
    const Finding b = race(thread_at(30, AccessKind::read, {3, 0, 0}), writes);
    const Finding c = race(thread_at(40, AccessKind::read, {3, 0, 0}), writes);
    std::string text = text_of(report_of({}, {a, b, c}), symbols);
    CHECK(contains(text, "1 error found, in 3 places."));
    CHECK(contains(text, "The same at other.cuh:7 (with line 104) and line 130 (with line 104)."));

    // Another variable, and two writes, are errors of their own.
    Finding other = b;
    other.object = "shared variable sums, 128 bytes";
    text = text_of(report_of({}, {a, other, race(writes, thread_at(40, AccessKind::write, {}))}),
                   symbols);
    CHECK(contains(text, "3 errors found."));
}

TEST_CASE("a read that comes before the write it races with is not told of as never written") {
    const Finding raced = race(thread_at(10, AccessKind::write, {32, 0, 0}),
                               thread_at(20, AccessKind::read, {31, 0, 0}));
    Finding unwritten{Fault::never_written,
                      thread_at(21, AccessKind::read, {}),
                      std::nullopt,
                      raced.object,
                      "",
                      1};
    auto all = explain({unwritten, raced}, symbols);
    REQUIRE(all.size() == 1);
    CHECK(all[0].finding.fault == Fault::shared_race);

    unwritten.object = "shared variable sums, 128 bytes";
    CHECK(explain({unwritten, raced}, symbols).size() == 2);
    unwritten.object = raced.object;
    unwritten.first.pc = 30;
    CHECK(explain({unwritten, raced}, symbols).size() == 2);
}

TEST_CASE("of threads that wait at two barriers both lines are quoted") {
    const ScratchFolder folder;
    std::ofstream(folder.path("a.cu")) << "first\nsecond\n";
    const Symbols lines(
        std::map<Pc, Place>{{1, {folder.path("a.cu"), 1}}, {2, {folder.path("a.cu"), 2}}});
    const Finding finding{Fault::barrier,
                          thread_at(2, AccessKind::read, {}),
                          thread_at(1, AccessKind::read, {}),
                          "",
                          "threads wait",
                          1};
    const std::string text = text_of(report_of({}, {finding}), lines);
    CHECK(contains(text, "a.cu:2: barrier that not all threads reach"));
    CHECK(contains(text, "    1 | first\n    2 | second\n"));
}

TEST_CASE("a long list is cut") {
    Finding finding{Fault::barrier, thread_at(20, AccessKind::read, {}), std::nullopt, "", "", 1};
    for (int i = 0; i < 8; ++i)
        finding.detail += "\nitem " + std::to_string(i);
    CHECK(contains(explained(finding).sentence, "item 7."));
    finding.detail += "\nitem 8";
    CHECK(contains(explained(finding).sentence, "item 7\nand more."));
}

TEST_CASE("a list in a detail stays a list in the text and becomes one line in the JSON") {
    Finding finding{Fault::barrier,
                    thread_at(20, AccessKind::read, {}),
                    std::nullopt,
                    "",
                    "\n  thread (0,0,0): waits\n  thread (1,0,0): returned",
                    1};
    const Report report = report_of({}, {finding});
    CHECK(contains(text_of(report, symbols),
                   "same barrier:\n    thread (0,0,0): waits\n    thread (1,0,0): returned.\n"));
    CHECK(contains(json_of(report, symbols),
                   "same barrier: thread (0,0,0): waits thread (1,0,0): returned. "));
}

TEST_CASE("of what addr2line prints, the learner's innermost line is taken") {
    const auto places = places_of_addr2line(
        "0x0000000000401359\n"
        "/usr/include/c++/12/bits/stl_algobase.h:254\n"
        "/home/me/common/emulator/include/emulator/atomics.hpp:30 (discriminator 2)\n"
        "/home/me/build/../blur.cu:10 (discriminator 3)\n"
        "/home/me/blur.cu:13\n"
        "0x0000000000401400\n"
        "??:0\n"
        "0x0000000000401500\n"
        "/usr/include/c++/12/bits/stl_algobase.h:254\n"
        "0x0000000000401600\n"
        "/home/me/blur.cu:?\n"
        "0x0000000000401700\n"
        "/home/me/a.emu/blur.cu.cpp:55\n"
        "/home/me/blur.cu:5\n");
    const Symbols found(places);
    CHECK(found.find(0x40135a) == Place{"/home/me/blur.cu", 10});
    CHECK_FALSE(found.find(0x401401).known());
    CHECK(found.find(0x401501) == Place{"/usr/include/c++/12/bits/stl_algobase.h", 254});
    CHECK_FALSE(found.find_own(0x401501).known());
    CHECK(found.find_own(0x40135a).known());
    CHECK_FALSE(found.find(0x401601).known());
    CHECK(found.find(0x401701) == Place{"/home/me/blur.cu", 5});
    CHECK_FALSE(found.find(0x999).known());
}

TEST_CASE("a program that cannot be read leaves a note, and addresses in the place of lines") {
    const Symbols none = Symbols::read("/no/such/program", {10, 20});
    CHECK(contains(none.problem(), "addr2line"));
    const std::string text = text_of(report_of({kernel_report()}), none);
    CHECK(contains(text, "0xa\n"));
    CHECK(contains(text, "Note: Lines are missing"));
    CHECK(contains(json_of(report_of({kernel_report()}), none), "\"line\": null"));
    CHECK(Symbols::read("/no/such/program", {}).problem().empty());
}

TEST_CASE("lines of source are quoted where there are any") {
    const ScratchFolder folder;
    std::ofstream(folder.path("a.cu")) << "first\n\tint i = 0;  \n\n";
    SourceLines lines;
    CHECK(lines.line({folder.path("a.cu"), 1}) == "first");
    CHECK(lines.line({folder.path("a.cu"), 2}) == "int i = 0;");
    CHECK(lines.line({folder.path("a.cu"), 3}).empty());
    CHECK(lines.line({folder.path("a.cu"), 4}).empty());
    CHECK(lines.line({folder.path("b.cu"), 1}).empty());
    CHECK(lines.line({}).empty());
}

TEST_CASE("counts are summed by line, the worst line first") {
    const auto lines = lines_of(kernel_report(), symbols);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].place == Place{source, 112});
    CHECK(lines[0].counts.of(Space::global, AccessKind::write).sectors == 64000);
    CHECK(excess(lines[0].counts) == 56000);
    CHECK(lines[1].place == Place{source, 104});
    CHECK(excess(lines[1].counts) == 0);
    CHECK(totals_of(kernel_report()).of(Space::global, AccessKind::write).requests == 2000);
    CHECK(lines_of(kernel_report(), Symbols()).size() == 3);
}

TEST_CASE("the text gives each kernel's totals and says what was counted") {
    KernelReport kernel = kernel_report();
    std::string text = text_of(report_of({kernel}), symbols);
    CHECK(contains(text, "No errors found."));
    CHECK(contains(text, "Kernel blur ---"));
    CHECK(contains(text, "sums over all 8 blocks"));
    CHECK(contains(text, "threads read 1.00 bytes for each byte"));
    CHECK(contains(text, "    read          32,000     128,000   4.00\n"));
    CHECK(text.find("blur.cu:112") < text.find("blur.cu:104"));

    kernel.launches = 3;
    kernel.blocks = 24000;
    kernel.lost_events = 5;
    text = text_of(report_of({kernel}), symbols);
    CHECK(contains(text, "3 launches"));
    CHECK(contains(text, "sums over 8 of 24,000 blocks"));
    CHECK(contains(text, "5 events"));
}

TEST_CASE("divergent branches are told by line, the most divergent first") {
    KernelReport kernel = kernel_report();
    kernel.places[10].branches = 1000;
    kernel.places[10].divergent_branches = 5;
    kernel.places[20].branches = 1000;
    kernel.places[20].divergent_branches = 95;
    const std::string text = text_of(report_of({kernel}), symbols);
    CHECK(contains(text,
                   "divergent branches: 100 of 2,000 (5.0 %): blur.cu:112 (95/1,000), "
                   "line 104 (5/1,000)\n"));
}

TEST_CASE("of a kernel's shapes the busiest is shown in full, the others in a row each") {
    KernelReport small = kernel_report();
    small.places.erase(20);
    small.places.erase(21);
    small.grid = {2147483647, 65535, 65535};
    small.dynamic_shared = 232448;
    KernelReport other = small;
    other.name = "sharpen";
    const std::string text = text_of(report_of({small, kernel_report(), other}), symbols);
    CHECK(contains(text, "--- Kernel blur ---"));
    CHECK(text.find("--- Kernel blur ---") == text.rfind("--- Kernel blur ---"));
    CHECK(text.find("1 launch, grid (4,2,1)") < text.find("other shapes"));
    CHECK(text.find("  grid (2147483647") < text.find("--- Kernel sharpen ---"));
    CHECK(widest_line(text) <= 100);
}

TEST_CASE("a program that launches nothing is told so") {
    CHECK(contains(text_of(report_of({}), symbols), "No kernel ran"));
    CHECK_FALSE(contains(text_of(report_of({}), symbols), "No errors"));
}

TEST_CASE("a kernel without memory accesses takes one line") {
    KernelReport kernel;
    kernel.name = "empty";
    kernel.launches = 2;
    kernel.places[10].branches = 4;
    CHECK(contains(text_of(report_of({kernel}), symbols),
                   "Kernel empty: 2 launches, grid (0,0,0), block (0,0,0); no memory "
                   "accesses"));
}

TEST_CASE("no line is wider than 100 columns, whatever the names") {
    const ScratchFolder folder;
    std::ofstream(folder.path("long.cu")) << std::string(300, 'x') << "\n";
    const Symbols long_source(std::map<Pc, Place>{{10, {folder.path("long.cu"), 1}}});
    KernelReport kernel = kernel_report();
    kernel.name = "blur<" + std::string(200, 'T') + ", int>";
    kernel.launches = kernel.blocks = kernel.counted_blocks = 1000000000000;
    for (auto& place : kernel.places) {
        for (AccessCounts& counts : place.second.access[0])
            counts = {1000000000, 32000000000, 99999999999, 9999999999, 1000000000,
                      0,          0,           0,           9999999999, 32};
        for (AccessCounts& counts : place.second.access[1])
            counts = {1000000000, 32000000000, 99999999999, 0,          0,
                      9999999999, 1000000000,  32,          9999999999, 32};
    }
    Finding finding =
        race(thread_at(10, AccessKind::read, {}), thread_at(10, AccessKind::write, {1, 0, 0}));
    finding.first.kernel = finding.second->kernel = kernel.name;
    finding.object = std::string(150, 'o');
    Report report = report_of({kernel}, {finding});
    report.notes = {std::string(250, 'n')};
    const std::string text = text_of(report, long_source);
    CHECK(widest_line(text) <= 100);
    CHECK(contains(text, "xxx..."));
    CHECK_FALSE(contains(text, "299,999 M"));  // rounded
    CHECK(contains(text, "300,000 M"));
    CHECK(contains(text, "1 error found"));
}

TEST_CASE("the JSON holds findings, totals and lines") {
    const std::string json =
        json_of(report_of({kernel_report()}, {race(thread_at(20, AccessKind::read, {3, 0, 0}),
                                                   thread_at(10, AccessKind::write, {2, 0, 0}))}),
                symbols);
    CHECK(contains(json, "\"version\": 1"));
    CHECK(contains(json, "\"fault\": \"shared_race\""));
    CHECK(contains(json, "\"thread\": [3, 0, 0]"));
    CHECK(contains(json, "\"line\": 112"));
    CHECK(contains(json, "\"line\": 104"));
    CHECK(contains(json, "\"grid\": [4, 2, 1]"));
    CHECK(contains(json, "\"sectors\": 64000"));
    // A line shows only what it did; the totals show everything.
    const std::string lines = json.substr(json.find("\"lines\""));
    CHECK(lines.find("shared_load") == std::string::npos);
    CHECK(contains(json.substr(0, json.find("\"lines\"")), "shared_load"));
}
