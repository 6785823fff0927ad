#include "harness/bench/tune/choose/pick.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "harness/base/failure.hpp"
#include "harness/bench/learn/distil.hpp"
#include "harness/bench/learn/learn.hpp"
#include "harness/bench/learn/ranking.hpp"

namespace espalier::bench::tune {
namespace {

using learn::CellState;
using learn::Matrix;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const Outcome* outcome_of(const Tuning& tuning, std::size_t problem, const Configuration& configuration) {
    for (const Outcome& one : tuning.outcomes)
        if (one.problem == problem && one.configuration == configuration && one.timed()) return &one;
    return nullptr;
}

/// Configurations that were in the final of a problem.
std::vector<Configuration> finalists_of(const Tuning& tuning) {
    std::vector<Configuration> all;
    for (const Outcome& one : tuning.outcomes)
        if (one.final && std::ranges::find(all, one.configuration) == all.end()) all.push_back(one.configuration);
    std::ranges::sort(all);
    return all;
}

/// Times of problems by candidates, as logarithms; NaN without one.
std::vector<double> logs_of(const Description& description, const Tuning& tuning,
                            const std::vector<Configuration>& candidates) {
    std::vector<double> logs;
    for (std::size_t p = 0; p < description.sizes.size(); ++p)
        for (const Configuration& one : candidates) {
            const Outcome* outcome = outcome_of(tuning, p, one);
            logs.push_back(outcome ? std::log(outcome->time_ns) : kNaN);
        }
    return logs;
}

/// The candidate that is fastest on the average of those with a time for every problem.
std::size_t fastest_everywhere(std::span<const double> logs, std::size_t candidates) {
    std::size_t best = candidates;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < candidates; ++c) {
        double sum = 0;
        for (std::size_t i = c; i < logs.size(); i += candidates) sum += logs[i];
        if (sum < least) least = sum, best = c;  // NaN is not less
    }
    return best;
}

/// Sizes as columns, and of each two of them the product and the ratio, as the library's own trees have them.
std::vector<learn::Column> columns_of(const Description& description) {
    std::vector<learn::Column> columns;
    for (const std::string& name : description.size_names) columns.push_back({.name = name});
    for (std::size_t a = 0; a < description.size_names.size(); ++a)
        for (std::size_t b = a + 1; b < description.size_names.size(); ++b)
            for (const learn::InteractionKind kind : {learn::InteractionKind::product, learn::InteractionKind::ratio})
                columns.push_back({.name = fmt::format("{} {} {}", description.size_names[a],
                                                       kind == learn::InteractionKind::product ? "*" : "/",
                                                       description.size_names[b]),
                                   .interaction = {kind, a, b}});
    return columns;
}

Matrix matrix_of(const Description& description, std::size_t candidates, std::size_t baseline,
                 std::span<const double> logs) {
    Matrix matrix;
    matrix.columns = columns_of(description);
    for (std::size_t c = 0; c < candidates; ++c) matrix.candidates.push_back({0, c});
    matrix.baseline = baseline;
    for (std::size_t p = 0; p < description.sizes.size(); ++p) {
        matrix.problems.push_back(description.problem_key(p));
        for (const learn::Column& column : matrix.columns) {
            const auto size = [&](std::size_t d) { return static_cast<double>(description.sizes[p][d]); };
            const auto& [kind, a, b] = column.interaction;
            matrix.values.push_back(kind == learn::InteractionKind::product ? size(a) * size(b)
                                    : kind == learn::InteractionKind::ratio
                                        ? size(a) / size(b)
                                        : size(matrix.values.size() % matrix.columns.size()));
        }
        for (std::size_t c = 0; c < candidates; ++c)
            matrix.states.push_back(std::isnan(logs[p * candidates + c]) ? CellState::unsupported
                                                                         : CellState::measured);
    }
    matrix.slowdown.resize(matrix.states.size());
    matrix.loss.resize(matrix.states.size());
    matrix.log_times.assign(logs.begin(), logs.end());
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        enter_costs(matrix, p, logs.subspan(p * candidates, candidates),
                    [](std::size_t, double log) { return learn::is_within_noise(log); });
    return matrix;
}

/// The first of a leaf's ranking that has a time for all its problems.
std::size_t pick_of(const Matrix& matrix, const learn::TreeLeaf& leaf) {
    for (const std::size_t c : leaf.ranking)
        if (std::ranges::all_of(leaf.rows, [&](std::size_t row) { return matrix.measured(row, c); })) return c;
    return matrix.baseline;
}

/// Every problem was named by who will pick for such, so that a leaf may rest on one: the doubts that the library's own
/// trees have of small samples are not theirs.
learn::Tree tree_of(const Matrix& matrix) {
    const learn::LearnOptions options{.least_problems = 1};
    const std::vector<std::size_t> rows = matrix.all();
    const learn::Lesson lesson = learn::lesson_of(matrix, rows, {}, {}, options);
    learn::Tree tree = std::move(learn::distil(lesson, options, {&options.pruning, 1}).front());
    for (learn::TreeLeaf& leaf : tree.leaves) leaf.ranking = learn::rank(lesson.matrix, leaf.rows);
    return tree;
}

std::string name_for_c(const std::string& text) {
    std::string name;
    for (const char c : text.substr(0, text.find('<'))) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return name;
}

const char* type_of(const Parameter& parameter) {
    if (parameter.values.front().text()) return "const char*";
    const auto is_whole = [](const Value& v) { return !std::holds_alternative<double>(v.data); };
    return std::ranges::all_of(parameter.values, is_whole) ? "long long" : "double";
}

std::string literal(const Value& value) { return value.text() ? "\"" + *value.text() + "\"" : spelled(value); }

/// A column as C++ spells it, of sizes that are doubles.
std::string column_in_c(const Description& description, std::size_t column) {
    const std::vector<learn::Column> columns = columns_of(description);
    const auto& [kind, a, b] = columns[column].interaction;
    const auto size = [&](std::size_t d) { return "double(" + description.size_names[d] + ")"; };
    if (kind == learn::InteractionKind::none) return size(column);
    return size(a) + (kind == learn::InteractionKind::product ? " * " : " / ") + size(b);
}

/// The test at a node and what is below it, as nested statements.
void write_node(const Description& description, const Pick& pick, std::size_t node, int indent, std::string& out) {
    const TreeNode& here = pick.tree.nodes[node];
    const std::string blanks(static_cast<std::size_t>(4 * indent), ' ');
    if (here.is_leaf()) {
        const Configuration& one = pick.candidates[pick.picks[here.no]];
        std::string values;
        for (std::size_t p = 0; p < one.size(); ++p)
            values += (p == 0 ? "" : ", ") + literal(description.parameters[p].values[one[p]]);
        out += fmt::format("{}return Configuration{{{}}};\n", blanks, values);
        return;
    }
    out += fmt::format("{}if ({} <= {}) {{\n", blanks, column_in_c(description, here.column), here.threshold);
    write_node(description, pick, node + 1, indent + 1, out);
    out += blanks + "}\n";
    write_node(description, pick, here.no, indent, out);
}

}  // namespace

