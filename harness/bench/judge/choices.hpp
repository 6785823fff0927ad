#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "harness/bench/records/stale.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench::learn {

/// The CSV of what the library runs for each problem of a family's `records` on `device`, a row per problem in the
/// order of the problems (docs/files.md): variant and configuration, its time, its regret as `grade` has it or the
/// reason why there is none, whether it was measured with earlier source, the tree that said so, and of its leaf the
/// number and the conditions from the root. The trees are those that this program has at this moment; `known` names
/// variants whose times hold although their source has changed.
std::string choices_csv(std::string_view family, const DeviceInfo& device, std::span<const CaseRecord> records,
                        const KnownStaleList& known);

/// The CSV of the family's tree that was loaded for the device, a row per node in pre-order for whoever draws it: its
/// depth, the condition that leads to it, and of a leaf its number, its evidence and its first choice. Only the header
/// where none was loaded.
std::string tree_csv(std::string_view family, std::string_view device_key);

/// The same of the text of a tree's file. Throws `BadData` for a damaged one.
std::string csv_of_tree(const std::string& text);

/// Lets this program choose by the trees that training wrote for these devices: <family>/<device-key>.tree in
/// `selectors`. Returns what could not be loaded and why, a line each: then those that are compiled in choose.
std::vector<std::string> load_trees_of(const std::filesystem::path& selectors, std::span<const std::string> devices);

}  // namespace espalier::bench::learn
