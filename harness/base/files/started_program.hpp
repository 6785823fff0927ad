#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace espalier::bench {

/// A program to be run to its end: started as it is, by no shell, so that nothing in a path or an argument is a
/// command.
struct ProgramCall {
    enum class Output { inherited, discarded, captured };

    std::vector<std::string> words;  ///< the program and its arguments; without a slash it is looked for in PATH
    int input = -1;                  ///< a descriptor to read from; -1: /dev/null
    Output output = Output::inherited;
    bool quiet = false;                        ///< what it writes to the standard error is discarded, too
    std::size_t most = std::size_t{64} << 10;  ///< bytes that are captured; the rest is read and forgotten
};

struct ProgramEnd {
    int code = 0;        ///< its exit code, or 128 + the signal that killed it
    int error = 0;       ///< errno if it could not be started
    std::string output;  ///< captured
};

/// Runs a program and waits for it. On a signal that ends this process it is ended, too (leftovers.hpp).
ProgramEnd run_to_end(const ProgramCall& call);

}  // namespace espalier::bench
