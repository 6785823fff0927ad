// Says where the learner loses: regret on drawn problems that were held out, of the forests' best choice, of the tree
// and of the one choice that is best for the rest. Prints the tables of docs/performance/selectors.md.
//
//   learner_study [SETTING=VALUE] ...
//
// devices=A,B families=A,B   default: all with results, all with a domain
// deals=3                    ten folds each, by as many seeds
// bands=0                    1: also hold out a quarter of each size's values, neither end among them
// share=1                    of the drawn problems that are not held out, how many are learned from; the grid always is
// with=A,B                   forests learn from these devices' problems, too
// list=0                     1: also print every problem that was held out: regrets of forest and tree, their choices
// max_leaves, max_depth, leaf_penalty, drawn, measured_weight, ...   as in harness/bench/learn/learn_options.hpp

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "harness/bench/evidence/evidence.hpp"
#include "harness/bench/learn/evaluation.hpp"
#include "harness/bench/learn/folds.hpp"
#include "harness/bench/learn/forest.hpp"
#include "harness/bench/learn/imputation.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/learn/learn.hpp"
#include "harness/bench/learn/others.hpp"
#include "harness/bench/learn/ranking.hpp"
#include "harness/bench/learn/tree_for.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/train/train.hpp"

namespace espalier::bench::learn {
namespace {

using Rows = std::vector<std::size_t>;

struct Study {
    std::map<std::string, std::string> settings;
    LearnOptions options;
    int deals = 3;
    bool bands = false;
    double share = 1;
    bool list = false;
    std::vector<std::string> names{};  ///< of the choices of the family that is studied
};

/// Problems that no default sweep has: those that were drawn.
std::vector<char> drawn_rows(const Family& family, const DeviceInfo& device, const Matrix& matrix) {
    std::set<std::string> grid;
    for (const Effort effort : {Effort::quick, Effort::standard, Effort::full})
        for (std::string& key : family.default_problems(device.kind, effort)) grid.insert(std::move(key));
    std::vector<char> drawn;
    for (const std::string& problem : matrix.problems) drawn.push_back(!grid.contains(problem));
    return drawn;
}

/// Logarithms of regrets of four ways to choose; `blind`: as the forests, by the mean over what no tree may ask for.
struct Logs {
    std::vector<double> forest, blind, tree, single;
    std::vector<double> least;  ///< what the blind choice costs if the forests are right
    std::size_t leaves = 0, trees = 0;
};

double log_over_best(const Matrix& matrix, std::size_t problem, std::size_t choice) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < matrix.candidates.size(); ++c)
        if (matrix.measured(problem, c)) best = std::min(best, matrix.log_slowdown(problem, c));
    return std::max(0.0, matrix.log_slowdown(problem, choice) - best);
}

bool can_judge(const Matrix& matrix, std::size_t problem, std::size_t choice) {
    return matrix.state(problem, choice) != CellState::imputed && matrix.any(problem, CellState::measured);
}

void note(const Matrix& matrix, std::size_t problem, std::size_t choice, std::vector<double>& logs) {
    if (can_judge(matrix, problem, choice)) logs.push_back(log_over_best(matrix, problem, choice));
}

std::size_t best_single(const Matrix& matrix, const Rows& rows) {
    const auto cost = [&](std::size_t c) {
        double sum = 0;
        for (const std::size_t p : rows)
            sum += matrix.log_slowdown(p, chosen(matrix, p, std::vector{c, matrix.baseline}));
        return sum;
    };
    const Rows candidates = matrix.all_candidates();
    return *std::ranges::min_element(candidates, {}, cost);
}

