#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "kernels/core/device_traits.hpp"
#include "kernels/core/isa.hpp"
#include "kernels/dispatch/tree_file.hpp"

namespace espalier::tree_text {

using nlohmann::ordered_json;

/// {"cpu_avx2", "parallel=1"}, best first.
using Ranking = std::initializer_list<std::pair<std::string, std::string>>;

inline ordered_json leaf(int id, int number, Ranking ranking) {
    ordered_json node{{"id", id},       {"leaf", number},   {"problems", 7},    {"margin", 2.5},
                      {"regret", 1.25}, {"regret_lo", 1.0}, {"regret_hi", 1.5}, {"ranking", ordered_json::array()}};
    for (const auto& [variant, configuration] : ranking)
        node["ranking"].push_back({{"variant", variant}, {"configuration", configuration}, {"slowdown", 1.0}});
    return node;
}

inline ordered_json split(int id, const std::string& feature, double threshold, int left, int right) {
    return {{"id", id}, {"feature", feature}, {"threshold", threshold}, {"left", left}, {"right", right}};
}

/// A tree of a CPU with AVX2 and four threads.
inline ordered_json tree(const std::string& family, const std::string& device, ordered_json nodes) {
    return {{"schema", "espalier.tree/2"},
            {"family", family},
            {"device_key", device},
            {"device", {{"kind", "cpu"}, {"isa", "avx2"}, {"microarchitecture", "zen4"}, {"threads", 4}}},
            {"data_sha256", std::string(64, 'a')},
            {"nodes", std::move(nodes)}};
}

/// The tree's text as `espalier train` writes it.
inline std::string sealed(const ordered_json& tree) { return seal_tree(tree.dump(1) + "\n"); }

/// A tree of one leaf.
inline std::string one_leaf(const std::string& family, const std::string& device, Ranking ranking) {
    return sealed(tree(family, device, ordered_json::array({leaf(0, 0, ranking)})));
}

}  // namespace espalier::tree_text