Pick learn_pick(const Description& description, const Tuning& tuning) {
    if (description.size_names.empty())
        throw Failure(ExitCode::bad_data,
                      description.path.string() + ": there are no sizes to pick by: add ProblemSize");
    Pick pick;
    pick.candidates = finalists_of(tuning);
    pick.problems = description.sizes.size();
    const std::size_t count = pick.candidates.size();
    const std::vector<double> logs = logs_of(description, tuning, pick.candidates);
    const std::size_t baseline = fastest_everywhere(logs, count);
    if (baseline == count)
        throw Failure(ExitCode::failed_variants,
                      "no configuration was found right for every problem, so that none can be picked where nobody "
                      "measured: give more --seconds, or loosen the Conditions");
    const Matrix matrix = matrix_of(description, count, baseline, logs);
    pick.tree = tree_of(matrix);
    for (const learn::TreeLeaf& leaf : pick.tree.leaves) pick.picks.push_back(pick_of(matrix, leaf));
    double sum = 0, one = 0;
    for (std::size_t p = 0; p < matrix.rows(); ++p) {
        sum += matrix.log_slowdown(p, pick.picks[pick.tree.leaf_of(matrix.row(p))]);
        one += matrix.log_slowdown(p, baseline);
    }
    pick.regret = std::exp(sum / static_cast<double>(matrix.rows()));
    pick.one_regret = std::exp(one / static_cast<double>(matrix.rows()));
    return pick;
}

std::string pick_header(const Description& description, const Pick& pick, const std::string& device) {
    const std::string name = name_for_c(description.launch.kernel);
    std::string out = fmt::format(
        "#pragma once\n\n"
        "// Written by `espalier tune`: which configuration of {} to launch, by measurements of {} problems on {}.\n"
        "// On these it takes {:.3f} times as long as the best configuration, the best single one {:.3f} times.\n\n"
        "namespace {}_tuned {{\n\nstruct Configuration {{\n",
        name, pick.problems, device, pick.regret, pick.one_regret, name);
    for (const Parameter& parameter : description.parameters)
        out += fmt::format("    {} {};\n", type_of(parameter), parameter.name);
    out += "};\n\nconstexpr Configuration pick(";
    for (std::size_t d = 0; d < description.size_names.size(); ++d)
        out += fmt::format("{}[[maybe_unused]] long long {}", d == 0 ? "" : ", ", description.size_names[d]);
    out += ") {\n";
    write_node(description, pick, 0, 1, out);
    return out + fmt::format("}}\n\n}}  // namespace {}_tuned\n", name);
}

}  // namespace espalier::bench::tune
