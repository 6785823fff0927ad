#include "harness/files/read_file.hpp"

#include <fstream>
#include <iterator>

namespace espalier::bench {

std::optional<std::string> read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace espalier::bench
