#include "harness/bench/train/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/base/files/read_file.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/sha256.hpp"
#include "harness/bench/learn/evaluation.hpp"

namespace espalier::bench::learn {
namespace {

constexpr double kMixWeight = 9;  // times everything else
/// A sum of so many infeasible losses, each as heavy as some predicted problems, still is a whole number of 64 bits.
constexpr double kMostMixWeight = 1 << 19;

/// What a caller knows of a problem.
std::vector<double> asked_features_of(const Family& family, const std::string& problem) {
    const std::vector<double> values = family.feature_values(family.as_asked(problem));
    std::vector<double> known;
    for (std::size_t f = 0; f < values.size(); ++f)
        if (family.features()[f].known && !family.features()[f].derived) known.push_back(values[f]);
    return known;
}

/// A listed problem, and the matrix's rows that are it.
struct Weighed {
    const ListedProblem* listed;
    std::vector<std::size_t> rows;
};

}  // namespace

ProblemMix read_mix(const std::string& file) {
    const std::string text = read_named_file(file);
    return {.file = file, .sha256 = sha256(text), .problems = listed_problems_in(text, file)};
}

std::optional<Weighting> weigh(const Family& family, const std::string& device_key, const ProblemMix& mix,
                               std::size_t predicted_weight, Matrix& matrix, std::vector<std::string>& notices) {
    std::map<std::vector<double>, std::vector<std::size_t>> rows;
    for (std::size_t row = 0; row < matrix.rows(); ++row)
        rows[asked_features_of(family, matrix.problems[row])].push_back(row);
    std::size_t elsewhere = 0, unmeasured = 0;
    std::vector<Weighed> found;
    for (const ListedProblem& listed : mix.problems) {
        if (listed.family != family.name()) continue;
        const bool here = listed.device.empty() || listed.device == device_key;
        const auto at = rows.find(asked_features_of(family, listed.problem));
        if (here && at != rows.end()) found.push_back({&listed, at->second});
        elsewhere += !here, unmeasured += here && at == rows.end();
    }
    const std::string file = printable(mix.file);
    if (elsewhere > 0)
        notices.push_back(fmt::format("passed over in {}: {} asked of other devices; without device= they count", file,
                                      counted(elsewhere, "problem")));
    if (unmeasured > 0)
        notices.push_back(fmt::format("passed over in {}: {} without times here; `espalier sweep --problems` measures",
                                      file, counted(unmeasured, "problem")));
    if (found.empty()) return std::nullopt;
    const bool by_time = std::ranges::all_of(found, [](const Weighed& one) { return one.listed->nanoseconds > 0; });
    const auto weight_of = [&](const Weighed& one) {
        return by_time ? one.listed->of_all_calls() : std::max(one.listed->calls, 1.0);
    };
    double total = 0;
    for (const Weighed& one : found) total += weight_of(one);
    const double all = std::min(kMostMixWeight, kMixWeight * static_cast<double>(matrix.rows() + predicted_weight));
    matrix.weights.assign(matrix.rows(), 1);
    for (const Weighed& one : found)
        for (const std::size_t row : one.rows)
            matrix.weights[row] += std::llround(all * weight_of(one) / total / static_cast<double>(one.rows.size()));
    return Weighting{.file_sha256 = mix.sha256, .by_time = by_time, .problems = found.size()};
}

double weighed_regret(const Matrix& matrix, const Tree& tree) {
    double sum = 0, total = 0;
    for (std::size_t row = 0; row < matrix.rows(); ++row) {
        const auto share = static_cast<double>(matrix.weight(row) - 1);
        sum += share * log_regret(matrix, tree, row), total += share;
    }
    return total > 0 ? std::exp(sum / total) : 1;
}

}  // namespace espalier::bench::learn
