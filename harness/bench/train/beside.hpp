#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/evidence/evidence.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/records/results.hpp"

namespace espalier::bench::learn {

struct TrainingFolders;

/// Whether times of one device say which choices are good on the other: GPUs that run the same machine code.
bool alike(const DeviceInfo& device, const DeviceInfo& other);

/// Results of one family on another device of the same kind.
struct OtherResults {
    DeviceInfo device;
    std::vector<CaseRecord> records;
};

using RecordsByFamily = std::map<std::string, std::vector<CaseRecord>>;

/// Results of `families`, all if there are none, of devices that are alike, and of others of the same kind those of
/// families of which the device, by its own `records`, never tried a variant that it could run (lending.hpp). In the
/// order of their keys.
std::vector<DeviceResults> results_beside(const DeviceInfo& device, const RecordsByFamily& records,
                                          const TrainingFolders& folders, const std::vector<std::string>& families);

/// What they hold of one family.
std::vector<OtherResults> of_family(std::span<const DeviceResults> all, std::string_view family);

/// Learns from others what their devices are allowed to say of this one, and tells it in notices.
void learn_from(std::span<const OtherResults> others, const Family& family, const DeviceInfo& device,
                const EvidenceOptions& options, Evidence& evidence);

}  // namespace espalier::bench::learn
