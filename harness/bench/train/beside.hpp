#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/evidence/evidence.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/records/results.hpp"
#include "kernels/core/device_traits.hpp"

namespace espalier::bench::learn {

struct TrainingFolders;

/// Whether times of one device say which choices are good on the other: those that run the same machine code, GPUs of
/// one compute capability and CPUs of one instruction set.
bool alike(const DeviceTraits& device, const DeviceTraits& other);

/// Results of one family on another device of the same kind.
struct OtherResults {
    DeviceInfo device;
    std::vector<CaseRecord> records;
};

using RecordsByFamily = std::map<std::string, std::vector<CaseRecord>>;

/// Results of the families of `records`, the device's own, of devices that are alike, and of others of the same kind
/// those of families of which it never tried a variant that it could run (lending.hpp). In the order of their keys.
std::vector<DeviceResults> results_beside(const DeviceInfo& device, const RecordsByFamily& records,
                                          const TrainingFolders& folders);

/// What they hold of one family.
std::vector<OtherResults> of_family(std::span<const DeviceResults> all, std::string_view family);

/// Learns from others what their devices are allowed to say of this one, and tells it in notices.
void learn_from(std::span<const OtherResults> others, const Family& family, const DeviceInfo& device,
                const EvidenceOptions& options, Evidence& evidence);

}  // namespace espalier::bench::learn
