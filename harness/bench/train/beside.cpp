#include "harness/bench/train/beside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/base/text/counted.hpp"
#include "harness/base/text/sha256.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/learn/lending.hpp"
#include "harness/bench/learn/others.hpp"
#include "harness/bench/train/train.hpp"

namespace espalier::bench::learn {
namespace {

namespace fs = std::filesystem;

/// Whether the device could run a variant on a problem of its records but has no record of it. Not of records that
/// reading them refuses.
bool has_untried(const Family& family, const DeviceInfo& device, std::span<const CaseRecord> records) try {
    std::set<std::string_view> tried;
    std::set<std::string> distinct;
    for (const CaseRecord& record : records) tried.insert(record.variant), distinct.insert(record.problem);
    if (distinct.size() < kLeastShared) return false;
    const std::vector<std::string> problems(distinct.begin(), distinct.end());
    for (std::size_t v = 0; v < family.variants().size(); ++v) {
        const VariantInfo& variant = family.variants()[v];
        if (variant.choosable() && !tried.contains(variant.name) && supports_any(family, device, problems, v))
            return true;
    }
    return false;
} catch (const BadProblem&) {
    return false;
}

std::vector<std::string> families_with_untried(const DeviceInfo& device, const RecordsByFamily& records) {
    std::vector<std::string> names;
    for (const auto& [name, cases] : records)
        if (const Family* family = find_family(name); family && has_untried(*family, device, cases))
            names.push_back(name);
    return names;
}

struct OtherEvidence {
    const DeviceInfo* device;
    Evidence evidence;
};

std::vector<OtherEvidence> read(std::span<const OtherResults> others, const Family& family,
                                const EvidenceOptions& options, std::vector<std::string>& notices) {
    std::vector<OtherEvidence> all;
    for (const auto& [device, records] : others) {
        try {
            all.push_back({&device, read_evidence(family, device, records, options)});
        } catch (const BadEvidence& error) {
            notices.push_back("nothing is learned from " + device.key + ": " + error.what());
        }
    }
    return all;
}

/// Enters what was lent; returns the devices that lent it.
std::vector<const OtherEvidence*> borrow(std::span<const OtherEvidence> others, const Family& family,
                                         const DeviceInfo& device, Evidence& evidence) {
    std::vector<Matrix> matrices;
    for (const OtherEvidence& other : others) matrices.push_back(other.evidence.matrix);
    const auto untried = [&](const Choice& choice) {
        return evidence.source_ids[choice.variant].empty() && family.variants()[choice.variant].choosable();
    };
    const auto supported = [&](const std::string& problem, const Choice& choice) {
        return bool(supports(family, device, problem, choice));
    };
    lend(evidence.matrix, matrices, untried, supported);
    const std::vector<Choice>& lent = evidence.matrix.lent;
    std::set<std::string> variants, devices;
    std::vector<const OtherEvidence*> lenders;
    for (const OtherEvidence& other : others) {
        const auto has = [&](const Choice& choice) {
            return std::ranges::count(other.evidence.matrix.candidates, choice) > 0;
        };
        if (std::ranges::none_of(lent, has)) continue;
        lenders.push_back(&other);
        devices.insert(other.device->key);
        for (const Choice& choice : lent) {
            variants.emplace(family.variants()[choice.variant].name);
            std::string& source = evidence.source_ids[choice.variant];
            if (source.empty()) source = other.evidence.source_ids[choice.variant];
        }
    }
    if (!lent.empty())
        evidence.notices.push_back(fmt::format("{} of {} were never tried here: what they cost is said by {}",
                                               counted(lent.size(), "choice"), fmt::join(variants, ", "),
                                               fmt::join(devices, ", ")));
    return lenders;
}

}  // namespace

bool alike(const DeviceTraits& device, const DeviceTraits& other) {
    if (device.kind != other.kind) return false;
    return device.kind == DeviceKind::cuda ? device.sm == other.sm : device.isa == other.isa;
}

std::vector<DeviceResults> results_beside(const DeviceInfo& device, const RecordsByFamily& records,
                                          const TrainingFolders& folders) {
    std::map<std::string, fs::path> known;
    for (const fs::path& folder : {folders.results, folders.evidence})
        if (fs::is_directory(folder))
            for (const std::string& key : devices_with_results(folder)) known.try_emplace(key, folder / key);
    const std::vector<std::string> untried = families_with_untried(device, records);
    std::vector<std::string> own;
    for (const auto& [name, unused] : records) own.push_back(name);
    std::vector<DeviceResults> others;
    for (const auto& [key, folder] : known) {
        if (key == device.key) continue;
        const DeviceInfo other = load_device(folder);
        if (other.kind != device.kind || other.emulated) continue;
        const std::vector<std::string>& wanted = alike(traits_of(device), traits_of(other)) ? own : untried;
        if (!wanted.empty()) others.push_back(load_results(folder, wanted));
    }
    return others;
}

std::vector<OtherResults> of_family(std::span<const DeviceResults> all, std::string_view family) {
    std::vector<OtherResults> others;
    for (const DeviceResults& results : all)
        if (auto cases = cases_of(results, family); !cases.empty())
            others.push_back({results.device, std::move(cases)});
    return others;
}

void learn_from(std::span<const OtherResults> others, const Family& family, const DeviceInfo& device,
                const EvidenceOptions& options, Evidence& evidence) {
    const std::vector<OtherEvidence> all = read(others, family, options, evidence.notices);
    const std::vector<const OtherEvidence*> lenders = borrow(all, family, device, evidence);
    std::vector<Matrix> matrices;
    std::string sources = evidence.data_sha256;
    for (const OtherEvidence& other : all) {
        const bool is_alike = alike(traits_of(device), traits_of(*other.device));
        if (is_alike) matrices.push_back(other.evidence.matrix);
        if (is_alike || std::ranges::count(lenders, &other)) sources += other.evidence.data_sha256;
    }
    if (sources != evidence.data_sha256) evidence.data_sha256 = sha256(sources);
    learn_beside(evidence.matrix, matrices);
}

}  // namespace espalier::bench::learn
