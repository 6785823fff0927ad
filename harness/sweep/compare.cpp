#include "harness/sweep/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/sweep/statistics.hpp"
#include "harness/text/printable.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench {
namespace {

constexpr double kEachSide = 0.975;  // 0.975 * 0.975 > 0.95

template <class Value>
void refuse_difference(const DeviceResults& before, const DeviceResults& after, bool allowed, const char* what,
                       const char* flag, Value value) {
    std::set<std::string> values;
    for (const DeviceResults* side : {&before, &after})
        for (const CaseRecord& record : side->cases) values.insert(printable(value(record.provenance)));
    if (!allowed && values.size() > 1)
        throw BadData(
            fmt::format("the two sides have times of {} {}: {}. If that is what you want to compare, pass "
                        "--allow {}",
                        values.size(), what, fmt::join(values, " and "), flag));
}

void refuse_differences(const DeviceResults& before, const DeviceResults& after, const MergeOptions& allow) {
    if (before.device.key != after.device.key || before.device.name != after.device.name)
        throw BadData(fmt::format(
            "one side is of {} ({}), the other of {} ({}): times of different devices do not "
            "compare; name two sweeps of one device",
            before.device.key, printable(before.device.name), after.device.key, printable(after.device.name)));
    refuse_difference(before, after, allow.allow_drivers, "drivers", "drivers",
                      [](const Provenance& p) { return p.driver + " / " + p.runtime; });
    refuse_difference(before, after, allow.allow_builds, "builds", "builds",
                      [](const Provenance& p) { return p.build; });
    refuse_difference(before, after, allow.allow_caches, "cache modes", "caches",
                      [](const Provenance& p) { return p.cache; });
}

ComparedCase compare_case(const CaseRecord& before, const CaseRecord& after, double threshold) {
    const MedianInterval a = median_interval(before.samples_ns, kEachSide);
    const MedianInterval b = median_interval(after.samples_ns, kEachSide);
    ComparedCase result{.key = after.key(),
                        .before_ns = a.median,
                        .after_ns = b.median,
                        .ratio = b.median / a.median,
                        .lo = b.lo / a.hi,
                        .hi = b.hi / a.lo,
                        .source_changed = before.provenance.source_id != after.provenance.source_id};
    if (result.lo > 1 + threshold) result.change = Change::slower;
    if (result.hi < 1 / (1 + threshold)) result.change = Change::faster;
    return result;
}

void add_pair(const CaseRecord& before, const CaseRecord& after, double threshold, Comparison& comparison) {
    const bool was_ok = before.status == Status::ok, is_ok = after.status == Status::ok;
    if (was_ok && is_ok)
        comparison.cases.push_back(compare_case(before, after, threshold));
    else if (was_ok && is_failure(after.status))
        comparison.broken.push_back({after.key(), std::string(to_string(after.status)), after.reason});
    else if (is_ok && is_failure(before.status))
        ++comparison.mended;
    else if (was_ok != is_ok)
        ++(was_ok ? comparison.only_before : comparison.only_after);
}

}  // namespace

std::size_t Comparison::slower() const {
    return static_cast<std::size_t>(std::ranges::count(cases, Change::slower, &ComparedCase::change));
}

std::size_t Comparison::faster() const {
    return static_cast<std::size_t>(std::ranges::count(cases, Change::faster, &ComparedCase::change));
}

Comparison compare(const DeviceResults& before, const DeviceResults& after, const CompareOptions& options) {
    refuse_differences(before, after, options.pool);
    std::map<std::string, const CaseRecord*> earlier;
    for (const CaseRecord& record : before.cases)
        if (record.role != "peer") earlier.emplace(record.key(), &record);
    Comparison comparison;
    for (const CaseRecord& record : after.cases) {
        if (record.role == "peer") continue;
        const auto found = earlier.find(record.key());
        if (found == earlier.end()) {
            comparison.only_after += record.status == Status::ok;
            continue;
        }
        add_pair(*found->second, record, options.threshold, comparison);
        earlier.erase(found);
    }
    for (const auto& [key, record] : earlier) comparison.only_before += record->status == Status::ok;
    std::ranges::stable_sort(comparison.cases, std::greater<>(), &ComparedCase::ratio);
    std::vector<double> ratios;
    for (const ComparedCase& one : comparison.cases) ratios.push_back(one.ratio);
    if (!ratios.empty()) {
        const MedianInterval all = median_interval(ratios);
        comparison.median_ratio = all.median, comparison.lo = all.lo, comparison.hi = all.hi;
    }
    return comparison;
}

}  // namespace espalier::bench
