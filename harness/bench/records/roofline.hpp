#pragma once

#include <optional>
#include <string>

#include "harness/bench/records/case_record.hpp"
#include "kernels/core/cost.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// The least time that a problem's work takes on the device, in nanoseconds; 0 if its ceilings are unknown.
/// Warm data that fits the last-level cache is bound by the caches, not by memory.
double floor_ns(const Cost& cost, const DeviceInfo& device, bool warm);

/// Why the record's times cannot be true, or nothing: a time that is zero, negative or not finite, an
/// interval that misses its median, or a time beyond the roofline by more than measurement can err.
/// Learning must not see such records: one impossible winner would decide whole leaves.
std::optional<std::string> implausible(const CaseRecord& record, const DeviceInfo& device);

/// Why the samples of an `ok` case are no times, or nothing: one is at or below zero, because a sweep of an earlier
/// version took more off than it had measured. Unlike other impossible times this one is explained: the run was too
/// short.
std::optional<std::string> unresolved(const CaseRecord& record);

}  // namespace espalier::bench
