#include "harness/base/files/leftovers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

namespace espalier::bench {
namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : kEnding) sigaddset(&set, signal);
    return set;
}

struct Table {
    std::vector<const TemporaryName*> files;
    std::vector<pid_t> children;
};

// Never destroyed: a signal may come while static objects go.
Table& table() {
    static Table& table = *new Table;
    return table;
}

std::atomic_flag taken = ATOMIC_FLAG_INIT;

/// Waits for the table. `poll` may be called in a signal's handler.
void take_table() {
    while (taken.test_and_set(std::memory_order_acquire)) poll(nullptr, 0, 1);
}

/// Holds the table. The signals wait meanwhile in this thread: their handler needs the table, too. In another thread
/// it waits for this one. Once a handler has the table it keeps it: no file is created or renamed any more.
class Lock {
public:
    Lock() {
        const sigset_t ending = ending_signals();
        pthread_sigmask(SIG_BLOCK, &ending, &before_);
        take_table();
    }
    ~Lock() {
        const int error = errno;
        taken.clear(std::memory_order_release);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = error;
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    sigset_t before_;
};

/// Calls nothing that may not be called in a signal's handler.
void on_signal(int signal) {
    take_table();
    for (const pid_t child : table().children) kill(child, SIGTERM);
    for (const pid_t child : table().children)
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    for (const TemporaryName* file : table().files)
        if (file->created()) unlink(file->path().c_str());
    _exit(128 + signal);
}

}  // namespace

void clean_up_on_signals() {
    table();  // made here, because a handler may allocate nothing
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_mask = ending_signals();
    for (const int signal : kEnding) {
        struct sigaction before {};
        sigaction(signal, nullptr, &before);
        if (signal == SIGPIPE || before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, nullptr);
}

TemporaryName::TemporaryName(std::string path) : path_(std::move(path)) {
    const Lock lock;
    table().files.push_back(this);
}

TemporaryName::~TemporaryName() {
    const Lock lock;
    if (created_) unlink(path_.c_str());
    std::erase(table().files, this);
}

int TemporaryName::create(mode_t mode) {
    const Lock lock;
    const int descriptor = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    created_ = descriptor >= 0;
    return descriptor;
}

bool TemporaryName::rename_to(const std::string& target) {
    const Lock lock;
    const bool renamed = std::rename(path_.c_str(), target.c_str()) == 0;
    created_ = created_ && !renamed;
    return renamed;
}

ChildOnSignal::ChildOnSignal(const std::function<pid_t()>& start) {
    const Lock lock;
    pid_ = start();
    if (pid_ > 0) table().children.push_back(pid_);
}

ChildOnSignal::~ChildOnSignal() {
    const Lock lock;
    std::erase(table().children, pid_);
}

}  // namespace espalier::bench
