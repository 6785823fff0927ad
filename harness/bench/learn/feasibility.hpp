#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/learn/matrix.hpp"
#include "harness/bench/learn/tree.hpp"

namespace espalier::bench::learn {

/// The values that each axis of a problem's key is known to take, ascending: from `problems`, the family's largest
/// sweep and its edge cases; for a size four times the largest of them, too. Empty for derived features.
std::vector<std::vector<double>> known_values(const Family& family, DeviceKind kind,
                                              std::span<const std::string> problems);

/// Looks for a problem that the tree leaves without a choice on a device: one that supports() declines for
/// the whole ranking of its leaf although some variant could compute it. Draws `draws` problems whose axes take any
/// value that the family's sweeps, edge cases or training problems give them, in any combination, and four times the
/// largest; what does not fit the device's memory is passed over. Returns the first such problem with what was
/// declined, or nothing.
std::optional<std::string> find_uncovered_problem(const Family& family, const DeviceInfo& device, const Matrix& matrix,
                                                  const Tree& tree, int draws, std::uint64_t seed);

}  // namespace espalier::bench::learn