/// Values of problems with every combination of what is unknown.
std::vector<double> with_all_unknown(const Matrix& matrix, std::span<const double> values) {
    const std::size_t columns = matrix.columns.size();
    std::vector<double> rows(values.begin(), values.end());
    for (std::size_t c = 0; c < columns; ++c) {
        const Column& column = matrix.columns[c];
        if (column.known || column.absent || column.categories == 0) continue;
        std::vector<double> more;
        for (std::size_t r = 0; r < rows.size(); r += columns)
            for (int category = 0; category < column.categories; ++category) {
                more.insert(more.end(), rows.begin() + static_cast<std::ptrdiff_t>(r),
                            rows.begin() + static_cast<std::ptrdiff_t>(r + columns));
                more[more.size() - columns + c] = category;
            }
        rows = std::move(more);
    }
    return rows;
}

/// The choice that costs least in the mean over all that is unknown of a problem, and that mean. `logs`: as predicted
/// of each, one after the other.
std::pair<std::size_t, double> blind_choice(const Matrix& matrix, std::size_t problem, std::span<const double> logs) {
    const std::size_t width = matrix.candidates.size();
    const auto can_run = [&](std::size_t c) { return matrix.state(problem, c) != CellState::unsupported; };
    std::vector<double> sums(width);
    for (auto each = logs; !each.empty(); each = each.subspan(width)) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < width; ++c)
            if (can_run(c)) least = std::fmin(least, each[c]);
        for (std::size_t c = 0; c < width; ++c) sums[c] += each[c] - least;
    }
    std::size_t best = matrix.baseline;
    for (std::size_t c = 0; c < width; ++c)
        if (can_run(c) && (std::isnan(sums[best]) || sums[c] < sums[best])) best = c;
    return {best, sums[best] / static_cast<double>(logs.size() / width)};
}

/// Learns from a fold's training rows and notes what the choices for its held-out drawn problems cost.
void hold_out(const Study& study, const Matrix& matrix, const Fold& fold, const std::vector<char>& drawn, Logs& logs) {
    Rows judged = fold.held_out;
    std::erase_if(judged, [&](std::size_t p) { return !drawn[p]; });
    if (judged.empty() || fold.training.empty()) return;
    Matrix seen = matrix;
    if (!matrix.log_times.empty()) impute(seen, fold.training);
    const Tree tree = learn(seen, fold.training, study.options);
    logs.leaves += tree.leaves.size(), ++logs.trees;
    std::vector<double> values = seen.values_of(judged);  // as they are, then with all that is unknown of each
    const std::vector<double> all = with_all_unknown(matrix, values);
    values.insert(values.end(), all.begin(), all.end());
    const auto predicted = predict(seen, fold.training, values, study.options);
    const std::size_t width = matrix.candidates.size(), single = best_single(seen, fold.training);
    const auto by_unknown = std::span(predicted).subspan(judged.size() * width);
    const std::size_t ways = by_unknown.size() / judged.size();
    for (std::size_t i = 0; i < judged.size(); ++i) {
        const std::size_t p = judged[i];
        const auto [blind, least_blind] = blind_choice(matrix, p, by_unknown.subspan(i * ways, ways));
        note(matrix, p, blind, logs.blind);
        logs.least.push_back(least_blind);
        std::size_t best = matrix.baseline;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < width; ++c)
            if (matrix.state(p, c) != CellState::unsupported && predicted[i * width + c] < least)
                best = c, least = predicted[i * width + c];
        const std::size_t picked = chosen(matrix, p, tree.leaves[tree.leaf_of(matrix.row(p))].ranking);
        note(matrix, p, best, logs.forest);
        note(matrix, p, picked, logs.tree);
        if (study.list && can_judge(matrix, p, best) && can_judge(matrix, p, picked))
            fmt::print("L {:.3f} {:.3f} {} {} {}\n", std::exp(log_over_best(matrix, p, best)),
                       std::exp(log_over_best(matrix, p, picked)), matrix.problems[p], study.names[best],
                       study.names[picked]);
        note(matrix, p, chosen(matrix, p, std::vector{single, matrix.baseline}), logs.single);
    }
}

