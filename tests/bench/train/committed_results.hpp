#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/bench/records/results.hpp"
#include "tests/bench/train/evidence_devices.hpp"

namespace espalier::bench::learn {

/// The committed results of a device, read once per program.
inline const DeviceResults& committed_results(const std::string& key) {
    static std::map<std::string, DeviceResults> all;
    if (const auto at = all.find(key); at != all.end()) return at->second;
    return all.emplace(key, load_results(std::filesystem::path(ESPALIER_RESULTS) / key)).first->second;
}

/// The devices whose results are judged: those of the manifest results/evidence.json. Whatever else lies in results/ is
/// somebody's own.
inline const std::vector<std::string>& evidence_devices() {
    return espalier::bench::evidence_devices(ESPALIER_RESULTS);
}

}  // namespace espalier::bench::learn
