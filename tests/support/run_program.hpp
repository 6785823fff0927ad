#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace espalier {

struct Finished {
    int code;  ///< exit code, or minus the signal
    std::string out, err;
};

/// `text` as one word of a shell command.
inline std::string quoted(const std::string& text) {
    std::string word("'");
    word += text;
    return word += "'";
}

/// Runs `espalier <arguments>` through the shell, its output captured in `folder`; commands `before` it may set
/// limits, or end in a pipe into it, with an empty `input` then.
inline Finished run_espalier(const TemporaryFolder& folder, const std::string& arguments,
                             const std::string& before = {}, const std::string& input = "</dev/null") {
    const std::string out = folder / "stdout.txt", err = folder / "stderr.txt";
    const std::string command =
        before + quoted(ESPALIER_PROGRAM) + " " + arguments + " >" + quoted(out) + " 2>" + quoted(err) + " " + input;
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_bytes(out), read_bytes(err)};
}

}  // namespace espalier
