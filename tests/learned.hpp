#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/evidence/evidence.hpp"
#include "harness/learn/tree_for.hpp"
#include "harness/records/results.hpp"
#include "harness/train/train.hpp"

namespace espalier::bench::learn {

/// The committed results of a device, read once per program.
inline const DeviceResults& committed_results(const std::string& key) {
    static std::map<std::string, DeviceResults> all;
    if (const auto at = all.find(key); at != all.end()) return at->second;
    return all.emplace(key, load_results(std::filesystem::path(ESPALIER_RESULTS) / key)).first->second;
}

/// The devices whose trees are learnt anew and compared at run time: the first of each kind. That the C++ of every device
/// is what its results give is checked byte by byte (check_selectors.sh), and learning takes long.
inline std::vector<std::string> compared_devices() {
    std::vector<std::string> keys;
    std::set<DeviceKind> kinds;
    for (const std::string& key : devices_with_results(ESPALIER_RESULTS))
        if (kinds.insert(load_device(std::filesystem::path(ESPALIER_RESULTS) / key).kind).second) keys.push_back(key);
    return keys;
}

/// What these results teach about a family.
struct Learned {
    Evidence evidence;
    Tree tree;
};

/// Learned once per program; null if the device has no records of the family.
inline const Learned* learned(const std::string& key, const Family& family) {
    static std::map<std::pair<std::string, const Family*>, std::unique_ptr<Learned>> all;
    const auto [at, is_new] = all.try_emplace({key, &family});
    const DeviceResults& results = committed_results(key);
    const auto records = cases_of(results, family.name());
    if (!is_new || records.empty()) return at->second.get();
    Evidence evidence = read_evidence(family, results.device, records, {.allow_mixed = true});
    Tree tree = tree_for(family, results.device, evidence.matrix);
    at->second = std::make_unique<Learned>(std::move(evidence), std::move(tree));
    return at->second.get();
}

}  // namespace espalier::bench::learn
