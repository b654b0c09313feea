#include "symbols.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace emu::inspector {
namespace {

/// Code that no learner wrote: the emulator's headers, what the rewriter adds in front of a file,
/// the system's headers.
bool not_the_learners(const std::string& file) {
    for (const char* const part : {"/emulator/include/", "/emulator/runtime/", ".cu.cpp",
                                   "/usr/include/", "/usr/lib/", "/usr/local/include/"}) {
        if (file.find(part) != std::string::npos) return true;
    }
    return false;
}

/// Reads "path:line", perhaps with " (discriminator N)" behind it. Not known: "??:0", "path:?".
Place place_of(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || text.compare(0, 2, "??") == 0) return {};
    const int line = std::atoi(text.c_str() + colon + 1);
    if (line <= 0) return {};
    return {std::filesystem::path(text.substr(0, colon)).lexically_normal().string(), line};
}

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// addr2line's output for the addresses in `input`; throws std::runtime_error saying what failed.
std::string run_addr2line(const std::string& program, std::FILE* input) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::strerror(errno));
    const File reader(fdopen(ends[0], "r"));

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::string path = program;
    std::string words[] = {"addr2line", "-a", "-i", "-e"};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                         words[3].data(), path.data(),     nullptr};
    pid_t child = 0;
    const int error = posix_spawnp(&child, "addr2line", &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) throw std::runtime_error(std::strerror(error));

    std::string output;
    char part[4096];
    for (std::size_t n; (n = std::fread(part, 1, sizeof part, reader.get())) > 0;)
        output.append(part, n);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        throw std::runtime_error("it could not read " + program);
    }
    return output;
}

}  // namespace

std::map<Pc, Place> places_of_addr2line(const std::string& output) {
    std::map<Pc, Place> places;
    std::istringstream lines(output);
    Place* place = nullptr;
    bool learners = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.compare(0, 2, "0x") == 0 && line.find(':') == std::string::npos) {
            place = &places[static_cast<Pc>(std::strtoull(line.c_str(), nullptr, 16) + 1)];
            learners = false;
            continue;
        }
        const Place frame = place_of(line);
        if (place == nullptr || learners || !frame.known()) continue;
        learners = !not_the_learners(frame.file);
        if (learners || !place->known()) *place = frame;
    }
    return places;
}

Symbols Symbols::read(const std::string& program, const std::set<Pc>& pcs) {
    Symbols symbols;
    if (pcs.empty()) return symbols;
    try {
        const File addresses(std::tmpfile());
        if (!addresses) throw std::runtime_error(std::strerror(errno));
        for (const Pc pc : pcs)
            std::fprintf(addresses.get(), "0x%x\n", pc - 1);
        std::rewind(addresses.get());  // the child shares the position
        symbols.places_ = places_of_addr2line(run_addr2line(program, addresses.get()));
    } catch (const std::exception& error) {
        symbols.problem_ = std::string("Lines are missing, addresses stand in their place: ") +
                           "addr2line (package binutils) failed: " + error.what() + ".";
    }
    return symbols;
}

Place Symbols::find(Pc pc) const {
    const auto found = places_.find(pc);
    return found == places_.end() ? Place{} : found->second;
}

Place Symbols::find_own(Pc pc) const {
    const Place place = find(pc);
    return not_the_learners(place.file) ? Place{} : place;
}

std::string SourceLines::line(const Place& place) {
    if (!place.known()) return "";
    const auto entry = files_.try_emplace(place.file);
    std::vector<std::string>& lines = entry.first->second;
    if (entry.second) {
        std::ifstream file(place.file);
        for (std::string line; std::getline(file, line);)
            lines.push_back(line);
    }
    if (static_cast<std::size_t>(place.line) > lines.size()) return "";
    std::string text = lines[static_cast<std::size_t>(place.line) - 1];
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace emu::inspector
