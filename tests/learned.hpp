#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/records/results.hpp"
#include "harness/train/train.hpp"

namespace espalier::bench::learn {

/// The committed results of a device, read once per program.
inline const DeviceResults& committed_results(const std::string& key) {
    static std::map<std::string, DeviceResults> all;
    if (const auto at = all.find(key); at != all.end()) return at->second;
    return all.emplace(key, load_results(std::filesystem::path(ESPALIER_RESULTS) / key)).first->second;
}

/// The devices whose trees are learnt anew and compared at run time: the first of each kind. That the C++ of every
/// device is what its results give is checked byte by byte (check_selectors.sh), and learning takes long.
inline std::vector<std::string> compared_devices() {
    std::vector<std::string> keys;
    std::set<DeviceKind> kinds;
    for (const std::string& key : devices_with_results(ESPALIER_RESULTS))
        if (kinds.insert(load_device(std::filesystem::path(ESPALIER_RESULTS) / key).kind).second) keys.push_back(key);
    return keys;
}

/// What is committed of a family on the devices that are like another one.
inline std::vector<OtherResults> committed_beside(const DeviceInfo& device, const Family& family) {
    std::vector<OtherResults> others;
    for (const std::string& key : devices_with_results(ESPALIER_RESULTS)) {
        if (key == device.key || !alike(device, load_device(std::filesystem::path(ESPALIER_RESULTS) / key))) continue;
        if (auto cases = cases_of(committed_results(key), family.name()); !cases.empty())
            others.push_back({committed_results(key).device, std::move(cases)});
    }
    return others;
}

/// Learned once per program; null if the device has no records of the family.
inline const Trained* learned(const std::string& key, const Family& family) {
    static std::map<std::pair<std::string, const Family*>, std::unique_ptr<Trained>> all;
    const auto [at, is_new] = all.try_emplace({key, &family});
    const DeviceResults& results = committed_results(key);
    const auto records = cases_of(results, family.name());
    if (!is_new || records.empty()) return at->second.get();
    TrainOptions options;
    options.evidence.allow_mixed = true, options.evaluate = false;
    at->second = std::make_unique<Trained>(
        train(family, results.device, records, options, committed_beside(results.device, family)));
    return at->second.get();
}

}  // namespace espalier::bench::learn
