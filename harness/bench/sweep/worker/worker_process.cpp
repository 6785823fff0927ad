#include "harness/bench/sweep/worker/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "harness/base/clock.hpp"
#include "harness/base/text/printable.hpp"

namespace espalier::bench {
namespace {

// Where the child finds what it inherits; `espalier worker` is told the numbers.
constexpr int kChannelFile = 3;
constexpr int kPageFile = 4;
constexpr std::size_t kKeptErrors = 4096;
constexpr int kTickMilliseconds = 200;

[[noreturn]] void fail(int error, const char* what) { throw std::system_error(error, std::generic_category(), what); }

/// The file actions and attributes of the child: its own process group, so that Ctrl-C reaches the sweep
/// alone, default signal handling, and the descriptors above and no others.
class SpawnSetup {
public:
    SpawnSetup(int channel, int page, int output) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
        posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, output, 1);
        posix_spawn_file_actions_adddup2(&actions_, output, 2);
        posix_spawn_file_actions_adddup2(&actions_, channel, kChannelFile);
        posix_spawn_file_actions_adddup2(&actions_, page, kPageFile);
        sigset_t all;
        sigfillset(&all);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setpgroup(&attributes_, 0);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnSetup() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;

    pid_t spawn(const std::string& program, std::vector<std::string> arguments) {
        std::vector<char*> pointers;
        for (auto& argument : arguments) pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        pid_t pid = -1;
        const int error = posix_spawn(&pid, program.c_str(), &actions_, &attributes_, pointers.data(), environ);
        if (error) fail(error, "cannot start the worker process");
        return pid;
    }

private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

/// The program, and its arguments before those of the worker.
struct Launcher {
    std::string program = "/proc/self/exe";
    std::vector<std::string> arguments{"espalier"};
};
Launcher launcher;

/// A descriptor above those that the child's are moved to, or moving one would overwrite another.
int raised(int file) {
    const int high = fcntl(file, F_DUPFD_CLOEXEC, 10);
    if (high < 0) fail(errno, "cannot prepare the worker's descriptors");
    close(file);
    return high;
}

}  // namespace

void start_workers_with(std::vector<std::string> words) { launcher = {words.front(), std::move(words)}; }

WorkerProcess::WorkerProcess(const std::string& device) {
    int channel[2], output[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0 || pipe2(output, O_CLOEXEC) != 0)
        fail(errno, "cannot connect to a worker process");
    channel_ = LineChannel(raised(channel[0]));
    errors_ = raised(output[0]);
    const int theirs = raised(channel[1]), written = raised(output[1]);
    const int page = fcntl(page_.file(), F_DUPFD_CLOEXEC, 10);
    fcntl(channel_.file(), F_SETFL, O_NONBLOCK);
    fcntl(errors_, F_SETFL, O_NONBLOCK);
    std::vector<std::string> arguments = launcher.arguments;
    arguments.insert(arguments.end(), {"worker", "--device", device, "--channel", std::to_string(kChannelFile),
                                       "--page", std::to_string(kPageFile), "--parent", std::to_string(getpid())});
    pid_ = SpawnSetup(theirs, page, written).spawn(launcher.program, std::move(arguments));
    close(theirs);
    close(written);
    close(page);
}

WorkerProcess::~WorkerProcess() {
    kill_and_reap();
    close(channel_.file());
    close(errors_);
}

bool WorkerProcess::listen() {
    // A closed stderr, which is no descriptor any more, is passed over.
    pollfd files[] = {{channel_.file(), POLLIN, 0}, {errors_, POLLIN, 0}};
    poll(files, 2, kTickMilliseconds);
    drain_errors();
    return channel_.receive();
}

void WorkerProcess::drain_errors() {
    char chunk[1 << 12];
    for (int reads = 0; reads < 64 && errors_ >= 0; ++reads) {  // a flood must not keep us from the clock
        const ssize_t got = read(errors_, chunk, sizeof chunk);
        if (got <= 0) {
            if (got == 0) {
                close(errors_);
                errors_ = -1;
            }
            return;
        }
        last_errors_.append(chunk, static_cast<std::size_t>(got));
        if (last_errors_.size() > kKeptErrors) last_errors_.erase(0, last_errors_.size() - kKeptErrors);
    }
}

Death WorkerProcess::reap() {
    int status = 0;
    pid_t reaped = 0;
    const double start = steady_seconds();
    // The channel closes a moment before the process is gone, or a variant closed it and lives on.
    while ((reaped = waitpid(pid_, &status, WNOHANG)) == 0 && steady_seconds() - start < 2) usleep(2000);
    if (reaped == 0) {
        kill_and_reap();
        return {"the worker closed its connection to the sweep", false};
    }
    pid_ = -1;
    drain_errors();
    std::string how = WIFSIGNALED(status)
                          ? "signal " + std::to_string(WTERMSIG(status)) + " (SIG" +
                                std::string(sigabbrev_np(WTERMSIG(status))) + ", " + sigdescr_np(WTERMSIG(status)) + ")"
                          : "exit status " + std::to_string(WEXITSTATUS(status));
    if (!last_errors_.empty()) how += ": " + printable(last_errors_, 600);
    return {how, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL};
}

void WorkerProcess::kill_and_reap() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

}  // namespace espalier::bench
