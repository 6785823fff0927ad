#include "tests/bench/train/transfer.hpp"

#include <algorithm>
#include <cmath>

#include "harness/bench/emit/tree_text.hpp"
#include "kernels/dispatch/similar_trees.hpp"

namespace espalier::bench::learn {
namespace {

TransferCell cell(std::string tree, const std::vector<double>& logs) {
    TransferCell result{.tree = std::move(tree)};
    double sum = 0;
    for (const double log : logs)
        if (std::isnan(log))
            ++result.unknown;
        else
            sum += log;
    const std::size_t known = logs.size() - result.unknown;
    result.regret = known > 0 ? std::exp(sum / static_cast<double>(known)) : NAN;
    return result;
}

TransferCell baseline_on(const Trained& there) {
    const Matrix& matrix = there.evidence.matrix;
    std::vector<double> logs;
    for (const std::size_t p : matrix.all())
        logs.push_back(matrix.measured(p, matrix.baseline) ? matrix.log_slowdown(p, matrix.baseline) : NAN);
    return cell("baseline", logs);
}

const Trained* find(const TrainedDevice& device, const Family* family) {
    const auto at = std::ranges::find(device.families, family, &Trained::family);
    return at == device.families.end() ? nullptr : &*at;
}

/// The other device with a tree of the family that dispatch ranks first for this one; null if there is none.
const TrainedDevice* most_similar(const TrainedDevice& there, const Family* family,
                                  const std::vector<TrainedDevice>& trained) {
    const TrainedDevice* nearest = nullptr;
    std::int64_t least = 0;
    for (const TrainedDevice& from : trained) {
        if (&from == &there || from.device.kind != there.device.kind || !find(from, family)) continue;
        const std::int64_t apart = dissimilarity(traits_of(there.device), traits_of(from.device));
        if (!nearest || apart < least) nearest = &from, least = apart;
    }
    return nearest;
}

/// Worse the more of it is unknown to be any good.
bool better(const TransferCell& a, const TransferCell& b) {
    if (std::isnan(a.regret) || std::isnan(b.regret)) return std::isnan(b.regret) && !std::isnan(a.regret);
    return a.regret < b.regret;
}

}  // namespace

std::vector<TransferRow> transfer(const std::vector<TrainedDevice>& trained) {
    std::vector<TransferRow> rows;
    for (const TrainedDevice& there : trained)
        for (const Trained& data : there.families) {
            TransferRow row{std::string(data.family->name()), there.device.key, {}};
            row.cells.push_back(cell(there.device.key, decisions_of(data).logs));
            const TrainedDevice* nearest = most_similar(there, data.family, trained);
            for (const TrainedDevice& from : trained) {
                const Trained* tree = find(from, data.family);
                if (&from == &there || !tree || from.device.kind != there.device.kind) continue;
                if (const auto decisions = decisions_of(tree_text(*tree, from.device), data, there.device)) {
                    row.cells.push_back(cell(from.device.key, decisions->logs));
                    row.cells.back().fallback = &from == nearest;
                }
            }
            row.cells.push_back(baseline_on(data));
            std::stable_sort(row.cells.begin() + 1, row.cells.end(), better);
            rows.push_back(std::move(row));
        }
    return rows;
}

}  // namespace espalier::bench::learn
