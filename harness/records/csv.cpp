#include "harness/records/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/families/family.hpp"
#include "harness/records/disturbance.hpp"
#include "harness/text/csv_field.hpp"

namespace espalier::bench {
namespace {

constexpr std::array<std::string_view, 16> kFirstColumns{
    "family",     "variant",    "role",  "status", "reason",   "problem",   "configuration",  "time_ns",
    "time_lo_ns", "time_hi_ns", "bytes", "ops",    "gb_per_s", "gop_per_s", "roofline_share", "regret"};
constexpr std::array<std::string_view, 7> kLastColumns{"device", "driver",  "build",    "session",
                                                       "cache",  "samples", "disturbed"};
constexpr std::string_view kFeaturePrefix = "problem_";

/// Best time of each problem: what regret compares with. Peers cannot be chosen and do not count, nor do disturbed
/// cases.
std::map<std::string_view, double> best_times(std::span<const CaseRecord> cases) {
    std::map<std::string_view, double> best;
    for (const CaseRecord& record : cases) {
        if (record.status != Status::ok || record.role == "peer" || disturbance_of(record)) continue;
        const auto [entry, first] = best.emplace(record.problem, record.time_ns);
        if (!first) entry->second = std::min(entry->second, record.time_ns);
    }
    return best;
}

/// Every record's, each behind the one that it follows: optional features are in some records only.
std::vector<std::string> feature_names(std::span<const CaseRecord> cases) {
    std::vector<std::string> names;
    for (const CaseRecord& record : cases) {
        auto place = names.begin();
        for (const auto& [name, value] : record.features) {
            const auto found = std::ranges::find(names, name);
            place = (found == names.end() ? names.insert(place, name) : found) + 1;
        }
    }
    return names;
}

std::vector<std::string> counter_names(std::span<const CaseRecord> cases) {
    std::set<std::string> names;
    for (const CaseRecord& record : cases)
        for (const auto& [name, value] : record.counters) names.insert(name);
    return {names.begin(), names.end()};
}

/// The time that a caller whose data is in host memory pays on top, where it was measured.
bool any_transfer(std::span<const CaseRecord> cases) {
    return std::ranges::any_of(cases, [](const CaseRecord& record) {
        return std::ranges::any_of(record.conditions, [](const auto& c) { return c.first == kTransferCondition; });
    });
}

std::string lookup(const std::vector<std::pair<std::string, double>>& pairs, std::string_view name) {
    for (const auto& [key, value] : pairs)
        if (key == name) return fmt::format("{}", value);
    return {};
}

/// What an optional feature is where neither key nor record have it; empty if this build does not know it.
std::string default_text(const CaseRecord& record, const std::string& name) {
    const Family* family = find_family(record.family);
    if (!family) return {};
    const auto values = family->feature_values("");
    for (std::size_t f = 0; f < values.size(); ++f) {
        const FeatureInfo& feature = family->features()[f];
        if (feature.name != name || !feature.optional) continue;
        return feature.categories.empty() ? fmt::format("{}", values[f])
                                          : std::string(feature.categories[static_cast<std::size_t>(values[f])]);
    }
    return {};
}

/// The problem that trees are asked about: who reads the columns walks a tree by them.
std::string asked_problem(const CaseRecord& record) {
    const Family* family = find_family(record.family);
    try {
        if (family) return family->as_asked(record.problem);
    } catch (const BadProblem&) {  // of a build with other axes: as it is
    }
    return record.problem;
}

/// A category is written as the key of the problem that is asked about spells it, a number in full.
std::string feature_text(const CaseRecord& record, std::string_view asked, const std::string& name) {
    if (const auto value = axis_of(asked, name)) return std::string(*value);
    const std::string measured = lookup(record.features, name);
    return measured.empty() ? default_text(record, name) : measured;
}

/// Six digits: more than any timing is good for.
std::string number(double value) { return fmt::format("{:.6g}", value); }

std::vector<std::string> measured_fields(const CaseRecord& record, double best_ns) {
    const bool ok = record.status == Status::ok && record.time_ns > 0;
    const auto if_ok = [&](double value) { return ok ? number(value) : std::string(); };
    return {if_ok(record.time_ns),
            if_ok(record.time_lo_ns),
            if_ok(record.time_hi_ns),
            fmt::format("{}", record.bytes),
            fmt::format("{}", record.ops),
            if_ok(record.bytes / record.time_ns),
            if_ok(record.ops / record.time_ns),
            record.floor_ns > 0 ? if_ok(record.floor_ns / record.time_ns) : "",
            best_ns > 0 && !disturbance_of(record) ? if_ok(record.time_ns / best_ns) : ""};
}

/// Where a case comes from, how many samples its time is of, and what disturbed them.
std::vector<std::string> last_fields(const CaseRecord& record) {
    const Provenance& provenance = record.provenance;
    return {csv_field(provenance.device_key),
            csv_field(provenance.driver),
            csv_field(provenance.build),
            csv_field(provenance.session),
            csv_field(provenance.cache),
            record.status == Status::ok ? fmt::format("{}", record.samples_ns.size()) : "",
            std::string(disturbance_name(record))};
}

void append_row(std::string& out, const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) out.append(i ? "," : "").append(fields[i]);
    out += '\n';
}

}  // namespace

std::string feature_column(std::string_view feature) {
    std::string_view bare = feature;
    while (bare.starts_with(kFeaturePrefix)) bare.remove_prefix(kFeaturePrefix.size());
    const bool taken =
        std::ranges::count(kFirstColumns, bare) || std::ranges::count(kLastColumns, bare) || bare == kTransferCondition;
    return taken ? fmt::format("{}{}", kFeaturePrefix, feature) : std::string(feature);
}

std::string to_csv(std::span<const CaseRecord> cases) {
    const auto best = best_times(cases);
    const auto features = feature_names(cases);
    const auto counters = counter_names(cases);
    std::vector<std::string> header(kFirstColumns.begin(), kFirstColumns.end());
    for (const std::string& name : features) header.push_back(feature_column(name));
    header.insert(header.end(), counters.begin(), counters.end());
    const bool transfer = any_transfer(cases);
    if (transfer) header.emplace_back(kTransferCondition);
    header.insert(header.end(), kLastColumns.begin(), kLastColumns.end());
    std::string out;
    append_row(out, header);
    for (const CaseRecord& record : cases) {
        std::vector<std::string> row;
        for (const std::string_view text :
             {std::string_view(record.family), std::string_view(record.variant), std::string_view(record.role),
              to_string(record.status), std::string_view(record.reason), std::string_view(record.problem),
              std::string_view(record.configuration)})
            row.push_back(csv_field(text));
        const auto found = best.find(record.problem);
        for (auto& field : measured_fields(record, found == best.end() ? 0 : found->second))
            row.push_back(std::move(field));
        const std::string asked = asked_problem(record);
        for (const auto& name : features) row.push_back(feature_text(record, asked, name));
        for (const auto& name : counters) row.push_back(lookup(record.counters, name));
        if (transfer) row.push_back(record.status == Status::ok ? lookup(record.conditions, kTransferCondition) : "");
        for (auto& field : last_fields(record)) row.push_back(std::move(field));
        append_row(out, row);
    }
    return out;
}

}  // namespace espalier::bench
