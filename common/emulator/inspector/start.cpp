// Begins to watch when the program begins, and writes the report when it ends.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "inspector.hpp"
#include "whole_file.hpp"

namespace emu::inspector {

Inspector* the_inspector = nullptr;

namespace {

const mf::WholeFile* json_file = nullptr;  // never destroyed, as the inspector itself

pid_t inspected_process = 0;  // a process that it forks does not report

/// Finds out before the program runs whether the report can be written.
void open_json() {
    const char* const path = std::getenv("INSPECTOR_JSON");
    if (path == nullptr || *path == '\0') return;
    try {
        // The program may go to another folder before it ends.
        json_file = new mf::WholeFile(std::filesystem::absolute(path));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "inspector: %s\n", error.what());
        std::_Exit(2);
    }
}

/// Writes the text, and the JSON where it is wanted. False: not all could be written.
bool write_reports(const Report& report) {
    const Symbols symbols = symbols_of(report);
    const std::string text = text_of(report, symbols);
    std::fflush(stdout);
    const bool printed =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!printed) std::perror("inspector: the report could not be written");
    if (json_file == nullptr) return printed;
    try {
        json_file->write(json_of(report, symbols));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "inspector: %s\n", error.what());
        return false;
    }
    return printed;
}

/// Reports, once. Gives whether there was anything to object to, or not all could be written.
bool conclude() {
    static bool done = false;
    static bool objects = false;
    if (done || getpid() != inspected_process) return objects;
    done = true;
    const Report report = the_inspector->report();
    objects = !report.findings.empty();
    objects = !write_reports(report) || objects;
    return objects;
}

void at_exit(int status, void*) {
    if (conclude() && status == 0) {
        std::fflush(nullptr);
        _exit(1);
    }
}

/// The program dies: what was found so far may say why.
void at_death(int signal) {
    std::signal(signal, SIG_DFL);
    alarm(10);  // what has been destroyed may keep the report from being written
    conclude();
    std::raise(signal);
}

}  // namespace

void write_report_early() {
    conclude();
}

void start() {
    if (the_inspector != nullptr) return;  // every compiled file of the program calls
    the_inspector = new Inspector;         // never destroyed: the report is the last thing
    inspected_process = getpid();
    open_json();
    observer = the_inspector;
    setenv("EMULATOR_INSPECTED", "1", 1);  // programs that measure ask whether that has a meaning
    on_exit(at_exit, nullptr);
    // Of the last three the emulator keeps a kernel's for itself.
    for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGSEGV})
        std::signal(signal, at_death);
}

}  // namespace emu::inspector
