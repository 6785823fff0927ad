#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "harness/bench/families/family.hpp"
#include "harness/bench/records/case_record.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench::learn {

/// Problems over a family's domain that each documented variant is to have counters on.
inline constexpr std::size_t kCountedProblems = 40;

/// The keys (`CaseRecord::key`) of the timed cases among a family's records on one device that hardware counters should
/// explain. Of each documented variant, in its fastest configuration: those on `problems` problems, drawn ones before
/// those of the grid, and among them those that it has counters on first. In each leaf of the family's tree for the
/// device: the first choice and the next variant, on one problem that has both. Otherwise problems come in an order
/// that only their keys decide, so that variants share them. The trees are those that this program has at this moment.
std::set<std::string> cases_to_count(const Family& family, const DeviceInfo& device,
                                     std::span<const CaseRecord> records, std::size_t problems = kCountedProblems);

}  // namespace espalier::bench::learn
