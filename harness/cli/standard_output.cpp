#include "harness/cli/standard_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"

namespace espalier::bench::cli {

void hold_standard_descriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            static_cast<void>(open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY));
}

std::string lost_output(int error) {
    return std::string("the output is lost: ") + (error != 0 ? std::strerror(error) : "it cannot be written") +
           ": free some space or send it elsewhere";
}

void print_in_words(const std::string& text, bool data_on_stdout) {
    if (data_on_stdout)
        to_stderr("{}", text);
    else
        to_stdout("{}", text);
}

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) != 0; }

std::optional<std::string> finish_standard_output() {
    const bool failed = std::ferror(stdout) != 0;
    const int flushed = std::fflush(stdout) == 0 ? 0 : errno;
    // Some file systems tell only when a file is closed what they could not write.
    const int closed = std::fclose(stdout) == 0 ? 0 : errno;
    if (!failed && flushed == 0 && closed == 0) return std::nullopt;
    return lost_output(flushed != 0 ? flushed : closed);
}

}  // namespace espalier::bench::cli
