#pragma once

#include <stdexcept>
#include <string>

#include "harness/base/text/printable.hpp"

namespace espalier::bench::io {

/// A file that cannot be read or written as asked. `what()` names the file, the place in it where there is
/// one, what is wrong and what to do about it; printable, whatever stands in the file.
class BadFile : public std::runtime_error {
public:
    BadFile(const std::string& path, const std::string& problem)
        : std::runtime_error(bench::printable(path, 4096) + ": " + bench::printable(problem, 4096)) {}
};

}  // namespace espalier::bench::io
