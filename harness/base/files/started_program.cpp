#include "harness/base/files/started_program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "harness/base/files/leftovers.hpp"
#include "harness/base/files/program_setup.hpp"

namespace espalier::bench {
namespace {

/// The descriptors that a call asks for; its output goes to `pipe` if it is captured.
void set_up(ProgramSetup& setup, const ProgramCall& call, int pipe) {
    const auto discard = [&](int descriptor) { setup.open(descriptor, "/dev/null", O_WRONLY); };
    if (call.input >= 0)
        setup.copy(call.input, STDIN_FILENO);
    else
        setup.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    if (call.output == ProgramCall::Output::captured) setup.copy(pipe, STDOUT_FILENO);
    if (call.output == ProgramCall::Output::discarded) discard(STDOUT_FILENO);
    if (call.quiet) discard(STDERR_FILENO);
}

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
    ProgramSetup setup;
    set_up(setup, call, pipe[1]);
    const ChildOnSignal child([&] { return setup.start(call.words, end.error); });
    if (pipe[1] >= 0) close(pipe[1]);
    if (pipe[0] >= 0 && end.error == 0) end.output = read_all(pipe[0], call.most);
    if (pipe[0] >= 0) close(pipe[0]);
    if (end.error != 0) return end;
    int status = 0;
    while (waitpid(child.pid(), &status, 0) < 0 && errno == EINTR) {
    }
    end.code = exit_code_of(status);
    return end;
}

}  // namespace espalier::bench
