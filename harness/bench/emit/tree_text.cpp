#include "harness/bench/emit/tree_text.hpp"

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/text/sha256.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/learn/regret.hpp"
#include "kernels/core/device_traits.hpp"
#include "kernels/core/printable.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "kernels/dispatch/tree_path.hpp"
#include "kernels/json/names.hpp"

namespace espalier::bench::learn {
namespace {

using nlohmann::ordered_json;

/// The names of a column's categories; none of a number.
std::span<const std::string_view> categories_of(const Family& family, const TreeNode& test) {
    if (test.categories == 0) return {};
    return family.features()[test.column].categories;
}

class Nodes {
public:
    explicit Nodes(const Trained& trained) : trained_(trained) {}

    [[nodiscard]] ordered_json at(std::size_t id) const {
        const TreeNode& node = trained_.tree.nodes[id];
        return node.is_leaf() ? leaf(id, node.no) : split(id, node);
    }

private:
    [[nodiscard]] ordered_json split(std::size_t id, const TreeNode& node) const {
        ordered_json entry{{"id", id}, {"feature", trained_.evidence.matrix.columns[node.column].name}};
        if (node.categories == 0) {
            entry["threshold"] = node.threshold;
        } else {
            const auto names = categories_of(*trained_.family, node);
            for (std::uint64_t left = node.categories; left != 0; left &= left - 1)
                entry["categories"].push_back(names[static_cast<std::size_t>(std::countr_zero(left))]);
        }
        entry["left"] = id + 1;
        entry["right"] = node.no;
        return entry;
    }

    [[nodiscard]] ordered_json leaf(std::size_t id, std::size_t index) const {
        const TreeLeaf& leaf = trained_.tree.leaves[index];
        ordered_json entry{{"id", id},
                           {"leaf", index},
                           {"problems", leaf.rows.size()},
                           {"margin", rounded(leaf.margin)},
                           {"regret", rounded(leaf.regret)},
                           {"regret_lo", rounded(leaf.regret_interval.lo)},
                           {"regret_hi", rounded(leaf.regret_interval.hi)}};
        if (leaf.alike > 0) entry["alike"] = leaf.alike;
        for (std::size_t i = 0; i < leaf.ranking.size(); ++i) {
            const Choice& candidate = trained_.evidence.matrix.candidates[leaf.ranking[i]];
            const VariantInfo& variant = trained_.family->variants()[candidate.variant];
            entry["ranking"].push_back({{"variant", variant.name},
                                        {"configuration", variant.configurations[candidate.configuration].text()},
                                        {"slowdown", rounded(leaf.slowdowns[i])}});
        }
        return entry;
    }

    const Trained& trained_;
};

/// The traits that the likeness of devices is judged by.
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

/// The variants that leaves rank, with the SHA-256 of the sources that were measured.
ordered_json sources_json(const Trained& trained) {
    std::set<std::size_t> ranked;
    for (const TreeLeaf& leaf : trained.tree.leaves)
        for (const std::size_t c : leaf.ranking) ranked.insert(trained.evidence.matrix.candidates[c].variant);
    ordered_json sources = ordered_json::object();
    for (const std::size_t v : ranked) sources[trained.family->variants()[v].name] = trained.evidence.source_ids[v];
    return sources;
}

ordered_json header(const Trained& trained, const DeviceInfo& device) {
    constexpr std::size_t kLongest = 80;  // of text from outside
    const Matrix& matrix = trained.evidence.matrix;
    ordered_json header{{"schema", "espalier.tree/2"},
                        {"family", trained.family->name()},
                        {"device_key", device.key},
                        {"device_name", printable(device.name, kLongest)},
                        {"device", traits_json(device)},
                        {"driver", printable(trained.evidence.driver, kLongest)},
                        {"runtime", printable(trained.evidence.runtime, kLongest)},
                        {"data_sha256", trained.evidence.data_sha256},
                        {"problems", matrix.rows()},
                        {"choices", matrix.candidates.size()}};
    if (const std::size_t imputed = matrix.count(CellState::imputed); imputed > 0) header["imputed_times"] = imputed;
    if (const auto& drawn = matrix.drawn; drawn && trained.tree.leaves.size() > 1) {
        if (drawn->alike > 0) header["alike_problems"] = drawn->alike;
        if (drawn->count > drawn->alike) header["predicted_problems"] = drawn->count - drawn->alike;
    }
    header["pruning"] = trained.pruning;
    if (!trained.part_relaxed) header["part_relaxed"] = false;
    if (!trained.from_alike) header["from_alike"] = false;
    if (const auto& weighting = trained.weighting)
        header["weights"] = {{"file_sha256", weighting->file_sha256},
                             {"by", weighting->by_time ? "time" : "calls"},
                             {"problems", weighting->problems}};
    header["sources"] = sources_json(trained);
    return header;
}

/// On one line, with blanks as people write them.
std::string on_a_line(const ordered_json& value) {
    if (!value.is_structured()) return value.dump();
    std::string text;
    for (const auto& [name, item] : value.items()) {
        if (!text.empty()) text += ", ";
        if (value.is_object()) text += ordered_json(name).dump() + ": ";
        text += on_a_line(item);
    }
    return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace

std::string tree_text(const Trained& trained, const DeviceInfo& device) {
    if (!valid_device_key(device.key))
        throw BadEvidence(
            "the device key of the results is no key (lower-case letters, digits, '-' and '_', a letter "
            "first); rename the device in device.json and its folder");
    std::string text = "{\n";
    const ordered_json head = header(trained, device);
    for (const auto& [name, value] : head.items()) text += " \"" + name + "\": " + on_a_line(value) + ",\n";
    text += " \"nodes\": [\n";
    const Nodes nodes(trained);
    for (std::size_t id = 0; id < trained.tree.nodes.size(); ++id)
        text += (id == 0 ? "  " : ",\n  ") + on_a_line(nodes.at(id));
    return seal_tree(text + "\n ]\n}\n");
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

std::string path_to_leaf(const Family& family, const Tree& tree, std::size_t leaf) {
    const std::vector<Column> columns = columns_of(family);
    return path_to(std::span<const TreeNode>(tree.nodes), leaf, [&](const TreeNode& node, bool holds) {
        return condition_text(columns[node.column].name, categories_of(family, node), node, holds);
    });
}

}  // namespace espalier::bench::learn
