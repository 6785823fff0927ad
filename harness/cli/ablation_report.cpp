#include "harness/cli/ablation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "harness/bench/learn/regret.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/variant_sizes.hpp"

namespace espalier::bench::cli {
namespace {

using learn::Ablation;
using learn::rounded;
using learn::VariantSet;
using nlohmann::ordered_json;

/// A set is as good as all variants when the virtual best of it loses no more than this.
constexpr double kGoodEnough = 1.01;

bool names(const std::string& text, const Family& family, std::size_t variant) {
    const std::string_view name = family.variants()[variant].name;
    return text == name || text == std::string(family.name()) + "/" + std::string(name);
}

VariantSet named(const std::vector<std::string>& texts, const learn::Trained& trained) {
    VariantSet found;
    for (const std::size_t v : learn::variants_of(trained))
        if (std::ranges::any_of(texts, [&](const auto& text) { return names(text, *trained.family, v); }))
            found.insert(v);
    return found;
}

std::vector<std::string> names_of(const VariantSet& set, const Family& family) {
    std::vector<std::string> list;
    for (const std::size_t v : set) list.emplace_back(family.variants()[v].name);
    return list;
}

/// What the object files of the variants take in a program; nothing if this build does not know one of them.
std::optional<std::size_t> bytes_of(const VariantSet& set, const Family& family) {
    std::size_t sum = 0;
    for (const std::string& name : names_of(set, family)) {
        const auto bytes = object_bytes(std::string(family.name()) + "/" + name);
        if (!bytes) return std::nullopt;
        sum += *bytes;
    }
    return sum;
}

std::string kib(const std::optional<std::size_t>& bytes) {
    return bytes ? fmt::format("{:.1f}", static_cast<double>(*bytes) / 1024) : "-";
}

ordered_json or_null(const std::optional<std::size_t>& bytes) { return bytes ? ordered_json(*bytes) : nullptr; }

struct Worth {
    std::size_t variant;
    std::size_t best_for = 0;  ///< problems that it has the best time for
    Ablation without;
};

/// The answers for one family; empty where the questions are not about it.
struct Answers {
    const learn::Trained* trained;
    double tree = 1;
    std::vector<std::pair<std::string, Ablation>> changed;  ///< "without x", "only y"
    std::vector<Ablation> sets;                             ///< of 0, 1, ... variants beside the baseline
    std::vector<Worth> worth;                               ///< the most valuable first
};

std::size_t problems_won(const learn::Matrix& matrix, std::size_t variant) {
    std::size_t won = 0;
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        for (std::size_t c = 0; c < matrix.candidates.size(); ++c)
            if (matrix.candidates[c].variant == variant && matrix.measured(p, c) && matrix.log_slowdown(p, c) == 0) {
                ++won;
                break;
            }
    return won;
}

Answers answer(const learn::Trained& trained, const AblationQuestions& questions, const learn::LearnOptions& options) {
    Answers answers{.trained = &trained, .tree = trained.evaluation.training.geomean};
    const VariantSet all = learn::variants_of(trained);
    if (const VariantSet gone = named(questions.without, trained); !gone.empty()) {
        VariantSet kept;
        std::ranges::set_difference(all, gone, std::inserter(kept, kept.end()));
        answers.changed.emplace_back(fmt::format("without {}", fmt::join(names_of(gone, *trained.family), ", ")),
                                     learn::ablate(trained, kept, options));
    }
    if (const VariantSet kept = named(questions.only, trained); !kept.empty())
        answers.changed.emplace_back(fmt::format("only {}", fmt::join(names_of(kept, *trained.family), ", ")),
                                     learn::ablate(trained, kept, options));
    if (questions.ship < 0) return answers;
    const auto most = std::min(static_cast<std::size_t>(questions.ship), all.size() - 1);
    for (std::size_t size = 0; size <= most; ++size)
        answers.sets.push_back(learn::ablate(trained, learn::best_set(trained, size), options));
    const std::size_t baseline = trained.evidence.matrix.candidates[trained.evidence.matrix.baseline].variant;
    for (const std::size_t v : all) {
        if (v == baseline) continue;
        VariantSet others = all;
        others.erase(v);
        answers.worth.push_back({v, problems_won(trained.evidence.matrix, v), learn::ablate(trained, others, options)});
    }
    std::ranges::stable_sort(
        answers.worth, [](const Worth& a, const Worth& b) { return a.without.virtual_best > b.without.virtual_best; });
    return answers;
}

std::vector<Answers> answer_all(const learn::TrainedDevice& trained, const AblationQuestions& questions,
                                const learn::LearnOptions& options) {
    std::vector<Answers> all;
    for (const learn::Trained& family : trained.families) {
        all.push_back(answer(family, questions, options));
        if (all.back().changed.empty() && all.back().sets.empty()) all.pop_back();
    }
    return all;
}

ordered_json to_json(const Ablation& what, const Family& family) {
    return {{"variants", names_of(what.kept, family)},
            {"object_bytes", or_null(bytes_of(what.kept, family))},
            {"perfect_regret", rounded(what.virtual_best)},
            {"tree_regret", rounded(what.tree)}};
}

std::string sets_text(const Answers& answers, const std::string& title) {
    const Family& family = *answers.trained->family;
    std::string text = title + ": the best set of every size, the baseline among them\n";
    text += fmt::format("  {:>8}  {:>14}  {:>7}  {:>8}  {}\n", "variants", "virtual best", "tree", "KiB", "set");
    bool found = false;
    for (const Ablation& set : answers.sets) {
        const bool enough = !found && set.virtual_best <= kGoodEnough;
        found |= enough;
        text += fmt::format("  {:>8}  {:>14.3f}  {:>7.3f}  {:>8}  {}{}\n", set.kept.size(), set.virtual_best, set.tree,
                            kib(bytes_of(set.kept, family)), fmt::join(names_of(set.kept, family), ", "),
                            enough ? "  <- the smallest within 1%" : "");
    }
    text += fmt::format("  {:>8}  {:>14}  {:>7}  {:>8}  {}\n", "best for", "virtual best", "tree", "KiB", "without");
    for (const Worth& worth : answers.worth)
        text += fmt::format("  {:>8}  {:>14.3f}  {:>7.3f}  {:>8}  {}\n", worth.best_for, worth.without.virtual_best,
                            worth.without.tree, kib(bytes_of({worth.variant}, family)),
                            family.variants()[worth.variant].name);
    return text;
}

}  // namespace

void check_names(const AblationQuestions& questions) {
    for (const auto* list : {&questions.without, &questions.only})
        for (const std::string& text : *list) {
            bool known = false;
            for (const Family* family : families())
                for (std::size_t v = 0; v < family->variants().size(); ++v) known |= names(text, *family, v);
            if (!known) throw Failure(ExitCode::usage, unknown_variant(text));
        }
}

ordered_json ablation_json(const learn::TrainedDevice& trained, const AblationQuestions& questions,
                           const learn::LearnOptions& options) {
    auto list = ordered_json::array();
    for (const Answers& answers : answer_all(trained, questions, options)) {
        const Family& family = *answers.trained->family;
        ordered_json entry{{"device", trained.device.key},         {"family", family.name()},
                           {"tree_regret", rounded(answers.tree)}, {"changed", ordered_json::array()},
                           {"sets", ordered_json::array()},        {"worth", ordered_json::array()}};
        for (const auto& [what, result] : answers.changed) {
            ordered_json one{{"what", what}};
            one.update(to_json(result, family));
            one["decisions"] = learn::to_json(result.diff);
            entry["changed"].push_back(std::move(one));
        }
        for (const Ablation& set : answers.sets) entry["sets"].push_back(to_json(set, family));
        for (const Worth& worth : answers.worth)
            entry["worth"].push_back({{"variant", family.variants()[worth.variant].name},
                                      {"object_bytes", or_null(bytes_of({worth.variant}, family))},
                                      {"best_for", worth.best_for},
                                      {"perfect_regret_without", rounded(worth.without.virtual_best)},
                                      {"tree_regret_without", rounded(worth.without.tree)}});
        list.push_back(std::move(entry));
    }
    return list;
}

std::string ablation_text(const learn::TrainedDevice& trained, const AblationQuestions& questions,
                          const learn::LearnOptions& options) {
    std::string text;
    for (const Answers& answers : answer_all(trained, questions, options)) {
        const std::string title = fmt::format("{} {}", trained.device.key, answers.trained->family->name());
        for (const auto& [what, result] : answers.changed)
            text += fmt::format("{} {}: virtual best 1.000 -> {:.3f}, tree {:.3f} -> {:.3f}, {} -> {} KiB\n{}", title,
                                what, result.virtual_best, answers.tree, result.tree,
                                kib(bytes_of(learn::variants_of(*answers.trained), *answers.trained->family)),
                                kib(bytes_of(result.kept, *answers.trained->family)), learn::describe(result.diff));
        if (!answers.sets.empty()) text += sets_text(answers, title);
    }
    return text;
}

}  // namespace espalier::bench::cli
