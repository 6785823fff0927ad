// What plans that predict would cost: for forests of several sizes and ways of growing, the regret of their best choice
// on problems that were held out in ten folds, beside that of the tree and of the surrogate that both are distilled
// from, which is told all of a problem or what callers know, and on unseen problems.
//
//   forest_study [SETTING=VALUE] ...
//
// devices=A,B families=A,B   default: the evidence's, all with unseen problems
// folds=10                   so many of the ten
// unseen=1                   0: held-out problems alone
// forests=16:12:32:1:16,...  as in ForestOptions: trees, problems in a leaf, columns tried, octaves, weight; default:
//                            what training grows

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "harness/bench/judge/unseen.hpp"
#include "harness/bench/learn/choice_forest.hpp"
#include "harness/bench/learn/forest.hpp"
#include "harness/bench/learn/imputation.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/learn/ranking.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/train/train.hpp"
#include "tests/bench/train/evidence_devices.hpp"

namespace espalier::bench::learn {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::size_t>;

struct Study {
    std::map<std::string, std::string> settings;
    std::vector<ForestOptions> forests;

    [[nodiscard]] std::vector<std::string> list(const std::string& name) const {
        std::vector<std::string> items;
        const auto at = settings.find(name);
        std::istringstream in(at == settings.end() ? "" : at->second);
        for (std::string item; std::getline(in, item, ',');) items.push_back(item);
        return items;
    }
    [[nodiscard]] std::size_t number(const std::string& name, std::size_t otherwise) const {
        const auto at = settings.find(name);
        return at == settings.end() ? otherwise : std::stoul(at->second);
    }
};

std::string name_of(const ForestOptions& o) {
    return fmt::format("{}:{}:{}:{}:{}", o.trees, o.least, o.tried, o.octaves, o.weight);
}

ForestOptions parse(const std::string& text) {
    ForestOptions o;
    std::istringstream in(text);
    std::string item;
    const auto take = [&](auto& value) {
        if (std::getline(in, item, ':')) value = static_cast<std::remove_reference_t<decltype(value)>>(std::stod(item));
    };
    take(o.trees), take(o.least), take(o.tried), take(o.octaves), take(o.weight);
    return o;
}

/// The matrix to those who know of a problem what callers know.
Matrix untold(Matrix matrix) {
    for (Column& column : matrix.columns)
        if (!column.known) column.inert = true;
    return matrix;
}

/// Choices by what a forest says of a problem.
std::vector<std::size_t> order_of(const ChoiceForest& forest, const Rows& choices, std::span<const double> values) {
    std::vector<float> columns(forest.columns());
    std::vector<std::uint32_t> totals(choices.size());
    forest.read(values.data(), columns.data());
    forest.ask(columns.data(), totals.data());
    std::vector<std::size_t> order(choices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return totals[i]; });
    for (std::size_t& i : order) i = choices[i];
    return order;
}

std::optional<double> log_over_best(const Matrix& matrix, std::size_t problem, std::size_t choice) {
    if (matrix.state(problem, choice) == CellState::imputed) return std::nullopt;
    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t c : matrix.all_candidates())
        if (matrix.measured(problem, c)) best = std::min(best, matrix.log_slowdown(problem, c));
    if (std::isinf(best)) return std::nullopt;
    return std::max(0.0, matrix.log_slowdown(problem, choice) - best);
}

std::string figures(std::vector<double> logs) {
    if (logs.empty()) return "-";
    std::ranges::sort(logs);
    const auto rank = [&](std::size_t percent) { return std::exp(logs[(percent * logs.size() + 99) / 100 - 1]); };
    const double sum = std::accumulate(logs.begin(), logs.end(), 0.0);
    return fmt::format("{:.4f} {:.3f} {:.3f} of {}", std::exp(sum / static_cast<double>(logs.size())), rank(90),
                       rank(99), logs.size());
}

std::size_t bytes_of(const ChoiceForest& forest) {
    return forest.nodes.size() * sizeof(ChoiceForest::Node) + forest.leaves.size() + forest.factors.size();
}

void held_out(const Study& study, const Trained& trained, const LearnOptions& options, const Rows& choices) {
    const Matrix& matrix = trained.evidence.matrix;
    std::map<std::string, std::vector<double>> logs;
    std::size_t done = 0;
    for (const Fold& fold : evaluation_folds(matrix, options)) {
        if (done++ == study.number("folds", 10)) break;
        Matrix seen = matrix;
        if (!matrix.log_times.empty()) impute(seen, fold.training);
        const Lesson lesson = whole_lesson(seen, fold.training, options);
        const Tree tree = learn(seen, fold.training, options);
        const auto values = seen.values_of(fold.held_out);
        const auto predicted = predict(seen, fold.training, values, options);
        const auto by_callers = predict(untold(seen), fold.training, values, options);
        std::map<std::string, std::vector<std::size_t>> picks;
        const std::size_t width = matrix.candidates.size();
        for (std::size_t i = 0; i < fold.held_out.size(); ++i) {
            const std::size_t p = fold.held_out[i];
            picks["0 tree"].push_back(chosen(matrix, p, tree.leaves[tree.leaf_of(matrix.row(p))].ranking));
            const auto order_by = [&](const std::vector<double>& told) {
                Rows order = matrix.all_candidates();
                std::erase_if(order, [&](std::size_t c) { return std::isnan(told[i * width + c]); });
                std::ranges::stable_sort(order, {}, [&](std::size_t c) { return told[i * width + c]; });
                return order;
            };
            picks["1 surrogate, told what callers know"].push_back(chosen(matrix, p, order_by(by_callers)));
            Rows order = order_by(predicted);
            picks["1 surrogate"].push_back(chosen(matrix, p, order));
            std::erase_if(order, [&](std::size_t c) { return std::ranges::find(choices, c) == choices.end(); });
            picks["2 surrogate, of the tree's variants"].push_back(chosen(matrix, p, order));
        }
        for (const ForestOptions& o : study.forests) {
            const ChoiceForest forest = distil_forest(lesson, choices, options.combinations, o);
            for (const std::size_t p : fold.held_out)
                picks[name_of(o)].push_back(chosen(matrix, p, order_of(forest, choices, matrix.row(p))));
        }
        for (const auto& [way, of_way] : picks)
            for (std::size_t i = 0; i < fold.held_out.size(); ++i)
                if (const auto log = log_over_best(matrix, fold.held_out[i], of_way[i])) logs[way].push_back(*log);
    }
    for (const auto& [way, of_way] : logs) fmt::print("  held out {:<36} {}\n", way, figures(of_way));
}

