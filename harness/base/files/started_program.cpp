#include "harness/base/files/started_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "harness/base/files/leftovers.hpp"

extern char** environ;

namespace espalier::bench {
namespace {

/// The program's descriptors and signals; its output goes to `pipe` if it is captured.
class Setup {
public:
    Setup(const ProgramCall& call, int pipe) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
        if (call.input >= 0)
            posix_spawn_file_actions_adddup2(&actions_, call.input, STDIN_FILENO);
        else
            posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (call.output == ProgramCall::Output::captured)
            posix_spawn_file_actions_adddup2(&actions_, pipe, STDOUT_FILENO);
        if (call.output == ProgramCall::Output::discarded) discard(STDOUT_FILENO);
        if (call.quiet) discard(STDERR_FILENO);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    }
    ~Setup() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    Setup(const Setup&) = delete;
    Setup& operator=(const Setup&) = delete;

    /// The program's id; 0 and `error` if it cannot be started.
    pid_t start(const std::vector<std::string>& words, int& error) const {
        std::vector<char*> pointers;
        for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
        pointers.push_back(nullptr);
        pid_t started = 0;
        error = posix_spawnp(&started, pointers[0], &actions_, &attributes_, pointers.data(), environ);
        return error == 0 ? started : 0;
    }

private:
    void discard(int descriptor) { posix_spawn_file_actions_addopen(&actions_, descriptor, "/dev/null", O_WRONLY, 0); }

    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

/// Reads to the end and keeps the first bytes.
std::string read_all(int descriptor, std::size_t most) {
    std::string text;
    char chunk[4096];
    while (true) {
        const ssize_t got = read(descriptor, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return text;
        text.append(chunk, std::min(static_cast<std::size_t>(got), most - text.size()));
    }
}

}  // namespace

ProgramEnd run_to_end(const ProgramCall& call) {
    ProgramEnd end;
    int pipe[2] = {-1, -1};
    if (call.output == ProgramCall::Output::captured && pipe2(pipe, O_CLOEXEC) != 0) {
        end.error = errno;
        return end;
    }
    const Setup setup(call, pipe[1]);
    const ChildOnSignal child([&] { return setup.start(call.words, end.error); });
    if (pipe[1] >= 0) close(pipe[1]);
    if (pipe[0] >= 0 && end.error == 0) end.output = read_all(pipe[0], call.most);
    if (pipe[0] >= 0) close(pipe[0]);
    if (end.error != 0) return end;
    int status = 0;
    while (waitpid(child.pid(), &status, 0) < 0 && errno == EINTR) {
    }
    end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return end;
}

}  // namespace espalier::bench
