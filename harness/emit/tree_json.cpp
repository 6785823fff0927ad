#include "harness/emit/tree_json.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/learn/regret.hpp"
#include "harness/text/sha256.hpp"
#include "kernels/core/device_traits.hpp"
#include "kernels/dispatch/tree_file.hpp"

namespace espalier::bench::learn {
namespace {

using nlohmann::ordered_json;

class Writer {
public:
    explicit Writer(const Trained& trained) : trained_(trained) { add(0); }

    ordered_json nodes() && { return std::move(nodes_); }

private:
    /// Appends a node and everything below it; returns its number.
    std::size_t add(int index) {
        const Node& node = trained_.tree.nodes[static_cast<std::size_t>(index)];
        const std::size_t id = nodes_.size();
        nodes_.push_back(node.leaf < 0 ? split(node) : leaf(node.leaf));
        nodes_[id]["id"] = id;
        if (node.leaf < 0) {
            const std::size_t left = add(node.yes), right = add(node.no);
            nodes_[id]["left"] = left;
            nodes_[id]["right"] = right;
        }
        return id;
    }

    ordered_json split(const Node& node) const {
        const std::size_t column = node.test.column;
        ordered_json entry{{"id", 0}, {"feature", trained_.evidence.matrix.columns[column].name}};
        if (node.test.category)
            entry["categories"] = {
                trained_.family->features()[column].categories[static_cast<std::size_t>(node.test.value)]};
        else
            entry["threshold"] = node.test.value;
        return entry;
    }

    ordered_json leaf(int index) const {
        const TreeLeaf& leaf = trained_.tree.leaves[static_cast<std::size_t>(index)];
        ordered_json ranking = ordered_json::array();
        for (std::size_t i = 0; i < leaf.ranking.size(); ++i) {
            const Choice& candidate = trained_.evidence.matrix.candidates[leaf.ranking[i]];
            const VariantInfo& variant = trained_.family->variants()[candidate.variant];
            ranking.push_back({{"variant", variant.name},
                               {"configuration", variant.configurations[candidate.configuration].text()},
                               {"slowdown", rounded(leaf.slowdowns[i])}});
        }
        ordered_json entry{{"id", 0},
                           {"leaf", index},
                           {"problems", leaf.rows.size()},
                           {"margin", rounded(leaf.margin)},
                           {"regret", rounded(leaf.regret)},
                           {"regret_lo", rounded(leaf.regret_interval.lo)},
                           {"regret_hi", rounded(leaf.regret_interval.hi)}};
        if (leaf.nearby) entry["nearby"] = true;
        entry.update(held_out(leaf.rows));
        entry["ranking"] = std::move(ranking);
        return entry;
    }

    /// What trees that had not seen them chose for the leaf's problems: how far its region can be trusted.
    ordered_json held_out(const std::vector<std::size_t>& rows) const {
        const std::vector<double>& logs = trained_.evaluation.held_out.logs;
        std::vector<std::size_t> judged;
        if (!logs.empty())
            std::ranges::copy_if(rows, std::back_inserter(judged), [&](auto r) { return !std::isnan(logs[r]); });
        if (judged.empty()) return ordered_json::object();
        const std::size_t worst = *std::ranges::max_element(judged, {}, [&](auto r) { return logs[r]; });
        double sum = 0;
        for (const std::size_t r : judged) sum += logs[r];
        return {{"held_out_regret", rounded(std::exp(sum / static_cast<double>(judged.size())))},
                {"held_out_worst", rounded(std::exp(logs[worst]))},
                {"held_out_worst_problem", trained_.evidence.matrix.problems[worst]}};
    }

    const Trained& trained_;
    ordered_json nodes_ = ordered_json::array();
};

/// What the likeness of devices is judged by, as the generated C++ has it.
ordered_json traits_json(const DeviceInfo& device) {
    const DeviceTraits traits = traits_of(device);
    if (device.kind == DeviceKind::cpu)
        return {{"kind", "cpu"},
                {"isa", to_string(traits.isa)},
                {"microarchitecture", traits.microarchitecture},
                {"threads", traits.threads}};
    return {{"kind", "cuda"},
            {"sm", traits.sm},
            {"sm_count", traits.sm_count},
            {"shared_per_block", traits.shared_per_block},
            {"l2_bytes", traits.l2_bytes},
            {"bytes_per_second", std::llround(traits.bytes_per_second)}};
}

}  // namespace

std::string tree_json(const Trained& trained, const DeviceInfo& device) {
    ordered_json tree{{"schema", "espalier.tree/1"},
                      {"family", trained.family->name()},
                      {"device_key", device.key},
                      {"device", traits_json(device)},
                      {"data_sha256", trained.evidence.data_sha256}};
    if (const std::size_t imputed = trained.evidence.matrix.count(CellState::imputed); imputed > 0)
        tree["guessed_times"] = imputed;
    tree["nodes"] = Writer(trained).nodes();
    return seal_tree(tree.dump(1) + "\n");
}

std::string tree_sha256(std::string_view text) {
    const TreeFile file = read_tree(text);
    HashedItems hash;
    hash.text(file.family).text(file.device_key);
    for (const TreeFile::Node& node : file.nodes) {
        hash.text(node.feature).number(node.threshold);
        hash.number(static_cast<double>(node.left)).number(static_cast<double>(node.right));
        hash.number(static_cast<double>(node.categories.size()));
        for (const std::string& category : node.categories) hash.text(category);
        hash.number(static_cast<double>(node.ranking.size()));
        for (const TreeFile::Choice& choice : node.ranking) hash.text(choice.variant).text(choice.configuration);
    }
    return sha256(hash.bytes);
}

}  // namespace espalier::bench::learn