Pick pick_of(const Trained& trained, const DeviceInfo& device, const Rows& order, const std::string& problem) {
    const Family& family = *trained.family;
    for (const std::size_t c : order) {
        const Choice& candidate = trained.evidence.matrix.candidates[c];
        if (!supports(family, device, problem, candidate)) continue;
        const VariantInfo& variant = family.variants()[candidate.variant];
        return {std::string(variant.name), variant.configurations[candidate.configuration].text(), ""};
    }
    return {"", "", "nothing of it runs"};
}

void unseen(const Study& study, const Trained& trained, const DeviceInfo& device, const LearnOptions& options,
            const Rows& choices, const std::vector<CaseRecord>& records) {
    const Matrix& matrix = trained.evidence.matrix;
    const auto print = [](const std::string& way, const Grades& g, const std::string& more) {
        fmt::print("  unseen   {:<36} {:.4f} {:.3f} {:.3f} of {}, by time {:.3f}{}\n", way, g.regret.geomean,
                   g.regret.p90, g.p99, g.regret.problems, g.time_weighted, more);
    };
    const auto by_tree = [&](const std::string& problem) {
        const Tree& tree = trained.tree;
        return pick_of(trained, device,
                       tree.leaves[tree.leaf_of(asked_values(*trained.family, matrix.columns, problem))].ranking,
                       problem);
    };
    print("0 tree", grades_of(grade(records, by_tree)), "");
    const Lesson lesson = whole_lesson(matrix, matrix.all(), options);
    for (const ForestOptions& o : study.forests) {
        const auto before = std::chrono::steady_clock::now();
        const ChoiceForest forest = distil_forest(lesson, choices, options.combinations, o);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
        const auto pick = [&](const std::string& problem) {
            return pick_of(trained, device,
                           order_of(forest, choices, asked_values(*trained.family, matrix.columns, problem)), problem);
        };
        print(name_of(o), grades_of(grade(records, pick)),
              fmt::format("; {} bytes, {} leaves, {:.1f} s", bytes_of(forest), forest.leaves.size() / choices.size(),
                          seconds));
    }
}

void study_device(const Study& study, const std::string& key) {
    TrainOptions options;
    options.evaluate = false;
    options.evidence.allow_mixed = options.evidence.allow_disturbed = true;
    const TrainedDevice device = train_device(
        key,
        {.results = ESPALIER_RESULTS, .output = fs::path(ESPALIER_RESULTS) / "../kernels/selectors", .evidence = {}},
        study.list("families"), options);
    if (!fs::exists(unseen_folder(fs::path(ESPALIER_RESULTS) / key))) return;
    const DeviceResults of_unseen = load_results(unseen_folder(fs::path(ESPALIER_RESULTS) / key), {});
    for (const Trained& trained : device.families) {
        const auto records = cases_of(of_unseen, trained.family->name());
        if (records.empty()) continue;
        LearnOptions learn = options.learn;
        learn.pruning = trained.pruning, learn.part_relaxed = trained.part_relaxed;
        const Rows choices = choices_beside(trained.evidence.matrix, trained.tree);
        fmt::print("{} {}: {} of {} choices, {} problems\n", trained.family->name(), key, choices.size(),
                   trained.evidence.matrix.candidates.size(), trained.evidence.matrix.rows());
        if (study.number("unseen", 1) != 0) unseen(study, trained, device.device, learn, choices, records);
        if (study.number("folds", 10) != 0) held_out(study, trained, learn, choices);
        std::fflush(stdout);
    }
}

}  // namespace
}  // namespace espalier::bench::learn

int main(int count, char** arguments) {
    using namespace espalier::bench;
    learn::Study study;
    for (int i = 1; i < count; ++i) {
        const std::string argument = arguments[i];
        study.settings[argument.substr(0, argument.find('='))] = argument.substr(argument.find('=') + 1);
    }
    for (const std::string& text : study.list("forests")) study.forests.push_back(learn::parse(text));
    if (study.forests.empty()) study.forests.emplace_back();
    const auto devices = study.list("devices");
    for (const std::string& key : devices.empty() ? evidence_devices(ESPALIER_RESULTS) : devices)
        learn::study_device(study, key);
}
