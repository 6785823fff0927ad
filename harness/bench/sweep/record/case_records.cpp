#include "harness/bench/sweep/record/case_records.hpp"

#include <algorithm>

#include "harness/base/statistics.hpp"
#include "harness/bench/records/roofline.hpp"

namespace espalier::bench {
namespace {

/// Without the optional ones at their default, as in the key.
NamedValues features_of(const Family& family, const std::string& problem) {
    const auto values = family.feature_values(problem), defaults = family.feature_values("");
    NamedValues features;
    for (std::size_t f = 0; f < values.size(); ++f)
        if (!family.features()[f].optional || values[f] != defaults[f])
            features.emplace_back(family.features()[f].name, values[f]);
    return features;
}

void add_times(CaseRecord& record, const ProblemOutcome::Case& ended) {
    const auto interval = median_interval(ended.samples_ns);
    record.time_ns = interval.median;
    record.time_lo_ns = interval.lo;
    record.time_hi_ns = interval.hi;
    record.samples_ns = ended.samples_ns;
    record.verification = ended.verification;
}

void add_counters(CaseRecord& record, const ProblemOutcome::Case& ended, bool asked_for) {
    record.counters = ended.counters;
    std::ranges::sort(record.counters);
    record.counters_reason = asked_for ? ended.counters_reason : "not asked for";
    if (record.counters.empty() && record.counters_reason.empty()) record.counters_reason = "not timed";
}

/// Says when counters were collected that are younger than the record's times, and what ran then if it was not the
/// same.
std::string collected(const RecordFrame& frame, const Provenance& timed, const std::string& missing) {
    std::string text = "collected in session " + frame.session;
    if (frame.driver != timed.driver || frame.runtime != timed.runtime)
        text += ", with driver " + frame.driver + " and " + frame.runtime;
    if (frame.build != timed.build) text += ", by " + frame.build;
    return missing.empty() ? text : text + "; " + missing;
}

}  // namespace

CaseRecord planned_record(const RecordFrame& frame, const PlannedProblem& planned, const PlannedCase& planned_case) {
    const VariantInfo& variant = planned.family->variants()[planned_case.variant];
    CaseRecord record;
    record.family = planned.family->name();
    record.variant = variant.name;
    record.role = to_string(variant.role);
    record.problem = planned.problem;
    record.configuration = planned_case.configuration.text();
    record.provenance = {.device_key = frame.device.key,
                         .driver = frame.driver,
                         .runtime = frame.runtime,
                         .build = frame.build,
                         .source_id = std::string(variant.source_id),
                         .cache = std::string(to_string(frame.caches)),
                         .session = frame.session};
    return record;
}

std::vector<CaseRecord> records_of(const RecordFrame& frame, const PlannedProblem& planned,
                                   const ProblemOutcome& outcome) {
    const Cost cost = planned.family->cost(planned.problem);
    const auto features = features_of(*planned.family, planned.problem);
    std::vector<CaseRecord> records;
    for (std::size_t i = 0; i < planned.cases.size(); ++i) {
        const auto& ended = outcome.cases[i];
        CaseRecord record = planned_record(frame, planned, planned.cases[i]);
        record.status = ended.status;
        record.reason = ended.reason;
        record.bytes = cost.bytes;
        record.ops = cost.ops();
        record.floor_ns = floor_ns(cost, frame.device, frame.caches == Caches::warm);
        record.features = features;
        if (ended.status == Status::ok) {
            add_times(record, ended);
            record.stages = ended.stages;
            record.conditions = outcome.conditions;
            if (ended.resolution_ns > 0) record.conditions.resolution_ns = ended.resolution_ns;
        }
        record.conditions.gpu_ordinal = frame.ordinal;
        add_counters(record, ended, frame.counters);
        records.push_back(std::move(record));
    }
    return records;
}

std::vector<CaseRecord> with_counters(const std::map<std::string, const CaseRecord*>& earlier, const RecordFrame& frame,
                                      const PlannedProblem& planned, const ProblemOutcome& outcome) {
    std::vector<CaseRecord> records;
    for (std::size_t i = 0; i < planned.cases.size(); ++i) {
        const auto found = earlier.find(planned_record(frame, planned, planned.cases[i]).key());
        if (found == earlier.end()) continue;
        auto ended = outcome.cases[i];
        if (ended.counters_reason.empty() && ended.counters.empty()) ended.counters_reason = ended.reason;
        const bool reached = !ended.counters_reason.empty() && ended.counters_reason != kTimeBudget;
        if (ended.counters.empty() && !reached) continue;
        CaseRecord record = *found->second;
        if (!ended.counters.empty() && frame.session != record.provenance.session)
            ended.counters_reason = collected(frame, record.provenance, ended.counters_reason);
        add_counters(record, ended, true);
        records.push_back(std::move(record));
    }
    return records;
}

}  // namespace espalier::bench
