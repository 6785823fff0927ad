#include "harness/learn/other_devices.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "harness/learn/ranking.hpp"
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

/// Which candidates may be chosen for which rows on another device.
class Feasible {
public:
    Feasible(const Family& family, const DeviceInfo& device, const Matrix& matrix)
        : family_(family), device_(device), matrix_(matrix) {}

    bool operator()(std::size_t row, std::size_t candidate) const {
        const auto [variant, configuration] = matrix_.candidates[candidate];
        return matrix_.has_time(row, candidate) &&
               bool(family_.supports(variant, matrix_.problems[row],
                                     family_.variants()[variant].configurations[configuration], device_));
    }

private:
    const Family& family_;
    const DeviceInfo& device_;
    const Matrix& matrix_;
};

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

void extend(TreeLeaf& leaf, const Matrix& matrix, const Rows& rows, std::span<const Feasible> devices) {
    if (leaf.ranking.size() < 2) return;  // the baseline is the fastest
    const std::size_t head = choices_used(matrix, leaf);
    if (head == leaf.ranking.size()) return;  // and for some rows here, too
    std::vector<std::pair<double, std::size_t>> tail;
    const auto last = leaf.ranking.size() - 1;
    for (std::size_t i = head; i < last; ++i) tail.emplace_back(leaf.slowdowns[i], leaf.ranking[i]);
    for (const Feasible& feasible : devices) {
        const std::size_t best = best_on(feasible, matrix, rows);
        const auto is_best = [&](const auto& entry) { return entry.second == best; };
        const bool ranked = std::ranges::find(leaf.ranking, best) != leaf.ranking.end();
        if (!ranked && std::ranges::none_of(tail, is_best)) tail.emplace_back(slowdown_over(matrix, rows, best), best);
    }
    std::ranges::sort(tail);
    const auto baseline = std::pair(leaf.slowdowns[last], leaf.ranking[last]);
    leaf.ranking.resize(head), leaf.slowdowns.resize(head);
    tail.push_back(baseline);
    for (const auto& [slowdown, candidate] : tail)
        leaf.ranking.push_back(candidate), leaf.slowdowns.push_back(slowdown);
}

/// Rows of every leaf below a node.
void gather(const Tree& tree, int node, Rows& rows) {
    const Node& n = tree.nodes[static_cast<std::size_t>(node)];
    if (n.leaf < 0) {
        gather(tree, n.yes, rows);
        gather(tree, n.no, rows);
    } else {
        const Rows& own = tree.leaves[static_cast<std::size_t>(n.leaf)].rows;
        rows.insert(rows.end(), own.begin(), own.end());
    }
}

/// Visits every leaf with the rows of the lowest node above it, or of itself, that has any.
template <class Visit>
void visit_leaves(Tree& tree, int node, Rows above, const Visit& visit) {
    Rows own;
    gather(tree, node, own);
    if (own.empty()) own = std::move(above);
    const Node n = tree.nodes[static_cast<std::size_t>(node)];
    if (n.leaf >= 0) return visit(tree.leaves[static_cast<std::size_t>(n.leaf)], own);
    visit_leaves(tree, n.yes, own, visit);
    visit_leaves(tree, n.no, own, visit);
}

}  // namespace

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

void serve_other_devices(const Family& family, const DeviceInfo& trained, const Matrix& matrix, Tree& tree) {
    const std::vector<DeviceInfo> devices = devices_like(trained);
    std::vector<Feasible> feasible;
    for (const DeviceInfo& device : devices) feasible.emplace_back(family, device, matrix);
    visit_leaves(tree, 0, {}, [&](TreeLeaf& leaf, const Rows& rows) { extend(leaf, matrix, rows, feasible); });
}

}  // namespace espalier::bench::learn
