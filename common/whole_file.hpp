/// \file
/// A file that is written whole or not at all: whoever reads it finds the old content or the new
/// one, never half of it, and a full disk leaves nothing behind. POSIX.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "program.hpp"

namespace mf {

/// The constructor finds out whether the file can be written, *before* anything is measured, and
/// changes nothing. write() puts the content into a temporary file in the same folder, has it
/// stored (fsync), and renames it over the target in one step.
class WholeFile {
public:
    /// Throws UsageError where the file cannot be written. Devices and pipes (/dev/stdout) are
    /// written directly, since to rename a file over them would replace them.
    explicit WholeFile(const std::string& path) : given_(path), path_(path) {
        if (path.empty()) throw UsageError("a file needs a name");
        struct stat status {};
        if (lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) resolve_link();
        if (stat(path_.c_str(), &status) == 0) {
            if (S_ISDIR(status.st_mode)) refuse("is a folder");
            if (access(path_.c_str(), W_OK) != 0) refuse(std::strerror(errno));
            direct_ = !S_ISREG(status.st_mode);
            mode_ = status.st_mode & 07777;
        } else if (errno != ENOENT) {
            refuse(std::strerror(errno));
        }
        if (path_.back() == '/') refuse("no such folder");
        if (direct_) return;
        const std::string trial = temporary_name();
        const int file = create(trial);
        if (file < 0) refuse(errno == ENOENT ? "no such folder" : std::strerror(errno));
        close(file);
        unlink(trial.c_str());
    }

    /// Throws std::runtime_error where the content cannot be written; then the target is what it
    /// was before, and no temporary file remains.
    void write(const std::string& content) const {
        const IgnoreFileSizeSignal ignore;
        const std::string name = direct_ ? path_ : temporary_name();
        const int file = direct_ ? open(name.c_str(), O_WRONLY | O_CLOEXEC) : create(name);
        bool good = file >= 0 && write_all(file, content);
        if (good && !direct_) {
            good = fsync(file) == 0 && (mode_ == 0 || fchmod(file, mode_) == 0);
        }
        int reason = errno;
        if (file >= 0 && close(file) != 0 && good) {
            good = false;
            reason = errno;
        }
        if (good && !direct_ && std::rename(name.c_str(), path_.c_str()) != 0) {
            good = false;
            reason = errno;
        }
        if (good) return;
        if (!direct_ && file >= 0) unlink(name.c_str());
        throw std::runtime_error(given_ + ": cannot be written: " + std::strerror(reason) +
                                 (direct_ ? "" : "; nothing was left behind"));
    }

private:
    /// A limit on the size of files (ulimit -f) shall be an error like a full disk, not the death
    /// of the process.
    struct IgnoreFileSizeSignal {
        IgnoreFileSizeSignal() : before(std::signal(SIGXFSZ, SIG_IGN)) {}
        ~IgnoreFileSizeSignal() { std::signal(SIGXFSZ, before); }
        IgnoreFileSizeSignal(const IgnoreFileSizeSignal&) = delete;
        IgnoreFileSizeSignal& operator=(const IgnoreFileSizeSignal&) = delete;
        void (*before)(int);
    };

    [[noreturn]] void refuse(const std::string& reason) const {
        throw UsageError(given_ + ": cannot be written: " + reason);
    }

    void resolve_link() {
        char* const target = realpath(path_.c_str(), nullptr);
        if (target == nullptr)
            refuse(std::string("the link leads nowhere: ") + std::strerror(errno));
        path_ = target;
        std::free(target);
    }

    /// Beside the target, since a rename is one step only within one file system.
    std::string temporary_name() const {
        const std::size_t slash = path_.rfind('/');
        const std::string folder = slash == std::string::npos ? "" : path_.substr(0, slash + 1);
        return folder + ".measure-first-" + std::to_string(getpid()) + ".tmp";
    }

    /// O_EXCL: never through a link that someone else put there. The umask applies.
    static int create(const std::string& name) {
        return open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }

    static bool write_all(int file, const std::string& content) {
        std::size_t done = 0;
        while (done < content.size()) {
            const ssize_t count = ::write(file, content.data() + done, content.size() - done);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) return false;
            done += static_cast<std::size_t>(count);
        }
        return true;
    }

    std::string given_;  ///< as the user wrote it, for messages
    std::string path_;   ///< links resolved
    bool direct_ = false;
    mode_t mode_ = 0;  ///< permissions of the file to be replaced; 0: there is none
};

/// Throws UsageError if a record would replace a picture of the same run, read or written. Devices
/// may be named twice.
inline void refuse_one_file(const std::string& record, const std::string& picture,
                            const std::string& option) {
    if (record.empty() || record == "-" || picture.empty()) return;
    std::error_code ignored;
    if (std::filesystem::is_other(record, ignored)) return;
    if (std::filesystem::equivalent(record, picture, ignored) ||
        std::filesystem::weakly_canonical(record, ignored) ==
            std::filesystem::weakly_canonical(picture, ignored)) {
        throw UsageError(record + ": --json and " + option + " name the same file");
    }
}

}  // namespace mf
