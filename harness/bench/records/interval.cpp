#include "harness/bench/records/interval.hpp"

namespace espalier::bench {

bool has_few_samples(const CaseRecord& record) { return record.samples_ns.size() < kLeastIntervalSamples; }

std::optional<Interval> interval_of(const CaseRecord& record) {
    if (record.status != Status::ok || !(record.time_ns > 0) || has_few_samples(record)) return std::nullopt;
    const bool close =
        record.time_hi_ns <= kWidestInterval * record.time_ns && record.time_ns <= kWidestInterval * record.time_lo_ns;
    return close ? std::optional(Interval{record.time_lo_ns, record.time_hi_ns}) : std::nullopt;
}

bool is_bound(const CaseRecord& record) {
    return record.conditions.resolution_ns && record.time_ns <= *record.conditions.resolution_ns;
}

}  // namespace espalier::bench
