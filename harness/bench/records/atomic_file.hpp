#pragma once

#include <filesystem>
#include <string_view>

#include "kernels/json/bad_data.hpp"

namespace espalier::bench {

/// A file that cannot be written, unlike one that cannot be read.
class CannotWrite : public BadData {
    using BadData::BadData;
};

/// Replaces a file as a whole: whoever reads it, and whatever is killed when, sees the old contents or
/// the new ones. Makes the folder if need be. A pipe or a device in its place is refused. Throws `CannotWrite`.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

}  // namespace espalier::bench
