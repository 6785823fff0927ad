#pragma once

#include <cstddef>
#include <optional>

#include "harness/bench/records/case_record.hpp"

namespace espalier::bench {

/// Of so many samples order statistics give a 95% interval of the median: the true one lies beyond the least or the
/// greatest of n with a probability of 2 * 0.5^n, which is 3% for 6 and 6% for 5.
inline constexpr std::size_t kLeastIntervalSamples = 6;

/// Ends further than this factor from the median make no interval that a ranking could use: the samples are of two
/// states of the machine, and the median is of whichever was met more often.
inline constexpr double kWidestInterval = 2;

/// Nanoseconds.
struct Interval {
    double lo = 0, hi = 0;
};

/// The 95% interval of a case's time; nothing where it would be none: the case has no time, too few samples, or samples
/// that are too far apart. Every reader shows this one, and in its place "too few samples" or the bare range.
std::optional<Interval> interval_of(const CaseRecord& record);

/// Whether the case's samples are too few for an interval.
bool has_few_samples(const CaseRecord& record);

/// The case's time is a bound: it took no longer than the device can tell from nothing (`Conditions::resolution_ns`).
bool is_bound(const CaseRecord& record);

}  // namespace espalier::bench
