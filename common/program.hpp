/// \file
/// How a program of this course ends: its exceptions, its exit status and its one line of error.
#pragma once

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>

namespace mf {

/// Exit status of every program; ./course and the tests rely on these numbers.
enum ExitStatus : int {
    exit_ok = 0,         ///< everything asked for was done and is right
    exit_failed = 1,     ///< a wrong result, a failed call, a refused measurement
    exit_usage = 2,      ///< the command line, or a file that it names, cannot be used
    exit_no_device = 77  ///< no usable CUDA device; test runners read 77 as "skipped"
};

/// The command line, or a file named on it, cannot be used.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The machine has no CUDA device that this program could use.
class NoDevice : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A result differs from the reference.
class WrongResult : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A measured value makes no sense, so nothing may be computed from it.
class MeasurementRefused : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Runs `body(argc, argv)` and returns the status to exit with. An exception becomes one line on
/// stderr, "program: message". Output that could not be written (a full disk behind a pipe or a
/// redirection) is a failure too: a table that nobody can read was not printed.
///
///     int main(int argc, char** argv) { return mf::run_program(argc, argv, body); }
template <typename Body>
int run_program(int argc, char** argv, Body&& body) {
    const char* const name = argc > 0 ? argv[0] : "program";
    const auto fail = [name](int status, std::string message) {
        std::cout.flush();
        std::fflush(stdout);
        // One line, whatever a file's name or an option's value holds.
        std::replace_if(
            message.begin(), message.end(), [](unsigned char c) { return c < ' '; }, '?');
        std::fprintf(stderr, "%s: %s\n", name, message.c_str());
        return status;
    };
    try {
        const int status = body(argc, argv);
        const bool written = std::cout.flush().good() && std::fflush(stdout) == 0;
        if (!written) return fail(exit_failed, "standard output could not be written completely");
        return status;
    } catch (const UsageError& error) {
        return fail(exit_usage, error.what());
    } catch (const NoDevice& error) {
        return fail(exit_no_device, error.what());
    } catch (const std::bad_alloc&) {
        return fail(exit_failed, "out of host memory; a smaller input may fit");
    } catch (const std::exception& error) {
        return fail(exit_failed, error.what());
    }
}

}  // namespace mf
