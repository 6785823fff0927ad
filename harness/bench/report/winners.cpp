#include "harness/bench/report/winners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/base/text/printable.hpp"
#include "harness/bench/records/disturbance.hpp"
#include "harness/bench/records/interval.hpp"

namespace espalier::bench::report {
namespace {

std::string time_text(double ns) {
    constexpr std::pair<double, const char*> kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (const auto& [scale, unit] : kUnits)
        if (ns >= scale) return fmt::format("{:.4g} {}", ns / scale, unit);
    return fmt::format("{:.4g} ns", ns);
}

std::string variant_text(const CaseRecord& record) {
    const bool plain = record.configuration.empty() || record.configuration == "default";
    return printable(plain ? record.variant : fmt::format("{} ({})", record.variant, record.configuration), 120);
}

using Items = std::vector<std::string>;

/// "rows=1;k=5" -> rows=1 and k=5.
Items items_of(const std::string& problem) {
    Items items;
    for (std::size_t at = 0; at < problem.size();) {
        const auto end = std::min(problem.find(';', at), problem.size());
        items.push_back(problem.substr(at, end - at));
        at = end + 1;
    }
    return items;
}

/// The items that all problems of a family have in common; they are said once, beside its name.
Items common_items(std::span<const Winner> winners) {
    Items common = items_of(winners.front().best->problem);
    for (const Winner& winner : winners) {
        const Items items = items_of(winner.best->problem);
        std::erase_if(common, [&](const std::string& item) { return !std::ranges::count(items, item); });
    }
    return winners.size() > 1 ? common : Items{};
}

std::string problem_text(const std::string& problem, const Items& common) {
    Items items = items_of(problem);
    std::erase_if(items, [&](const std::string& item) { return std::ranges::count(common, item); });
    return printable(fmt::format("{}", fmt::join(items, ";")), 160);
}

struct Line {
    std::string problem, variant, time, interval, margin, roofline;
};

std::string next_text(const Winner& winner) {
    if (!winner.wins()) return "disturbed: wins nothing";
    return winner.next ? fmt::format("{:.2f}x {}", winner.margin(), printable(winner.next->variant, 60)) : "-";
}

Line line_of(const Winner& winner, const Items& common) {
    const CaseRecord& best = *winner.best;
    const char* const mark = winner.wins() ? "" : "~";
    return {problem_text(best.problem, common),
            mark + variant_text(best),
            fmt::format("{}{}{}", mark, is_bound(best) ? "<= " : "", time_text(best.time_ns)),
            interval_text(best),
            next_text(winner),
            winner.roofline_share() > 0 ? fmt::format("{}{:.0f}%", mark, 100 * winner.roofline_share()) : "-"};
}

}  // namespace

std::vector<Winner> find_winners(std::span<const CaseRecord* const> cases) {
    std::map<std::pair<std::string, std::string>, std::vector<const CaseRecord*>> problems;
    for (const CaseRecord* record : cases)
        if (record->status == Status::ok && record->time_ns > 0)
            problems[{record->family, record->problem}].push_back(record);
    std::vector<Winner> winners;
    for (auto& [name, timed] : problems) {
        const auto quiet = [](const CaseRecord* record) { return !disturbance_of(*record); };
        std::ranges::stable_sort(timed, {}, &CaseRecord::time_ns);
        const auto disturbed = std::stable_partition(timed.begin(), timed.end(), quiet);
        Winner winner{.best = timed.front(),
                      .timed = timed.size(),
                      .disturbed = static_cast<std::size_t>(timed.end() - disturbed)};
        const auto other = std::find_if(timed.begin(), disturbed, [&](const CaseRecord* record) {
            return record->variant != winner.best->variant;
        });
        if (other != disturbed) winner.next = *other;
        winners.push_back(winner);
    }
    std::ranges::stable_sort(winners, [](const Winner& a, const Winner& b) {
        return std::tie(a.best->family, a.best->features) < std::tie(b.best->family, b.best->features);
    });
    return winners;
}

std::string interval_text(const CaseRecord& record) {
    if (const auto interval = interval_of(record))
        return fmt::format("+-{:.1f}%", 100 * (interval->hi - interval->lo) / 2 / record.time_ns);
    if (has_few_samples(record)) return "too few samples";
    return time_text(record.time_lo_ns) + " to " + time_text(record.time_hi_ns);
}

std::string winners_table(std::span<const Winner> winners, std::size_t most_lines) {
    const auto shown = winners.first(std::min(winners.size(), most_lines));
    std::vector<Line> lines;
    std::vector<std::string> headings;  // before the line of the same place; empty within a family
    for (std::size_t begin = 0, end = 0; begin < shown.size(); begin = end) {
        const std::string& family = shown[begin].best->family;
        while (end < shown.size() && shown[end].best->family == family) ++end;
        const auto of_family = shown.subspan(begin, end - begin);
        const Items common = common_items(of_family);
        for (const Winner& winner : of_family) lines.push_back(line_of(winner, common));
        headings.resize(lines.size());
        headings[begin] =
            printable(fmt::format("{}{}{}", family, common.empty() ? "" : ": ", fmt::join(common, ";")), 200);
    }
    const Line head{"problem", "fastest", "time", "", "next", "roofline"};
    std::size_t problem = head.problem.size(), variant = head.variant.size(), interval = 8;
    for (const Line& line : lines) {
        problem = std::max(problem, line.problem.size());
        variant = std::max(variant, line.variant.size());
        interval = std::max(interval, line.interval.size());
    }
    const auto row = [&](const Line& line) {
        return fmt::format("  {:<{}}  {:<{}}  {:>9}  {:>{}}  {:>8}  {}\n", line.problem, problem, line.variant, variant,
                           line.time, line.interval, interval, line.roofline, line.margin);
    };
    std::string text = lines.empty() ? "" : row(head);
    for (std::size_t i = 0; i < lines.size(); ++i)
        text += (headings[i].empty() ? "" : headings[i] + "\n") + row(lines[i]);
    if (shown.size() < winners.size()) text += fmt::format("  and {} more\n", winners.size() - shown.size());
    return text;
}

}  // namespace espalier::bench::report
