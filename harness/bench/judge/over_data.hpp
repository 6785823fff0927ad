#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/records/case_record.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench::learn {

/// The problems of a family's unseen stream, and after each the same with others of the data that the domain draws
/// from, so that there are up to `kinds` of it: who chooses does not know how data lie, and one of them says little.
/// All are of that stream.
std::vector<std::string> with_other_data(const Family& family, DeviceKind kind, std::span<const std::string> problems,
                                         std::size_t kinds);

/// Records of what the library may choose, of which problems that differ only in what a caller does not know become
/// one, the first of them by its key. The time of a choice is the geometric mean of its times; it is wanting where one
/// of them is. Data with which fewer than half as many choices were timed as with others, and none failed, are left
/// out.
std::vector<CaseRecord> over_data(const Family& family, std::span<const CaseRecord> records);

}  // namespace espalier::bench::learn
