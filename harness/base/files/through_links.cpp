#include "harness/base/files/through_links.hpp"

#include <filesystem>
#include <system_error>

namespace espalier::bench {

std::optional<std::string> through_links(const std::string& path) {
    namespace fs = std::filesystem;
    constexpr int kMostLinks = 40;  // as Linux follows
    std::error_code error;
    if (const fs::path real = fs::canonical(path, error); !error) return real.string();
    if (fs::exists(path, error)) return std::nullopt;
    fs::path place(path);
    for (int links = 0; links < kMostLinks; ++links) {
        if (!fs::is_symlink(fs::symlink_status(place, error))) {
            const fs::path full = fs::weakly_canonical(place, error);
            return error ? place.string() : full.string();
        }
        const fs::path target = fs::read_symlink(place, error);
        if (error) return std::nullopt;
        place = place.parent_path() / target;  // an absolute target replaces the whole
    }
    return std::nullopt;
}

}  // namespace espalier::bench
