#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/records/results.hpp"
#include "harness/train/train.hpp"
#include "tests/evidence_devices.hpp"

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

/// The devices whose trees are learnt anew and compared at run time: the CPUs with unseen problems, whose sweeps were
/// the fullest. A GPU's trees learn from thousands of problems, which takes a minute. That the C++ and the file of
/// every device are what its results give is checked byte by byte (check_selectors.sh), that both decide alike by
/// loaded_trees_test.
inline std::vector<std::string> compared_devices() {
    std::vector<std::string> keys;
    for (const std::string& key : evidence_devices()) {
        const auto folder = std::filesystem::path(ESPALIER_RESULTS) / key;
        if (load_device(folder).kind == DeviceKind::cpu && exists(folder / "unseen")) keys.push_back(key);
    }
    return keys;
}

/// What is committed of a family on the devices that are like another one.
inline std::vector<OtherResults> committed_beside(const DeviceInfo& device, const Family& family) {
    std::vector<OtherResults> others;
    for (const std::string& key : evidence_devices()) {
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
