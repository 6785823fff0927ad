// What an adaptive sweep would have got out of a tenth of the committed measurements: the trees are trained on what it
// asks for and judged on everything that was measured. Prints the table of docs/performance/selectors.md.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "harness/records/results.hpp"
#include "harness/select/adaptive.hpp"
#include "harness/select/evaluation.hpp"
#include "harness/select/evidence.hpp"
#include "harness/select/ranking.hpp"
#include "harness/select/training.hpp"

namespace espalier::select {
namespace {

double log_or_nothing(const Matrix& grid, std::size_t problem, std::size_t candidate) {
    return grid.measured(problem, candidate) ? grid.log_slowdown(problem, candidate) : NAN;
}

std::size_t cells(const Matrix& grid) {
    std::size_t count = 0;
    for (std::size_t p = 0; p < grid.rows(); ++p)
        for (std::size_t c = 0; c < grid.candidates.size(); ++c) count += grid.measured(p, c);
    return count;
}

/// On every problem of the grid: a choice without a time there counts as the slowest.
Regret judge(const Matrix& grid, const Matrix& trained_on) {
    const Tree tree = learn(trained_on, trained_on.all());
    std::vector<double> logs;
    for (const std::size_t p : grid.all()) logs.push_back(log_regret(grid, tree, p));
    return summarise(logs, 1);
}

Matrix adaptive(const Matrix& grid, std::size_t budget, std::size_t& used, std::size_t& problems) {
    AdaptiveSweep sweep(grid);
    for (;;) {
        const Batch batch = sweep.next();
        if (batch.candidates.empty() || sweep.measurements() + batch.candidates.size() > budget) break;
        std::vector<double> logs;
        for (const std::size_t c : batch.candidates) logs.push_back(log_or_nothing(grid, batch.problem, c));
        sweep.record(batch, logs);
    }
    used = sweep.measurements(), problems = sweep.problems();
    return sweep.known();
}

/// As many measurements of problems drawn at random, with all their choices.
Matrix at_random(const Matrix& grid, std::size_t budget, std::uint64_t seed) {
    AdaptiveSweep sweep(grid);
    std::vector<std::size_t> problems = grid.all();
    std::shuffle(problems.begin(), problems.end(), std::mt19937_64(seed));
    for (const std::size_t p : problems) {
        Batch batch{p, {}};
        std::vector<double> logs;
        for (std::size_t c = 0; c < grid.candidates.size(); ++c)
            if (grid.measured(p, c)) batch.candidates.push_back(c), logs.push_back(grid.log_slowdown(p, c));
        if (sweep.measurements() > 0 && sweep.measurements() + logs.size() > budget) break;
        sweep.record(batch, logs);
    }
    return sweep.known();
}

void replay(const std::string& key, const Family& family, const Matrix& grid, double share) {
    const std::size_t all = cells(grid);
    const auto budget = static_cast<std::size_t>(share * static_cast<double>(all));
    std::size_t used = 0, problems = 0;
    const Matrix known = adaptive(grid, budget, used, problems);
    if (problems == 0) {
        fmt::print("{:<14} {:<16} {:>6} {:>5}  too few\n", key, family.name(), all, budget);
        return;
    }
    const Regret chosen = judge(grid, known), full = judge(grid, grid);
    constexpr std::uint64_t kDraws = 5;
    double random = 0;
    for (std::uint64_t seed = 0; seed < kDraws; ++seed)
        random += std::log(judge(grid, at_random(grid, budget, seed)).geomean) / kDraws;
    fmt::print("{:<14} {:<16} {:>6} {:>5} {:>9}  {:>7.3f} {:>7.3f} {:>7.3f}  {:>7.3f}  {:>7.3f}\n", key, family.name(),
               all, used, problems, chosen.geomean, chosen.p90, chosen.worst, std::exp(random), full.geomean);
}

}  // namespace
}  // namespace espalier::select

int main(int argc, char** argv) {
    using namespace espalier;
    const double share = argc > 1 ? std::atof(argv[1]) : 0.1;
    fmt::print("{:<14} {:<16} {:>6} {:>5} {:>9}  {:>7} {:>7} {:>7}  {:>7}  {:>7}\n", "device", "family", "times",
               "used", "problems", "geomean", "P90", "worst", "random", "full");
    for (const std::string& key : select::devices_with_results(ESPALIER_RESULTS)) {
        const DeviceResults results = load_results(std::filesystem::path(ESPALIER_RESULTS) / key);
        for (const Family* family : families()) {
            const std::vector<CaseRecord> records = cases_of(results, family->name());
            if (records.empty()) continue;
            const auto evidence =
                select::read_evidence(*family, results.device, records, {.allow_partial = true, .allow_mixed = true});
            select::replay(key, *family, evidence.matrix, share);
        }
    }
}
