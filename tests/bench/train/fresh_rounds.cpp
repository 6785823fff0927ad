// The winner's curse: trees trained on the even rounds of every measurement, judged on the odd ones, in which what won
// by luck does not win again. Prints what docs/performance/selectors.md says of it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/bench/evidence/evidence.hpp"
#include "harness/bench/learn/evaluation.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/train/train.hpp"

namespace espalier::bench::learn {
namespace {

/// The records with every second sample only.
std::vector<CaseRecord> half(std::vector<CaseRecord> records, std::size_t first) {
    for (CaseRecord& record : records) {
        if (record.status != Status::ok || record.samples_ns.size() < 2) continue;
        std::vector<double> kept;
        for (std::size_t i = first; i < record.samples_ns.size(); i += 2) kept.push_back(record.samples_ns[i]);
        record.samples_ns = kept;
        std::sort(kept.begin(), kept.end());
        const std::size_t middle = kept.size() / 2;
        record.time_ns = kept.size() % 2 ? kept[middle] : (kept[middle - 1] + kept[middle]) / 2;
        record.time_lo_ns = kept.front(), record.time_hi_ns = kept.back();
    }
    return records;
}

/// Geometric mean on `times` of what is best for each problem in `seen`.
double virtual_best(const Matrix& seen, const Matrix& times) {
    double sum = 0;
    const auto rows = seen.without_imputed();
    for (const std::size_t p : rows) {
        std::size_t best = seen.baseline;
        for (std::size_t c = 0; c < seen.candidates.size(); ++c)
            if (seen.measured(p, c) &&
                (!seen.measured(p, best) || seen.log_slowdown(p, c) < seen.log_slowdown(p, best)))
                best = c;
        sum += times.log_slowdown(p, best);
    }
    return std::exp(sum / static_cast<double>(rows.size()));
}

Regret judge(const Tree& tree, const Matrix& times) {
    std::vector<double> logs;
    for (const std::size_t p : times.without_imputed()) logs.push_back(log_regret(times, tree, p));
    return summarise(logs, 1);
}

void judge_by_rounds(const std::string& key, const Family& family, const DeviceInfo& device,
                     const std::vector<CaseRecord>& records) {
    const EvidenceOptions options{.allow_partial = true, .allow_mixed = true};
    const Matrix seen = read_evidence(family, device, half(records, 0), options).matrix;
    const Matrix fresh = read_evidence(family, device, half(records, 1), options).matrix;
    const Tree tree = learn(seen, seen.all());
    const Regret on_seen = judge(tree, seen), on_fresh = judge(tree, fresh);
    fmt::print("{:<14} {:<16} {:.3f}  {:.3f} / {:.3f} / {:.3f}  {:.3f} / {:.3f} / {:.3f}\n", key, family.name(),
               virtual_best(seen, fresh), on_seen.geomean, on_seen.p90, on_seen.worst, on_fresh.geomean, on_fresh.p90,
               on_fresh.worst);
}

}  // namespace
}  // namespace espalier::bench::learn

int main() {
    using namespace espalier::bench;
    fmt::print("{:<14} {:<16} {:<5}  {:<21}  {}\n", "device", "family", "best", "tree, rounds it saw", "fresh rounds");
    for (const std::string& key : learn::devices_with_results(ESPALIER_RESULTS)) {
        const DeviceResults results = load_results(std::filesystem::path(ESPALIER_RESULTS) / key);
        for (const Family* family : families()) {
            const std::vector<CaseRecord> records = cases_of(results, family->name());
            if (!records.empty()) learn::judge_by_rounds(key, *family, results.device, records);
        }
    }
}
