#include "harness/bench/judge/unseen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "harness/base/files/read_file.hpp"
#include "harness/base/text/sha256.hpp"
#include "harness/bench/emit/tree_text.hpp"
#include "harness/bench/learn/regret.hpp"
#include "harness/bench/records/disturbance.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::learn {
namespace {

using nlohmann::ordered_json;
using Cases = std::vector<const CaseRecord*>;

std::set<std::string> never_chosen(std::span<const CaseRecord> records) {
    std::set<std::string> variants;
    for (const CaseRecord& record : records)
        if (record.status == Status::wrong || record.status == Status::crashed) variants.insert(record.variant);
    return variants;
}

const CaseRecord* find(const Cases& cases, const Pick& pick) {
    const auto at = std::ranges::find_if(cases, [&](const CaseRecord* record) {
        return record->variant == pick.variant && record->configuration == pick.configuration;
    });
    return at == cases.end() ? nullptr : *at;
}

std::string with_reason(const CaseRecord& record) {
    return std::string(to_string(record.status)) + (record.reason.empty() ? "" : ": " + record.reason);
}

/// Too slow to be run counts like a hang.
bool has_failed(const CaseRecord& record) { return is_failure(record.status) || record.status == Status::too_slow; }

/// The best of few says little of the best of all.
std::string too_few(const Cases& cases) {
    const auto tried = std::ranges::count_if(
        cases, [](const CaseRecord* record) { return record->status == Status::ok || has_failed(*record); });
    const auto could_run =
        std::ranges::count_if(cases, [](const CaseRecord* record) { return record->status != Status::unsupported; });
    if (2 * tried >= could_run) return {};
    return fmt::format("{} of {} choices that could run were measured", tried, could_run);
}

class Grader {
public:
    Grader(std::set<std::string> excluded, bool disturbed_too)
        : excluded_(std::move(excluded)), disturbed_too_(disturbed_too) {}

    [[nodiscard]] Verdict verdict(const std::string& problem, const Cases& cases, Pick picked) const {
        Verdict verdict{.problem = problem, .pick = std::move(picked)};
        const CaseRecord* const pick = verdict.record = find(cases, verdict.pick);
        take_times(verdict, cases, pick);
        verdict.unjudged = why_unjudged(verdict, cases, pick);
        if (verdict.unjudged.empty() && has_failed(*pick)) verdict.failed = with_reason(*pick);
        return verdict;
    }

private:
    /// The best time, and the pick's or the slowest.
    void take_times(Verdict& verdict, const Cases& cases, const CaseRecord* pick) const {
        const CaseRecord* best = nullptr;
        for (const CaseRecord* record : cases) {
            if (record->status != Status::ok || (record != pick && excluded_.contains(record->variant))) continue;
            if (!best || record->time_ns < best->time_ns) best = record;
            verdict.time_ns = std::max(verdict.time_ns, record->time_ns);
        }
        if (pick && pick->status == Status::ok) verdict.time_ns = pick->time_ns;
        if (!best) return;
        verdict.best_variant = best->variant;
        verdict.best_configuration = best->configuration;
        verdict.best_ns = best->time_ns;
    }

    [[nodiscard]] std::string why_unjudged(const Verdict& verdict, const Cases& cases, const CaseRecord* pick) const {
        if (!verdict.pick.refused.empty()) return verdict.pick.refused;
        if (!(verdict.best_ns > 0)) return "nothing was measured";
        if (!pick) return "the pick has no record";
        if (pick->status != Status::ok && !has_failed(*pick)) return "the pick is " + with_reason(*pick);
        if (std::string few = too_few(cases); !few.empty()) return few;
        if (disturbed_too_) return {};
        DisturbedProblems disturbed;
        for (const CaseRecord* record : cases) disturbed.add(*record);
        return disturbed.count() > 0 ? "disturbed: " + describe(*disturbed.disturbance()) : "";
    }

    std::set<std::string> excluded_;
    bool disturbed_too_;
};

/// Whether the file's leaf of that number ranks the same: of a tree that was trained from the same data, but otherwise.
bool same_leaf(const TreeFile& file, const Explanation& why) {
    int leaf = 0;
    for (const TreeFile::Node& node : file.nodes) {
        if (!node.feature.empty() || leaf++ != why.leaf) continue;
        return std::ranges::equal(node.ranking, why.ranking, [](const auto& a, const auto& b) {
            return a.variant == b.variant && a.configuration == b.configuration;
        });
    }
    return false;
}

/// Compares the tree that chooses with the one that training wrote.
class TreeOnFile {
public:
    explicit TreeOnFile(std::filesystem::path path) : path_(std::move(path)) {
        const auto text = read_file(path_);
        if (!text) {
            why_not_ =
                "there is no " + path_.string() +
                ": train the device, and build anew or load its tree (none is written where another's is shipped)";
            return;
        }
        try {
            file_ = read_tree(*text);
            sha256_ = tree_sha256(*text);
        } catch (const BadData& error) {
            why_not_ = path_.string() + ": " + error.what();
        }
    }

    void look_at(const Explanation& why, const DeviceInfo& device) {
        if (!why_not_.empty()) return;
        if (why.tree == Explanation::Tree::none)
            why_not_ = "this program has no tree for the device";
        else if (why.tree_device == device.key)
            asked_ = true, why_not_ = compare(why);
    }

