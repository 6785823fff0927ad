#pragma once

#include <stdexcept>
#include <string>

namespace espalier::bench::io {

/// A file that cannot be read or written as asked. `what()` names the file, the place in it where there is
/// one, what is wrong and what to do about it.
class BadFile : public std::runtime_error {
public:
    BadFile(const std::string& path, const std::string& problem) : std::runtime_error(path + ": " + problem) {}
};

}  // namespace espalier::bench::io
