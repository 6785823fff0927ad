#pragma once

#include <stdexcept>

namespace espalier {

/// A file is malformed, damaged, newer than this program or cannot be written. `what()` names the file,
/// the place in it and the fix; the command line exits with `bad_data`.
class BadData : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Written by a newer version of this program: refused as a file, never skipped as a damaged line.
class NewerSchema : public BadData {
    using BadData::BadData;
};

}  // namespace espalier
