#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/records/case_record.hpp"

namespace espalier::bench {

/// A variant of this build whose records were measured with other source: their times may not be its own.
struct StaleVariant {
    std::string family, variant;
    std::size_t rows = 0;     ///< records of other source
    std::size_t timed = 0;    ///< those with a time
    std::string measured_id;  ///< SHA-256 of the source that was measured; the least one if there are several
    std::string source_id;    ///< that of this build

    [[nodiscard]] std::string name() const { return family + "/" + variant; }
};

/// The stale variants among records, by family and name. Comments and white space do not make a difference, and what
/// this build does not know cannot be compared.
std::vector<StaleVariant> find_stale(std::span<const CaseRecord> records);

/// An entry of results/<device-key>/known_stale.json for "family/variant": its records are to be used although
/// its source has changed into `source_id`, and why that is right for the time being.
struct KnownStale {
    std::string source_id, reason;
};
using KnownStaleList = std::map<std::string, KnownStale>;

/// Empty without a file. Throws `BadData`.
KnownStaleList load_known_stale(const std::filesystem::path& device_folder);

/// Whether the list has this variant with this very source: one that changes again is to be looked at again.
bool is_known(const KnownStaleList& known, const StaleVariant& stale);

/// One line for people, e.g. for `verify`.
std::string describe(const StaleVariant& stale);

}  // namespace espalier::bench
