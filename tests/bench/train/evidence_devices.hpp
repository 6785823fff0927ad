#pragma once

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/files/read_file.hpp"

namespace espalier::bench {

/// The keys that results/evidence.json lists, sorted: what the tests judge. Read once per program.
inline const std::vector<std::string>& evidence_devices(const std::filesystem::path& results) {
    static const std::vector<std::string> keys = [&] {
        std::vector<std::string> found;
        const auto manifest = nlohmann::json::parse(read_file(results / "evidence.json").value());
        for (const auto& [key, files] : manifest.at("devices").items()) found.push_back(key);
        return found;
    }();
    return keys;
}

inline bool is_evidence(const std::filesystem::path& results, std::string_view key) {
    return std::ranges::count(evidence_devices(results), key) > 0;
}

}  // namespace espalier::bench
