#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace espalier {

/// Why a device cannot have this key, or null. Its results are the folder results/<key>/, beside folders that are no
/// device's, and commands take the key as an argument. Which characters it may have at all, its reader checks.
inline const char* wrong_device_key(std::string_view key) {
    constexpr std::array<std::string_view, 5> kOthers{"journal", "local", "published", "schema", "selectors"};
    if (key.empty()) return "is empty";
    if (key.front() == '.' || key.front() == '-') return "is no device key: it begins with a dot or a dash";
    if (std::ranges::count(kOthers, key) > 0) return "is no device key: results/ has another folder of that name";
    return nullptr;
}

/// Why a family cannot have this name, or null. Its results are <name>.jsonl and <name>.csv in the device's folder,
/// which has peers.csv, too.
inline const char* wrong_family_name(std::string_view name) {
    if (name.empty()) return "is empty";
    if (name.front() < 'a' || name.front() > 'z') return "is no family: it does not begin with a letter";
    if (name == "peers") return "is no family: peers.csv is what other implementations took";
    return nullptr;
}

/// Whether a device key may name a folder, a file and a function: lower-case letters, digits, '-' and '_', a letter
/// first.
inline bool valid_device_key(std::string_view key) {
    constexpr std::size_t kLongest = 64;
    return !key.empty() && key.size() <= kLongest && key.front() >= 'a' && key.front() <= 'z' &&
           std::ranges::all_of(
               key, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; });
}

}  // namespace espalier