/// Keeps all of the grid's rows and a share of the drawn ones.
void thin(Rows& rows, const std::vector<char>& drawn, double share, std::uint64_t seed) {
    Rows some;
    std::ranges::copy_if(rows, std::back_inserter(some), [&](std::size_t p) { return drawn[p]; });
    std::shuffle(some.begin(), some.end(), std::mt19937_64(seed));
    some.resize(static_cast<std::size_t>(share * static_cast<double>(some.size()) + 0.5));
    const std::set<std::size_t> kept(some.begin(), some.end());
    std::erase_if(rows, [&](std::size_t p) { return drawn[p] && !kept.contains(p); });
}

Logs by_folds(const Study& study, const Matrix& matrix, const std::vector<char>& drawn, std::uint64_t seed) {
    Logs logs;
    for (Fold fold : make_folds(matrix, matrix.all(), seed)) {
        if (study.share < 1) thin(fold.training, drawn, study.share, seed);
        hold_out(study, matrix, fold, drawn, logs);
    }
    return logs;
}

/// A quarter of the values of one size at a time, neither end among them.
std::vector<Fold> bands_of(const Matrix& matrix) {
    std::vector<Fold> bands;
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
        const Column& c = matrix.columns[column];
        if (!c.testable() || c.derived || c.categories > 0) continue;
        std::set<double> distinct;
        for (const std::size_t p : matrix.all()) distinct.insert(matrix.value(p, column));
        if (distinct.size() < 6) continue;
        const std::vector<double> values(std::next(distinct.begin()), std::prev(distinct.end()));
        for (std::size_t quarter = 0; quarter < 4; ++quarter) {
            const double low = values[quarter * values.size() / 4];
            const double high = values[(quarter + 1) * values.size() / 4 - 1];
            Fold& band = bands.emplace_back();
            for (const std::size_t p : matrix.all()) {
                const bool inside = matrix.value(p, column) >= low && matrix.value(p, column) <= high;
                (inside ? band.held_out : band.training).push_back(p);
            }
        }
    }
    return bands;
}

struct Figures {
    double geomean = 1, p90 = 1, p99 = 1;
};

Figures figures_of(std::vector<double> logs) {
    if (logs.empty()) return {};
    std::ranges::sort(logs);
    const auto rank = [&](std::size_t percent) {
        return std::exp(logs[(percent * logs.size() + 99) / 100 - 1]);  // the nearest one
    };
    const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
    return {std::exp(mean), rank(90), rank(99)};
}

std::string text(const std::vector<double>& logs) {
    const Figures f = figures_of(logs);
    return fmt::format("{:.3f} / {:.3f} / {:.3f}", f.geomean, f.p90, f.p99);
}

void print(std::string_view what, const Logs& logs) {
    const double leaves = static_cast<double>(logs.leaves) / static_cast<double>(std::max<std::size_t>(1, logs.trees));
    fmt::print("  {:<6} blind {}   at least {}\n", what, text(logs.blind), text(logs.least));
    fmt::print("  {:<6} forest {}   tree {}   single {:.3f}   leaves {:.0f}\n", what, text(logs.forest),
               text(logs.tree), figures_of(logs.single).geomean, leaves);
}

std::string spread_of(std::vector<double> values) {
    std::ranges::sort(values);
    return fmt::format("{:.3f} {:.3f} {:.3f}", values.front(), values[values.size() / 2], values.back());
}