    /// When all picks were looked at.
    void conclude(Judgement& judgement) {
        if (why_not_.empty() && !asked_) why_not_ = "the trees of other devices chose, not " + path_.string();
        judgement.other_tree = why_not_;
        if (why_not_.empty()) judgement.tree_sha256 = sha256_;
    }

private:
    [[nodiscard]] std::string compare(const Explanation& why) const {
        if (why.tree_data == file_.data_sha256 && same_leaf(file_, why)) return {};
        return "the tree that chose is not that of " + path_.string() +
               ": build anew, or load it with ESPALIER_SELECTORS";
    }

    std::filesystem::path path_;
    TreeFile file_;
    std::string sha256_, why_not_;
    bool asked_ = false;
};

}  // namespace

std::vector<Verdict> grade(std::span<const CaseRecord> records, const std::function<Pick(const std::string&)>& pick,
                           bool disturbed_too) {
    const Grader grader(never_chosen(records), disturbed_too);
    std::map<std::string, Cases> problems;
    for (const CaseRecord& record : records)
        if (record.role != to_string(Role::peer)) problems[record.problem].push_back(&record);
    std::vector<Verdict> verdicts;
    for (const auto& [problem, cases] : problems) verdicts.push_back(grader.verdict(problem, cases, pick(problem)));
    return verdicts;
}

Grades grades_of(const std::vector<Verdict>& verdicts) {
    Grades grades;
    std::vector<double> logs;
    double picked = 0, best = 0;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const Verdict& verdict = verdicts[i];
        grades.unjudged += !verdict.unjudged.empty();
        if (!verdict.unjudged.empty()) continue;
        logs.push_back(std::log(verdict.regret()));
        picked += verdict.time_ns, best += verdict.best_ns;
        grades.failed += !verdict.failed.empty();
        grades.exact_share += verdict.failed.empty() && verdict.exact();
        if (grades.worst >= verdicts.size() || verdict.regret() > verdicts[grades.worst].regret()) grades.worst = i;
    }
    if (logs.empty()) return grades;
    constexpr std::uint64_t kSeed = 1;
    grades.regret = summarise(logs, kSeed);
    std::ranges::sort(logs);
    grades.p99 = std::exp(logs[(99 * logs.size() + 99) / 100 - 1]);
    grades.time_weighted = picked / best;
    grades.exact_share /= static_cast<double>(logs.size());
    return grades;
}

Judgement judge(const Family& family, const DeviceInfo& device, std::span<const CaseRecord> records,
                const std::filesystem::path& selectors, bool disturbed_too, espalier::Effort effort) {
    Judgement judgement{.family = &family};
    TreeOnFile tree(selectors / family.name() / (device.key + ".tree"));
    const auto pick = [&](const std::string& problem) -> Pick {
        const auto why = explain(family.name(), problem, device, nullptr, {}, effort);
        if (!why) return {"", "", why.error().message};
        tree.look_at(why.value(), device);
        if (why.value().tree != Explanation::Tree::none) judgement.tree_devices.insert(why.value().tree_device);
        return {why.value().variant, why.value().configuration};
    };
    judgement.verdicts = grade(records, pick, disturbed_too);
    judgement.grades = grades_of(judgement.verdicts);
    tree.conclude(judgement);
    if (effort == espalier::Effort::predict)
        if (const auto forest = read_file(selectors / family.name() / (device.key + ".forest")))
            judgement.forest_sha256 = sha256(*forest);
    return judgement;
}

FirstCases picks_and_rivals(const Family& family, const std::string& problem, const DeviceInfo& device) {
    FirstCases first;
    const auto add = [&](std::string variant, std::string configuration) {
        std::pair choice{std::move(variant), std::move(configuration)};
        if (std::ranges::find(first.choices, choice) == first.choices.end()) first.choices.push_back(std::move(choice));
    };
    const auto by_forest = explain(family.name(), problem, device, nullptr, {}, espalier::Effort::predict);
    const auto by_tree = explain(family.name(), problem, device, nullptr);
    for (const auto* const why : {&by_forest, &by_tree})
        if (*why) add(why->value().variant, why->value().configuration);
    first.needed = first.choices.size();
    if (by_tree)
        for (const Explanation::RankedChoice& rival : by_tree.value().ranking)
            if (rival.infeasible.empty())
                add(rival.variant, rival.same_as.empty() ? rival.configuration : rival.same_as);
    return first;
}

ordered_json unseen_figures(const Judgement& judgement) {
    const Grades& grades = judgement.grades;
    if (grades.regret.problems == 0) return nullptr;
    ordered_json entry = figures(grades.regret);
    entry["p99"] = rounded(grades.p99);
    entry["time_weighted"] = rounded(grades.time_weighted);
    entry["exact_share"] = rounded(grades.exact_share);
    entry["worst_problem"] = judgement.verdicts[grades.worst].problem;
    entry["unmeasured"] = grades.failed;
    entry["unjudged"] = grades.unjudged;
    entry["tree_sha256"] = judgement.tree_sha256;
    if (!judgement.forest_sha256.empty()) entry["forest_sha256"] = judgement.forest_sha256;
    return entry;
}

}  // namespace espalier::bench::learn
