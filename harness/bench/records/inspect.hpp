#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Something that is wrong with a file of records.
struct Finding {
    std::filesystem::path file;
    std::string place;  ///< "line 3", "byte 120", or the key of a case
    std::string what;
};

/// A journal, or one device's results, read as far as it can be: what loading refuses becomes a finding here.
struct Inspection {
    std::filesystem::path path;
    std::vector<DeviceInfo> devices;
    std::vector<CaseRecord> cases;
    std::size_t records = 0;  ///< complete ones, of every kind
    std::vector<Finding> findings;
};

/// The journals and device folders among `paths`: files are journals (or, beside a device.json, results), folders
/// with a device.json are one device's results, its unseen problems those of a folder of their own, and other folders
/// are looked into. Throws `BadData` for a path that is not there and if nothing is found at all.
std::vector<std::filesystem::path> find_record_files(const std::vector<std::filesystem::path>& paths);

/// Reads what `find_record_files` found: checksums, schemas, cases that occur twice or belong to another device.
Inspection inspect(const std::filesystem::path& path);

/// The cases whose times cannot be true (roofline.hpp), as far as their device is described.
std::vector<Finding> find_implausible(const Inspection& inspection);

}  // namespace espalier::bench
