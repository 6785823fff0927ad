#include "harness/base/files/read_file.hpp"

#include "kernels/json/bad_data.hpp"
#include "kernels/json/regular_file.hpp"

namespace espalier::bench {

std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t most) try {
    return read_regular_file_if_there(path, most);
} catch (const BadData& error) {
    throw BadData(path.string() + ": " + error.what());
}

std::string read_named_file(const std::filesystem::path& path) try {
    return read_regular_file(path, kLargestWholeFile);
} catch (const BadData& error) {
    throw BadData(path.string() + ": " + error.what());
}

}  // namespace espalier::bench
