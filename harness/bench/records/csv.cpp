#include "harness/bench/records/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/text/csv_field.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/records/disturbance.hpp"

namespace espalier::bench {
namespace {

constexpr std::array<std::string_view, 16> kFirstColumns{
    "family",     "variant",    "role",  "status", "reason",   "problem",   "configuration",  "time_ns",
    "time_lo_ns", "time_hi_ns", "bytes", "ops",    "gb_per_s", "gop_per_s", "roofline_share", "regret"};
constexpr std::array<std::string_view, 7> kLastColumns{"device", "driver",  "build",    "session",
                                                       "cache",  "samples", "disturbed"};
constexpr std::string_view kTransferColumn = "transfer_ns";
constexpr std::string_view kStagesColumn = "stages";
constexpr std::string_view kFeaturePrefix = "problem_";

/// A cell as it is written, empty where the column does not apply.
struct Cell {
    std::string text;
    bool is_number = false;
};

Cell number_cell(std::string text) { return {std::move(text), true}; }

/// A feature's: a number, or the name of a category.
Cell feature_cell(std::string text) {
    const bool is_number = !text.empty() && nlohmann::json::accept(text);
    return {std::move(text), is_number};
}

/// JSON has no infinity and no NaN.
bool has_json(const Cell& cell) {
    return !cell.text.empty() && (!cell.is_number || (cell.text.back() >= '0' && cell.text.back() <= '9'));
}

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
    return std::ranges::any_of(cases,
                               [](const CaseRecord& record) { return record.conditions.transfer_ns.has_value(); });
}

/// The variants of pipelines' stages, where they were noted.
bool any_stages(std::span<const CaseRecord> cases) {
    return std::ranges::any_of(cases, [](const CaseRecord& record) { return !record.stages.empty(); });
}

std::string lookup(const NamedValues& pairs, std::string_view name) {
    for (const auto& [key, value] : pairs)
        if (key == name) return fmt::format("{}", value);
    return {};
}

/// The value of an optional feature that neither key nor record have; empty if this build does not know it.
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

void add_measured(const CaseRecord& record, double best_ns, std::vector<Cell>& row) {
    const bool ok = record.status == Status::ok && record.time_ns > 0;
    const auto if_ok = [&](double value) { return ok ? number(value) : std::string(); };
    for (std::string text :
         {if_ok(record.time_ns), if_ok(record.time_lo_ns), if_ok(record.time_hi_ns), fmt::format("{}", record.bytes),
          fmt::format("{}", record.ops), if_ok(record.bytes / record.time_ns), if_ok(record.ops / record.time_ns),
          record.floor_ns > 0 ? if_ok(record.floor_ns / record.time_ns) : "",
          best_ns > 0 && !disturbance_of(record) ? if_ok(record.time_ns / best_ns) : ""})
        row.push_back(number_cell(std::move(text)));
}

/// Where a case comes from, how many samples its time is of, and what disturbed them.
void add_last(const CaseRecord& record, std::vector<Cell>& row) {
    const Provenance& provenance = record.provenance;
    for (const std::string& text :
         {provenance.device_key, provenance.driver, provenance.build, provenance.session, provenance.cache})
        row.push_back({text});
    row.push_back(number_cell(record.status == Status::ok ? fmt::format("{}", record.samples_ns.size()) : ""));
    row.push_back({std::string(disturbance_name(record))});
}

/// The columns of some cases of a family, and the row of each.
class Table {
public:
    explicit Table(std::span<const CaseRecord> cases)
        : best_(best_times(cases)),
          features_(feature_names(cases)),
          counters_(counter_names(cases)),
          transfer_(any_transfer(cases)),
          stages_(any_stages(cases)) {}

    [[nodiscard]] std::vector<std::string> header() const {
        std::vector<std::string> names(kFirstColumns.begin(), kFirstColumns.end());
        for (const std::string& name : features_) names.push_back(feature_column(name));
        names.insert(names.end(), counters_.begin(), counters_.end());
        if (transfer_) names.emplace_back(kTransferColumn);
        if (stages_) names.emplace_back(kStagesColumn);
        names.insert(names.end(), kLastColumns.begin(), kLastColumns.end());
        return names;
    }

    [[nodiscard]] std::vector<Cell> row(const CaseRecord& record) const {
        std::vector<Cell> row;
        for (const std::string_view text :
             {std::string_view(record.family), std::string_view(record.variant), std::string_view(record.role),
              to_string(record.status), std::string_view(record.reason), std::string_view(record.problem),
              std::string_view(record.configuration)})
            row.push_back({std::string(text)});
        const auto found = best_.find(record.problem);
        add_measured(record, found == best_.end() ? 0 : found->second, row);
        const std::string asked = asked_problem(record);
        for (const auto& name : features_) row.push_back(feature_cell(feature_text(record, asked, name)));
        for (const auto& name : counters_) row.push_back(number_cell(lookup(record.counters, name)));
        const auto& transfer_ns = record.conditions.transfer_ns;
        if (transfer_)
            row.push_back(
                number_cell(record.status == Status::ok && transfer_ns ? fmt::format("{}", *transfer_ns) : ""));
        if (stages_) row.push_back({fmt::format("{}", fmt::join(record.stages, " "))});
        add_last(record, row);
        return row;
    }

private:
    std::map<std::string_view, double> best_;
    std::vector<std::string> features_, counters_;
    bool transfer_, stages_;
};

}  // namespace

std::string feature_column(std::string_view feature) {
    std::string_view bare = feature;
    while (bare.starts_with(kFeaturePrefix)) bare.remove_prefix(kFeaturePrefix.size());
    const bool taken = std::ranges::count(kFirstColumns, bare) || std::ranges::count(kLastColumns, bare) ||
                       bare == kTransferColumn || bare == kStagesColumn;
    return taken ? fmt::format("{}{}", kFeaturePrefix, feature) : std::string(feature);
}

std::string to_csv(std::span<const CaseRecord> cases) {
    const Table table(cases);
    std::string out;
    for (const std::string& name : table.header()) out.append(out.empty() ? "" : ",").append(name);
    out += '\n';
    for (const CaseRecord& record : cases) {
        bool first = true;
        for (const Cell& cell : table.row(record)) {
            out.append(first ? "" : ",").append(cell.is_number ? cell.text : csv_field(cell.text));
            first = false;
        }
        out += '\n';
    }
    return out;
}

std::string to_json_rows(std::span<const CaseRecord> cases) {
    const Table table(cases);
    const std::vector<std::string> header = table.header();
    const auto quoted = [](const std::string& text) {
        return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    std::vector<std::string> names;
    for (const std::string& name : header) names.push_back(quoted(name) + ": ");
    std::string out = "[";
    for (const CaseRecord& record : cases) {
        const std::vector<Cell> row = table.row(record);
        const char* before = "{";
        out += out.size() == 1 ? "\n" : ",\n";
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (!has_json(row[i])) continue;
            out.append(before).append(names[i]).append(row[i].is_number ? row[i].text : quoted(row[i].text));
            before = ", ";
        }
        out += "}";
    }
    return out + "\n]\n";
}

}  // namespace espalier::bench
