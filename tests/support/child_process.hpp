#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace espalier {

/// A program that a test runs beside itself, in a process group of its own.
class ChildProcess {
public:
    /// stdout and stderr go to the file `output`; no file may grow beyond `file_bytes`.
    ChildProcess(std::vector<std::string> arguments, const std::string& output,
                 std::optional<rlim_t> file_bytes = std::nullopt) {
        std::vector<char*> pointers;
        for (auto& argument : arguments) pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        pid_ = fork();
        if (pid_ != 0) return;
        setpgid(0, 0);
        const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        dup2(file, 1);
        dup2(file, 2);
        if (file_bytes) {
            const rlimit limit{*file_bytes, *file_bytes};
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        execv(pointers[0], pointers.data());
        _exit(127);
    }
    ~ChildProcess() {
        if (!finished_) {
            ::kill(pid_, SIGKILL);
            static_cast<void>(wait());
        }
    }
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    void kill(int signal) const { ::kill(pid_, signal); }

    /// Exit code, or minus the signal.
    int wait() {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        finished_ = true;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

    /// The exit status, or nothing if it is still running after `seconds`.
    std::optional<int> wait_for(double seconds) {
        for (double waited = 0; waited < seconds; waited += 0.005) {
            int status = 0;
            if (waitpid(pid_, &status, WNOHANG) == pid_) {
                finished_ = true;
                return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return std::nullopt;
    }

private:
    pid_t pid_ = -1;
    bool finished_ = false;
};

/// Processes that run this program, zombies aside.
inline int running(const std::string& program) {
    int count = 0;
    std::error_code error;
    const auto wanted = std::filesystem::canonical(program);
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const auto target = std::filesystem::read_symlink(entry.path() / "exe", error);
        count += !error && target == wanted;
    }
    return count;
}

}  // namespace espalier
