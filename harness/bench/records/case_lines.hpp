#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/records/case_record.hpp"

namespace espalier::bench {

/// Of a line: a small file is not to fill the memory.
inline constexpr std::size_t kMostCases = 256;

/// The cases that the body of a line stands for, in their order: one; or where it has "cases", what each of these has
/// of its own beside the body's other members. These may have "cases" again, and of an object that both have, each has
/// members that the other lacks. Throws `BadData` where a member is there twice, for samples that are not of one case
/// alone, and for more than `kMostCases`.
std::vector<CaseRecord> decode_cases(nlohmann::json body);

/// The lines of a packed file, whose samples and interval ends have four digits. Of cases that follow one another,
/// those of a problem share a line, and within it those of a variant what they share: a third to a half of the text
/// that a line for each would be, and nine tenths of the packed file.
std::string packed_lines(std::span<const CaseRecord> cases);

}  // namespace espalier::bench
