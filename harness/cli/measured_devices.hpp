#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace espalier::bench::cli {

inline constexpr const char* kResultsHelp =
    "folder with one folder per device; default: results/local where that has what is asked for, else results";

inline constexpr const char* kResultsToWriteHelp =
    "folder that is merged into; default: results, or results/local beside committed evidence (results/evidence.json)";

/// Where measurements are written: the folder that --results names, if it names one. A folder results/ with a manifest
/// of evidence (results/evidence.json) is judged by tests and pages and stays as it is: this machine's own go to
/// results/local.
std::string results_to_write(const std::string& named);

/// Where they are read: the folder that --results names, else what was measured here, else what there is.
std::string results_to_read(const std::string& named);

/// Where they are read of these devices (of all, if none is named): what was measured here, if that is of all of them.
std::string results_to_read(const std::string& named, const std::vector<std::string>& devices);

/// Whether these are what was measured here, beside the committed ones.
bool is_own(const std::filesystem::path& results);

/// Where `espalier train` puts the trees of these results: kernels/selectors of results/, else selectors/ in the
/// folder. A build takes those of results/ and of results/local/.
std::filesystem::path selectors_of(const std::filesystem::path& results);

/// Lets this program choose by the trees of these results instead of those that are compiled in, and tells of files
/// that it cannot load.
void choose_by_trees_of(const std::filesystem::path& results, const std::vector<std::string>& devices);

/// The keys of the devices with results, sorted, or the ones asked for. Throws `Failure` where there are none.
std::vector<std::string> device_keys(const std::filesystem::path& results, const std::vector<std::string>& wanted);

/// "a, b", or "none".
std::string listed_devices(const std::filesystem::path& results);

}  // namespace espalier::bench::cli
