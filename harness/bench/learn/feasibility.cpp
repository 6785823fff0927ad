#include "harness/bench/learn/feasibility.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "harness/bench/learn/in_family.hpp"

namespace espalier::bench::learn {
namespace {

/// Why every choice of a ranking declines a problem; empty if one of them takes it.
std::string declined(const Family& family, const DeviceInfo& device, const Matrix& matrix, const std::string& problem,
                     const std::vector<std::size_t>& ranking) {
    std::string reasons;
    for (const std::size_t c : ranking) {
        const Choice& candidate = matrix.candidates[c];
        const Support support = supports(family, device, problem, candidate);
        if (support) return "";
        reasons += "; " + std::string(family.variants()[candidate.variant].name) + ": " + support.reason;
    }
    return reasons;
}

/// Whether anything of ours computes the problem there. What nothing computes lies beyond the family's
/// documented limits, and the library says so.
bool computable(const Family& family, const DeviceInfo& device, const std::string& problem) {
    for (std::size_t v = 0; v < family.variants().size(); ++v)
        if (family.variants()[v].choosable() && supports_any(family, device, {&problem, 1}, v)) return true;
    return false;
}

}  // namespace

std::vector<std::vector<double>> known_values(const Family& family, DeviceKind kind,
                                              std::span<const std::string> problems) {
    const auto features = family.features();
    std::vector<std::set<double>> pools(features.size());
    const auto take = [&](const std::string& problem) {
        const auto values = family.feature_values(problem);
        for (std::size_t f = 0; f < features.size(); ++f) pools[f].insert(values[f]);
    };
    for (const auto& problem : problems) take(problem);
    for (const auto& problem : family.default_problems(kind, Effort::full)) take(problem);
    for (const auto& edge : family.edge_cases()) take(edge.problem);

    std::vector<std::vector<double>> values(features.size());
    constexpr std::size_t kSize = 5;  // an axis of fewer values is a kind (channels, a flag), not a size
    for (std::size_t f = 0; f < features.size(); ++f) {
        if (features[f].derived) continue;
        values[f].assign(pools[f].begin(), pools[f].end());
        if (features[f].categories.empty() && values[f].size() >= kSize) values[f].push_back(4 * values[f].back());
    }
    return values;
}

std::optional<std::string> find_uncovered_problem(const Family& family, const DeviceInfo& device, const Matrix& matrix,
                                                  const Tree& tree, int draws, std::uint64_t seed) {
    const auto pools = known_values(family, device.kind, matrix.problems);
    std::mt19937_64 random(seed);
    std::vector<double> values(pools.size());
    for (int i = 0; i < draws; ++i) {
        for (std::size_t f = 0; f < pools.size(); ++f)
            values[f] = pools[f].empty() ? 0 : pools[f][random() % pools[f].size()];
        const std::string problem = family.key_of(values);
        if (device.memory_bytes > 0 && family.data_bytes(problem) > device.memory_bytes) continue;
        const TreeLeaf& leaf = tree.leaves[tree.leaf_of(asked_values(family, matrix.columns, problem))];
        const std::string reasons = declined(family, device, matrix, problem, leaf.ranking);
        if (!reasons.empty() && computable(family, device, problem)) return problem + reasons;
    }
    return std::nullopt;
}

}  // namespace espalier::bench::learn
