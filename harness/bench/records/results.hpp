#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Planned cases that no journal had: `train` refuses to learn from results with such unless told to.
struct MissingCases {
    std::string family, problem;
    int shard = 0;            ///< of which sweep shard
    std::string description;  ///< "3 of 12 cases are missing", "shard 2 of 4 is missing"
};

/// The contents of results/<device-key>/.
struct DeviceResults {
    DeviceInfo device;
    std::vector<CaseRecord> cases;  ///< of all families; a case occurs once
    std::vector<MissingCases> missing;
};

/// The device of results/<device-key>/, from its device.json. Throws `BadData`.
DeviceInfo load_device(const std::filesystem::path& folder);

/// The cases of one family, in their order; empty if it was not measured.
std::vector<CaseRecord> cases_of(const DeviceResults& results, std::string_view family);

/// The family whose cases a file holds, by its name: <family>.jsonl, or packed <family>.jsonl.xz
/// (<family>.jsonl.gz in earlier versions). Empty for other names.
std::string family_of_file(const std::filesystem::path& file);

/// The file of a family in a device's folder: the packed one if that is there.
std::filesystem::path cases_file(const std::filesystem::path& folder, const std::string& family);

/// The files that `save_results` writes for these families and those that the folder has already.
std::vector<std::filesystem::path> result_files(const std::filesystem::path& folder, std::set<std::string> families);

/// Reads results/<device-key>/: device.json, coverage.json and the families' cases. Strict: a damaged or
/// malformed line, a duplicate case or one of another device is a `BadData` that names file and line.
/// `families` limits which are read; empty reads all.
DeviceResults load_results(const std::filesystem::path& folder, std::span<const std::string> families = {});

/// The cases of one family's file.
std::vector<CaseRecord> load_cases(const std::filesystem::path& file);

enum class Packing { as_it_was, packed };

/// Writes the folder's files, each atomically: device.json, coverage.json and, per family that occurs in
/// `results.cases`, <family>.jsonl (packed where it was, or always). Other families' files stay as they are.
/// Packed samples and the ends of intervals have four significant digits, of which even quiet machines repeat two or
/// three: more digits would be a third of a file. A case's time stays the median of the samples as they were taken.
void save_results(const std::filesystem::path& folder, const DeviceResults& results,
                  Packing packing = Packing::as_it_was);

/// Where a device's unseen problems are filed (`espalier judge`), in the same files as the others. Nothing that reads
/// the device's folder looks there, so that no tree is trained on them.
std::filesystem::path unseen_folder(const std::filesystem::path& device_folder);

}  // namespace espalier::bench
