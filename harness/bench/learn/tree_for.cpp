#include "harness/bench/learn/tree_for.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "harness/bench/families/domain.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/learn/ranking.hpp"
#include "kernels/core/isa.hpp"

namespace espalier::bench::learn {
namespace {

using Rows = std::vector<std::size_t>;

/// Compute capabilities that differ in what runs on them, with the most shared memory that a block may have there (CUDA
/// C++ Programming Guide, technical specifications per compute capability).
struct Architecture {
    int sm;
    std::size_t shared_per_block_kib;
};
constexpr std::array kArchitectures{Architecture{75, 64},  Architecture{80, 163},  Architecture{89, 99},
                                    Architecture{90, 227}, Architecture{100, 227}, Architecture{120, 99}};

/// Devices that a tree may have to serve because it is the most similar that there is: the same one with fewer
/// instruction sets, or with the compute capability and shared memory of other GPUs. Their other limits are the
/// trained device's.
std::vector<DeviceInfo> devices_like(const DeviceInfo& trained) {
    std::vector<DeviceInfo> devices;
    if (trained.kind == DeviceKind::cpu) {
        for (const Isa isa : {Isa::avx512, Isa::avx2, Isa::generic})
            if (isa != isa_of(trained) && includes(isa_of(trained), isa)) narrow(devices.emplace_back(trained), isa);
        return devices;
    }
    for (const auto& [sm, kib] : kArchitectures) {
        if (sm / 10 == trained.sm / 10) continue;
        DeviceInfo& device = devices.emplace_back(trained);
        device.sm = sm;
        device.shared_per_block_optin = kib << 10;
        device.shared_per_sm = (kib + 1) << 10;
    }
    return devices;
}

/// Whether a candidate may be chosen for a row on another device.
using Feasible = std::function<bool(std::size_t row, std::size_t candidate)>;

/// The candidate that costs least where each row that it cannot serve is the baseline's. The baseline if none is
/// better.
std::size_t best_on(const Feasible& feasible, const Matrix& matrix, const Rows& rows) {
    std::size_t best = matrix.baseline;
    double least = 0;
    for (std::size_t c = 0; c < matrix.candidates.size(); ++c) {
        double gain = 0;
        for (const std::size_t r : rows)
            if (feasible(r, c)) gain += matrix.log_slowdown(r, c) - matrix.log_slowdown(r, matrix.baseline);
        if (gain < least) best = c, least = gain;
    }
    return best;
}

void extend(TreeLeaf& leaf, const Matrix& matrix, std::span<const Feasible> devices) {
    if (leaf.ranking.size() < 2) return;  // the baseline is the fastest
    if (leaf.rows.empty()) return;        // nothing was measured here
    const std::size_t head = choices_used(matrix, leaf);
    if (head == leaf.ranking.size()) return;  // and for some rows here, too
    std::vector<std::pair<double, std::size_t>> tail;
    const auto last = leaf.ranking.size() - 1;
    for (std::size_t i = head; i < last; ++i) tail.emplace_back(leaf.slowdowns[i], leaf.ranking[i]);
    for (const Feasible& feasible : devices) {
        const std::size_t best = best_on(feasible, matrix, leaf.rows);
        const auto is_best = [&](const auto& entry) { return entry.second == best; };
        const bool ranked = std::ranges::find(leaf.ranking, best) != leaf.ranking.end();
        if (!ranked && std::ranges::none_of(tail, is_best))
            tail.emplace_back(slowdown_over(matrix, leaf.rows, best), best);
    }
    std::ranges::sort(tail);
    const auto baseline = std::pair(leaf.slowdowns[last], leaf.ranking[last]);
    leaf.ranking.resize(head), leaf.slowdowns.resize(head);
    tail.push_back(baseline);
    for (const auto& [slowdown, candidate] : tail)
        leaf.ranking.push_back(candidate), leaf.slowdowns.push_back(slowdown);
}

/// Adds to each leaf's ranking, before its baseline, what is best in that leaf among the choices that each other device
/// can run, in the order of the slowdowns that were measured here. What the leaf decides on the trained device
/// stays as it is: that comes first.
void serve_other_devices(const Family& family, const DeviceInfo& trained, const Matrix& matrix, Tree& tree) {
    const std::vector<DeviceInfo> devices = devices_like(trained);
    std::vector<Feasible> feasible;
    for (const DeviceInfo& device : devices)
        feasible.emplace_back([&](std::size_t row, std::size_t c) {
            return matrix.has_time(row, c) && supports(family, device, matrix.problems[row], matrix.candidates[c]);
        });
    for (TreeLeaf& leaf : tree.leaves) extend(leaf, matrix, feasible);
}

/// Adds a problem of a matrix's family, of which optional features that the matrix lacks have their defaults.
void add_problem(const Family& family, const DeviceInfo& device, const Matrix& matrix, std::string key,
                 DrawnProblems& drawn) {
    const auto defaults = family.feature_values("");
    std::vector<double> features = family.feature_values(key);
    for (std::size_t f = 0; f < features.size(); ++f)
        if (matrix.columns[f].absent) features[f] = defaults[f];
    key = family.key_of(features);
    const auto values = asked_values(family, matrix.columns, key);
    drawn.values.insert(drawn.values.end(), values.begin(), values.end());
    for (const Choice& candidate : matrix.candidates)
        drawn.supported.push_back(bool(supports(family, device, key, candidate)));
    ++drawn.count;
}

/// Adds the measured problems once more with other values of what no caller knows, how their data lie: each was
/// measured with one of them, and a leaf has too few to average over that. Of many values each problem takes its next
/// few.
void add_other_data(const Family& family, const DeviceInfo& device, const Matrix& matrix, DrawnProblems& drawn) {
    constexpr std::size_t kMostOthers = 4;
    std::set<std::string> known(matrix.problems.begin(), matrix.problems.end());
    for (std::size_t f = 0; f < matrix.columns.size(); ++f) {
        if (matrix.columns[f].known || matrix.columns[f].categories == 0) continue;
        std::set<double> seen;
        for (std::size_t p = 0; p < matrix.rows(); ++p) seen.insert(matrix.value(p, f));
        const std::vector<double> values(seen.begin(), seen.end());
        const std::size_t others = values.size() - 1;
        for (std::size_t p = 0; p < matrix.rows(); ++p) {
            const auto own = std::ranges::find(values, matrix.value(p, f)) - values.begin();
            std::vector<double> features = family.feature_values(matrix.problems[p]);
            for (std::size_t i = 0; i < std::min(others, kMostOthers); ++i) {
                features[f] = values[(static_cast<std::size_t>(own) + 1 + (p + i) % others) % values.size()];
                std::string key = family.key_of(features);
                if (known.insert(key).second) add_problem(family, device, matrix, std::move(key), drawn);
            }
        }
    }
}

}  // namespace

std::shared_ptr<const DrawnProblems> draw_problems_for(const Family& family, const DeviceInfo& device,
                                                       const Matrix& matrix, std::size_t count) {
    constexpr std::uint64_t kSeed = 1;
    auto drawn = std::make_shared<DrawnProblems>();
    if (matrix.others) {
        std::set<std::string> alike(matrix.others->problems.begin(), matrix.others->problems.end());
        for (const std::string& own : matrix.problems) alike.erase(own);
        for (const std::string& key : alike) add_problem(family, device, matrix, key, *drawn);
        drawn->alike = drawn->count;
    }
    for (std::string key : draw_problems(family, device.kind, kSeed, Stream::sweep, count))
        add_problem(family, device, matrix, std::move(key), *drawn);
    if (count > 0) add_other_data(family, device, matrix, *drawn);
    return drawn;
}

Tree tree_for(const Family& family, const DeviceInfo& device, const Matrix& matrix, const LearnOptions& options) {
    Tree tree = learn(matrix, matrix.all(), options);
    serve_other_devices(family, device, matrix, tree);
    return tree;
}

}  // namespace espalier::bench::learn
