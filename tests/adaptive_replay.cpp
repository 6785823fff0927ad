// What an adaptive sweep would have got out of a tenth of the committed measurements: the trees are trained on what it
// asks for and judged on everything that was measured. Prints the table of docs/performance/selectors.md.
//
//   adaptive_replay [SHARE [DEVICE]]   replays on the committed results
//   adaptive_replay --judge RESULTS    judges trees of RESULTS, what an adaptive sweep measured, on the committed ones

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <string_view>

#include "harness/adaptive/adaptive.hpp"
#include "harness/emit/tree_text.hpp"
#include "harness/evidence/evidence.hpp"
#include "harness/learn/evaluation.hpp"
#include "harness/learn/ranking.hpp"
#include "harness/records/results.hpp"
#include "harness/sweep/forecast.hpp"
#include "harness/train/decisions.hpp"
#include "harness/train/train.hpp"

namespace espalier::bench::learn {
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

/// What `budget` measurements tell, of problems drawn at random with all their choices.
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

/// The family's evidence and tree. Nothing is held out: what it costs is judged on other times.
Trained tree_of(const Family& family, const DeviceResults& results, const std::vector<CaseRecord>& records) {
    Trained trained{
        .family = &family,
        .evidence = read_evidence(family, results.device, records, {.allow_partial = true, .allow_mixed = true}),
        .tree = {},
        .evaluation = {},
        .source = {}};
    trained.tree = learn(trained.evidence.matrix, trained.evidence.matrix.all());
    return trained;
}

struct Judgement {
    Regret regret;
    std::size_t unknown = 0;  ///< problems where the choice has no time, which do not count
};

/// What a tree costs on the problems of other results of the same device.
Judgement judge(const Trained& tree, const Trained& on, const DeviceInfo& device) {
    const auto decisions = decisions_of(tree_text(tree, device), on, device);
    if (!decisions) throw BadEvidence(device.key + ": a tree that cannot be read");
    Judgement judgement;
    std::vector<double> logs = decisions->logs;
    judgement.unknown = std::erase_if(logs, [](double log) { return std::isnan(log); });
    judgement.regret = summarise(logs, 1);
    return judgement;
}

/// Seconds that measuring the records took: the same for all of a problem that were measured together.
double seconds_taken(const std::vector<CaseRecord>& records) {
    std::map<std::pair<std::string, std::string>, double> tasks;
    for (const CaseRecord& record : records)
        for (const auto& [name, value] : record.conditions)
            if (name == kProblemSeconds) tasks[{record.problem, record.provenance.session}] = value;
    double sum = 0;
    for (const auto& [task, seconds] : tasks) sum += seconds;
    return sum;
}

void judge_family(const std::string& key, const Family& family, const DeviceResults& live, const DeviceResults& all) {
    const std::vector<CaseRecord> records = cases_of(live, family.name());
    const std::vector<CaseRecord> committed = cases_of(all, family.name());
    if (records.empty() || committed.empty()) return;
    const Trained adaptive = tree_of(family, live, records), full = tree_of(family, all, committed);
    const Judgement chosen = judge(adaptive, full, all.device), own = judge(full, full, all.device);
    const Matrix& known = adaptive.evidence.matrix;
    const auto rows = known.all();
    const auto problems = std::ranges::count_if(rows, [&](std::size_t p) { return known.any(p, CellState::measured); });
    fmt::print("{:<14} {:<16} {:>6} {:>5} {:>9} {:>8.1f}  {:>7.3f} {:>7.3f} {:>7.3f} {:>8}  {:>7.3f}\n", key,
               family.name(), cells(full.evidence.matrix), known.count(CellState::measured), problems,
               seconds_taken(records), chosen.regret.geomean, chosen.regret.p90, chosen.regret.worst, chosen.unknown,
               own.regret.geomean);
}

void judge_results(const std::filesystem::path& folder) {
    fmt::print("{:<14} {:<16} {:>6} {:>5} {:>9} {:>8}  {:>7} {:>7} {:>7} {:>8}  {:>7}\n", "device", "family", "times",
               "used", "problems", "seconds", "geomean", "P90", "worst", "unknown", "full");
    for (const std::string& key : devices_with_results(folder)) {
        const std::filesystem::path committed = std::filesystem::path(ESPALIER_RESULTS) / key;
        if (!std::filesystem::exists(committed / "device.json")) {
            fmt::print(stderr, "{}: no committed results to judge by\n", key);
            continue;
        }
        const DeviceResults live = load_results(folder / key), all = load_results(committed);
        for (const Family* family : families()) judge_family(key, *family, live, all);
    }
}

}  // namespace
}  // namespace espalier::bench::learn

int main(int argc, char** argv) {
    using namespace espalier::bench;
    if (argc == 3 && std::string_view(argv[1]) == "--judge") {
        try {
            learn::judge_results(argv[2]);
        } catch (const std::exception& error) {
            fmt::print(stderr, "adaptive_replay: {}\n", error.what());
            return 1;
        }
        return 0;
    }
    const double share = argc > 1 ? std::atof(argv[1]) : 0.1;
    fmt::print("{:<14} {:<16} {:>6} {:>5} {:>9}  {:>7} {:>7} {:>7}  {:>7}  {:>7}\n", "device", "family", "times",
               "used", "problems", "geomean", "P90", "worst", "random", "full");
    for (const std::string& key : learn::devices_with_results(ESPALIER_RESULTS)) {
        if (argc > 2 && key != argv[2]) continue;
        const DeviceResults results = load_results(std::filesystem::path(ESPALIER_RESULTS) / key);
        for (const Family* family : families()) {
            const std::vector<CaseRecord> records = cases_of(results, family->name());
            if (records.empty()) continue;
            const auto evidence =
                learn::read_evidence(*family, results.device, records, {.allow_partial = true, .allow_mixed = true});
            learn::replay(key, *family, evidence.matrix, share);
        }
    }
}
