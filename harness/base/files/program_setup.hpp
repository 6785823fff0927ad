#pragma once

#include <spawn.h>

#include <string>
#include <vector>

namespace espalier::bench {

/// A program that is about to be started as it is, by no shell: its descriptors, and no signal that is blocked.
class ProgramSetup {
public:
    ProgramSetup();
    ~ProgramSetup();
    ProgramSetup(const ProgramSetup&) = delete;
    ProgramSetup& operator=(const ProgramSetup&) = delete;

    void open(int descriptor, const char* path, int flags, mode_t mode = 0);
    void copy(int from, int to);
    /// It leads a group of its own, so that Ctrl-C is this program's alone, and ignores no signal.
    void stand_apart();

    /// The program's id; 0 and `error` if it cannot be started. Without a slash it is looked for in PATH.
    pid_t start(const std::vector<std::string>& words, int& error) const;

private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

/// Of what `waitpid` said: the exit code, or 128 + the signal.
int exit_code_of(int status);

}  // namespace espalier::bench
