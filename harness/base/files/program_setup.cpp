#include "harness/base/files/program_setup.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace espalier::bench {

ProgramSetup::ProgramSetup() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
}

ProgramSetup::~ProgramSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
}

void ProgramSetup::open(int descriptor, const char* path, int flags, mode_t mode) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path, flags, mode);
}

void ProgramSetup::copy(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }

void ProgramSetup::stand_apart() {
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

pid_t ProgramSetup::start(const std::vector<std::string>& words, int& error) const {
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    pid_t started = 0;
    error = posix_spawnp(&started, pointers[0], &actions_, &attributes_, pointers.data(), environ);
    return error == 0 ? started : 0;
}

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace espalier::bench
