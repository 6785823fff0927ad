#include "harness/base/files/installed.hpp"

#include <system_error>
#include <utility>

namespace espalier::bench {
namespace {

std::string& prefix() {
    static std::string text;
    return text;
}

}  // namespace

void set_installed_prefix(std::string folder) { prefix() = std::move(folder); }

std::filesystem::path find_installed(const std::filesystem::path& relative, const std::filesystem::path& sources) {
    std::error_code none;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
    if (!prefix().empty() && std::filesystem::exists(prefix() / relative, none)) return prefix() / relative;
    for (const auto& path : {program.parent_path() / ".." / relative, sources})
        if (std::filesystem::exists(path, none)) return path;
    return {};
}

}  // namespace espalier::bench