void study_family(Study study, const Family& family, const DeviceInfo& device, const std::vector<CaseRecord>& records) {
    Matrix matrix = read_evidence(family, device, records, {}).matrix;
    const auto drawn = drawn_rows(family, device, matrix);
    const auto count = std::ranges::count(drawn, 1);
    if (study.settings.contains("keys"))
        for (std::size_t p = 0; p < drawn.size(); ++p)
            if (drawn[p]) fmt::print("K {} {} {}\n", device.key, family.name(), matrix.problems[p]);
    if (count < 20) return;
    for (const Choice& choice : matrix.candidates) study.names.push_back(name_of(family, choice));
    if (const auto with = study.settings.find("with"); with != study.settings.end()) {
        std::vector<Matrix> others;
        std::istringstream keys(with->second);
        for (std::string key; std::getline(keys, key, ',');) {
            if (key == device.key) continue;
            const DeviceResults other = load_results(std::filesystem::path(ESPALIER_RESULTS) / key);
            others.push_back(read_evidence(family, other.device, cases_of(other, family.name()), {}).matrix);
        }
        learn_beside(matrix, others);
    }
    matrix.drawn = draw_problems_for(family, device, matrix, study.options.drawn);
    fmt::print("{} {}: {} problems, {} drawn\n", device.key, family.name(), matrix.rows(), count);
    Logs all;
    std::vector<double> geomeans, p90s, p99s;
    for (int deal = 0; deal < study.deals; ++deal) {
        const Logs logs = by_folds(study, matrix, drawn, 100 + static_cast<std::uint64_t>(deal));
        const Figures f = figures_of(logs.tree);
        geomeans.push_back(f.geomean), p90s.push_back(f.p90), p99s.push_back(f.p99);
        all.forest.insert(all.forest.end(), logs.forest.begin(), logs.forest.end());
        all.blind.insert(all.blind.end(), logs.blind.begin(), logs.blind.end());
        all.least.insert(all.least.end(), logs.least.begin(), logs.least.end());
        all.tree.insert(all.tree.end(), logs.tree.begin(), logs.tree.end());
        all.single.insert(all.single.end(), logs.single.begin(), logs.single.end());
        all.leaves += logs.leaves, all.trees += logs.trees;
    }
    if (study.deals > 0) {
        print("folds", all);
        fmt::print("  deals  tree, least median most: mean {}   P90 {}   P99 {}\n", spread_of(geomeans),
                   spread_of(p90s), spread_of(p99s));
    }
    if (study.bands) {
        Logs logs;
        for (const Fold& band : bands_of(matrix)) hold_out(study, matrix, band, drawn, logs);
        print("bands", logs);
    }
    std::fflush(stdout);
}

bool lists(const Study& study, const std::string& setting, std::string_view name) {
    const auto at = study.settings.find(setting);
    if (at == study.settings.end()) return true;
    return ("," + at->second + ",").find("," + std::string(name) + ",") != std::string::npos;
}

Study study_of(std::span<char*> arguments) {
    Study study;
    for (const std::string argument : arguments) {
        const auto equals = argument.find('=');
        study.settings[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
    const auto take = [&]<class T>(const char* name, T& value) {
        if (const auto at = study.settings.find(name); at != study.settings.end())
            value = static_cast<T>(std::stod(at->second));
    };
    LearnOptions& o = study.options;
    take("deals", study.deals), take("bands", study.bands), take("share", study.share), take("list", study.list);
    take("max_leaves", o.max_leaves), take("max_depth", o.max_depth), take("leaf_penalty", o.leaf_penalty),
        take("least_win", o.least_win);
    take("drawn", o.drawn), take("measured_weight", o.measured_weight), take("trees", o.trees);
    take("combinations", o.combinations), take("least_problems", o.least_problems), take("pruning", o.pruning);
    return study;
}

}  // namespace
}  // namespace espalier::bench::learn

int main(int count, char** arguments) {
    using namespace espalier::bench;
    const learn::Study study = learn::study_of(std::span(arguments + 1, static_cast<std::size_t>(count - 1)));
    for (const std::string& key : learn::devices_with_results(ESPALIER_RESULTS)) {
        if (!learn::lists(study, "devices", key)) continue;
        const DeviceResults results = load_results(std::filesystem::path(ESPALIER_RESULTS) / key);
        for (const Family* family : families()) {
            const std::vector<CaseRecord> records = cases_of(results, family->name());
            if (!records.empty() && learn::lists(study, "families", family->name()))
                learn::study_family(study, *family, results.device, records);
        }
    }
}
