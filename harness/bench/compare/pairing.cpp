#include "harness/bench/compare/pairing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/text/printable.hpp"
#include "harness/bench/records/disturbance.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench {
namespace {

template <class Value>
void refuse_difference(const std::vector<const ComparedSweep*>& sweeps, bool allowed, const char* what,
                       const char* flag, Value value) {
    std::set<std::string> values;
    for (const ComparedSweep* sweep : sweeps)
        for (const CaseRecord& record : sweep->results.cases) values.insert(printable(value(record.provenance)));
    if (!allowed && values.size() > 1)
        throw BadData(
            fmt::format("the two sides have times of {} {}: {}. If that is what you want to compare, pass "
                        "--allow {}",
                        values.size(), what, fmt::join(values, " and "), flag));
}

bool one_measurement(const CaseRecord& a, const CaseRecord& b) {
    return a.status == Status::ok && b.status == Status::ok && a.provenance.session == b.provenance.session &&
           a.samples_ns == b.samples_ns;
}

/// How many measurements of its cases a sweep has in common with an earlier one, by the earlier one's number.
using Common = std::map<std::size_t, std::size_t>;

void refuse_copy(const std::vector<const ComparedSweep*>& sweeps, std::size_t copy, const Common& common) {
    const auto& cases = sweeps[copy]->results.cases;
    const auto timed = static_cast<std::size_t>(std::ranges::count_if(
        cases, [](const CaseRecord& one) { return one.role != "peer" && one.status == Status::ok; }));
    for (const auto& [first, count] : common)
        if (count == timed)
            throw BadData(
                fmt::format("{} and {} hold the same measurements: name each sweep once, and sweep again for "
                            "another session",
                            sweeps[first]->name, sweeps[copy]->name));
}

}  // namespace

std::map<std::string, CaseSessions> cases_by_key(const std::vector<const ComparedSweep*>& sweeps,
                                                 std::size_t& repeated) {
    std::map<std::string, CaseSessions> cases;
    for (std::size_t session = 0; session < sweeps.size(); ++session) {
        Common common;
        for (const CaseRecord& record : sweeps[session]->results.cases) {
            if (record.role == "peer") continue;
            CaseSessions& sessions = cases[record.key()];
            const auto same = std::ranges::find_if(
                sessions, [&](const auto& other) { return one_measurement(*other.second, record); });
            if (same == sessions.end())
                sessions.emplace(session, &record);
            else
                ++common[same->first], ++repeated;
        }
        refuse_copy(sweeps, session, common);
    }
    return cases;
}

void refuse_differences(const std::vector<const ComparedSweep*>& sweeps, const MergeOptions& allow) {
    const DeviceInfo& device = sweeps.front()->results.device;
    for (const ComparedSweep* sweep : sweeps)
        if (const DeviceInfo& other = sweep->results.device; other.key != device.key || other.name != device.name)
            throw BadData(fmt::format(
                "{} is of {} ({}), {} of {} ({}): times of different devices do not compare; name sweeps of one device",
                sweeps.front()->name, device.key, printable(device.name), sweep->name, other.key,
                printable(other.name)));
    refuse_difference(sweeps, allow.allow_drivers, "drivers", "drivers",
                      [](const Provenance& p) { return p.driver + " / " + p.runtime; });
    refuse_difference(sweeps, allow.allow_builds, "builds", "builds",
                      [&](const Provenance& p) { return timed_build(p, device.kind); });
    refuse_difference(sweeps, allow.allow_caches, "cache modes", "caches", [](const Provenance& p) { return p.cache; });
}

double log_share_left(const CaseRecord& record) {
    const Conditions& conditions = record.conditions;
    if (conditions.sm_clock_mhz) return 0;
    const double taken = conditions.foreign_cpu_share.value_or(0) + conditions.steal_cpu_share.value_or(0);
    return std::log1p(-std::clamp(taken, 0.0, 0.99));
}

}  // namespace espalier::bench
