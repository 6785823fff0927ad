#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace espalier::bench {

/// From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE end the process by way of a clean-up: temporary files go, programs
/// that it waits for are ended, and the exit code is 128 + the signal. A signal that was ignored stays so (nohup), but
/// for SIGPIPE: who closes our output wants no more of it. A file that grows beyond its limit is an error of `write`.
void clean_up_on_signals();

/// The name of a temporary file. The file is removed with this object and on a signal; one of this name that somebody
/// else made is not.
class TemporaryName {
public:
    explicit TemporaryName(std::string path);
    ~TemporaryName();
    TemporaryName(const TemporaryName&) = delete;
    TemporaryName& operator=(const TemporaryName&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Creates the file, which must not be there yet, not even as a link. Returns its descriptor, or -1 and errno.
    [[nodiscard]] int create(mode_t mode);
    [[nodiscard]] bool created() const { return created_; }
    /// Gives the file its name. Returns whether it could, else errno says why not.
    [[nodiscard]] bool rename_to(const std::string& target);

private:
    std::string path_;
    bool created_ = false;  ///< and has no other name yet
};

/// A program that this process waits for: on a signal it gets SIGTERM and is waited for, so that it leaves nothing.
class ChildOnSignal {
public:
    /// `start` returns the id of the program that it started, with a signal mask of its own; 0 if it could not.
    explicit ChildOnSignal(const std::function<pid_t()>& start);
    ~ChildOnSignal();
    ChildOnSignal(const ChildOnSignal&) = delete;
    ChildOnSignal& operator=(const ChildOnSignal&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    pid_t pid_;
};

}  // namespace espalier::bench
