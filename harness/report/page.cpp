#include "harness/report/page.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "harness/files/leftovers.hpp"

extern char** environ;

namespace espalier::bench::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackages = "apt-get install python3 python3-matplotlib python3-jinja2";

/// The script beside the sources that this program was built from, or beside the installed program.
fs::path find_script() {
    std::error_code ignored;
    if (const char* folder = std::getenv("ESPALIER_PLOTS")) return fs::path(folder) / "report.py";
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    for (const fs::path& folder : {program.parent_path() / "../share/espalier/plots", fs::path(ESPALIER_PLOTS_DIR)})
        if (fs::exists(folder / "report.py", ignored)) return folder / "report.py";
    throw PageError("the report's scripts are in neither " ESPALIER_PLOTS_DIR
                    " nor ../share/espalier/plots: set ESPALIER_PLOTS to the folder plots/ of the sources",
                    false);
}

/// Debian's own Python, which apt gives its packages to; another one on the PATH lacks them.
std::string find_python() {
    if (const char* python = std::getenv("ESPALIER_PYTHON")) return python;
    return "/usr/bin/python3";
}

/// Runs a program to its end, its stdout to /dev/null if `quiet`. Returns the exit code, 128 + the signal's
/// number for a killed one, and throws if it cannot be started.
int run(const std::vector<std::string>& command, bool quiet) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (quiet) posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int error = 0;
    const auto start = [&] {
        pid_t started = 0;
        error = posix_spawn(&started, arguments[0], &actions, &attributes, arguments.data(), environ);
        return started;
    };
    const ChildOnSignal child(start);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        throw PageError(command[0] + " cannot be started (" + std::strerror(error) + "): " + kPackages +
                            ", or set ESPALIER_PYTHON to a Python that has matplotlib and jinja2",
                        false);
    int status = 0;
    while (waitpid(child.pid(), &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

fs::path write_page(const PageOptions& options) {
    constexpr int kBadData = 4;  // as the command line's own
    std::vector<std::string> command{find_python(), find_script().string(), "--results", options.results.string(),
                                     "--output",    options.output.string()};
    for (const std::string& device : options.devices) command.insert(command.end(), {"--device", device});
    const int code = run(command, options.quiet);
    if (code == kBadData) throw PageError("no page was written; the reason is above", true);
    if (code != 0)
        throw PageError("the page's writer ended with code " + std::to_string(code) +
                            "; its message is above. It needs: " + kPackages,
                        false);
    return options.output / "index.html";
}

}  // namespace espalier::bench::report
