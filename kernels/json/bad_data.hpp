#pragma once

#include <stdexcept>
#include <string>

#include "kernels/core/printable.hpp"

namespace espalier {

/// A file is malformed, damaged, newer than this program or cannot be written. `what()` names the file,
/// the place in it and the fix, printable whatever stands in the file; the command line exits with `bad_data`.
class BadData : public std::runtime_error {
public:
    explicit BadData(const std::string& message) : std::runtime_error(printable_lines(message)) {}
};

/// Written by a newer version of this program: refused as a file, never skipped as a damaged line.
class NewerSchema : public BadData {
    using BadData::BadData;
};

}  // namespace espalier
