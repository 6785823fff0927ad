#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/learn/matrix.hpp"

namespace espalier::bench::learn {

/// The columns that a test may ask about a family's problems: its own features, in order, then ratio and product of
/// every two numbers of the key. The pairs belong to the learner and not to the family's headers, whose change would
/// make its results stale. Sums of logarithms, so to speak: a threshold on a size is already one on its logarithm, on
/// the bytes that it takes and on its share of a device's cache, because a tree is of one device.
std::vector<Column> columns_of(const Family& family);

/// A problem's value in each of the columns, from those of the family's features.
std::vector<double> values_of(std::span<const Column> columns, std::vector<double> features);

/// A problem as a tree sees it (`Family::as_asked`): its value in each of the columns, of absent ones the default.
std::vector<double> asked_values(const Family& family, std::span<const Column> columns, std::string_view problem);

/// The same where no column is absent.
std::vector<double> values_of(const Family& family, std::string_view problem);

/// "variant configuration".
std::string name_of(const Family& family, const Choice& candidate);

/// Whether a device runs a problem by a candidate: asks the registry, not a record, because a sweep also calls
/// unsupported what did not fit its memory.
Support supports(const Family& family, const DeviceInfo& device, const std::string& problem, const Choice& candidate);

/// Whether it runs any of the problems by any configuration of a variant.
bool supports_any(const Family& family, const DeviceInfo& device, std::span<const std::string> problems,
                  std::size_t variant);

}  // namespace espalier::bench::learn
