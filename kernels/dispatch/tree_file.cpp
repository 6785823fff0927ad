#include "kernels/dispatch/tree_file.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "kernels/core/isa.hpp"
#include "kernels/core/similar_name.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"
#include "kernels/json/crc32.hpp"
#include "kernels/json/names.hpp"

namespace espalier {
namespace {

using nlohmann::json;

constexpr std::string_view kEnd = "\n}\n";
constexpr std::string_view kChecksum = ",\n \"crc32\": \"";
constexpr std::size_t kTail = kChecksum.size() + 8 + 1 + kEnd.size();
constexpr const char* kTrainAgain = ": run `espalier train` again where it came from";

std::string tail_of(std::string_view covered) {
    return std::string(kChecksum) + crc32_digits(covered) + "\"" + std::string(kEnd);
}

/// Every byte before the checksum counts, and what follows is compared literally: none can change unnoticed.
void check_sum(std::string_view text) {
    const std::size_t covered = text.size() < kTail ? 0 : text.size() - kTail;
    if (text.substr(covered) == tail_of(text.substr(0, covered))) return;
    if (text.find(kChecksum) == std::string_view::npos)
        throw BadData(std::string("it has no checksum at its end: it is no tree, was cut off, or is older than those "
                                  "that can be loaded") +
                      kTrainAgain);
    throw BadData("its checksum does not match: it was damaged or edited; copy it anew, or run `espalier train` again");
}

void check_schema(Fields& fields) {
    const std::string schema = fields.text("schema");
    if (schema == "espalier.tree/2" || schema == "espalier.tree/1") return;
    if (schema.starts_with("espalier.tree/"))
        throw NewerSchema(
            "it was written by another version of espalier, whose trees have another form; this one "
            "reads espalier.tree/2: update the library, or train with its own version");
    throw BadData("it is no tree: its schema is not espalier.tree/2");
}

int count(Fields& fields, const char* name) { return static_cast<int>(fields.whole(name, 0, INT_MAX)); }

float figure(Fields& fields, const char* name) {
    constexpr double kMost = 1e30;  // of a float with room to spare
    return static_cast<float>(fields.number(name, 0, kMost));
}

std::size_t bytes(Fields& fields, const char* name) { return static_cast<std::size_t>(fields.whole(name)); }

void read_device(TreeFile& tree, const json& object) {
    Fields fields(object, "device");
    const std::string kind = fields.word("kind");
    if (kind == "cpu") {
        const std::string isa = fields.word("isa");
        const auto known = parse_isa(isa);
        if (!known) fields.refuse("isa", "is none that this version knows");
        tree.microarchitecture = fields.word("microarchitecture", "-_", 64);
        tree.device = {.isa = *known, .threads = count(fields, "threads")};
    } else if (kind == "cuda") {
        tree.device = {.kind = DeviceKind::cuda,
                       .sm = count(fields, "sm"),
                       .sm_count = count(fields, "sm_count"),
                       .shared_per_block = bytes(fields, "shared_per_block"),
                       .l2_bytes = bytes(fields, "l2_bytes"),
                       .bytes_per_second = fields.amount("bytes_per_second")};
    } else {
        fields.refuse("kind", "is neither cpu nor cuda");
    }
    fields.done();
}

std::vector<TreeFile::Choice> read_ranking(const json& list) {
    if (list.empty()) throw BadData("a leaf ranks nothing");
    std::vector<TreeFile::Choice> ranking;
    for (const json& item : list) {
        Fields fields(item, "choice");
        ranking.push_back({.variant = fields.word("variant"),
                           .configuration = fields.word("configuration", "_=;.-", 1024),
                           .slowdown = figure(fields, "slowdown")});
        fields.done();
    }
    return ranking;
}

TreeFile::Node read_leaf(Fields& fields) {
    TreeFile::Node node{.problems = count(fields, "problems"),
                        .margin = figure(fields, "margin"),
                        .regret = figure(fields, "regret"),
                        .regret_lo = figure(fields, "regret_lo"),
                        .regret_hi = figure(fields, "regret_hi")};
    // For the report alone.
    if (fields.has("nearby")) static_cast<void>(fields.flag("nearby"));
    if (fields.has("alike")) static_cast<void>(count(fields, "alike"));
    for (const char* name : {"held_out_regret", "held_out_worst"})  // of espalier.tree/1, as the next
        if (fields.has(name)) static_cast<void>(figure(fields, name));
    if (fields.has("held_out_worst_problem")) static_cast<void>(fields.word("held_out_worst_problem", "_=;.-", 1024));
    node.ranking = read_ranking(fields.array("ranking", TreeLimits::kChoices));
    return node;
}

TreeFile::Node read_split(Fields& fields, std::size_t nodes) {
    TreeFile::Node node{.feature = fields.word("feature", "_ /*")};
    if (node.feature.empty()) fields.refuse("feature", "is empty");
    if (fields.has("categories")) {
        constexpr std::size_t kMost = 64;
        for (const json& category : fields.array("categories", kMost)) {
            if (!category.is_string()) fields.refuse("categories", "holds something else than names");
            node.categories.push_back(category.get<std::string>());
        }
        if (node.categories.empty()) fields.refuse("categories", "is empty");
    } else {
        node.threshold = fields.number("threshold", -1e300, 1e300);
    }
    const auto last = static_cast<std::int64_t>(nodes) - 1;
    node.left = static_cast<std::size_t>(fields.whole("left", 0, last));
    node.right = static_cast<std::size_t>(fields.whole("right", 0, last));
    return node;
}

/// Reads the facts about a tree that people want to know and the library does not.
void read_origin(Fields& fields, TreeFile& tree) {
    constexpr std::size_t kMostVariants = 1024;
    for (const char* name :
         {"problems", "choices", "imputed_times", "guessed_times", "predicted_problems", "alike_problems"})
        if (fields.has(name)) static_cast<void>(fields.whole(name));
    for (const char* name : {"device_name", "driver", "runtime"})
        if (fields.has(name)) static_cast<void>(fields.text(name));
    if (fields.has("pruning")) tree.pruning = fields.number("pruning", 0, 1e6);
    if (fields.has("part_relaxed")) tree.part_relaxed = fields.flag("part_relaxed");
    if (fields.has("from_alike")) tree.from_alike = fields.flag("from_alike");
    if (fields.has("weights")) {
        Fields weights(fields.object("weights", 8), "weights");
        tree.weights_sha256 = weights.word("file_sha256", "", 64);
        static_cast<void>(weights.word("by", "", 16));
        static_cast<void>(weights.whole("problems"));
        weights.done();
    }
    if (!fields.has("sources")) return;
    const json& all = fields.object("sources", kMostVariants);
    Fields sources(all, "sources");
    for (const auto& [variant, id] : all.items()) static_cast<void>(sources.word(variant.c_str(), "", 64));
    sources.done();
}

TreeFile::Node read_node(const json& object, std::size_t place, std::size_t nodes, std::size_t& leaves) {
    const std::string what = "node " + std::to_string(place);
    Fields fields(object, what);
    const auto id = static_cast<std::int64_t>(place);
    static_cast<void>(fields.whole("id", id, id));
    TreeFile::Node node;
    if (fields.has("leaf")) {
        const auto number = static_cast<std::int64_t>(leaves++);
        static_cast<void>(fields.whole("leaf", number, number));
        node = read_leaf(fields);
    } else {
        node = read_split(fields, nodes);
    }
    fields.done();
    return node;
}

/// In pre-order the left branch begins at the next node and the right one where the left one ends, which leaves no room
/// for a cycle, for a node that two lead to, or for one that none does.
void check_shape(const std::vector<TreeFile::Node>& nodes) {
    std::vector<std::size_t> right_branches;  // that begin later
    std::vector<std::size_t> depths(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto refuse = [&](const std::string& why) { throw BadData("node " + std::to_string(i) + ": " + why); };
        if (depths[i] > TreeLimits::kDepth)
            refuse("more than " + std::to_string(TreeLimits::kDepth) + " tests lead to it");
        if (const TreeFile::Node& node = nodes[i]; !node.feature.empty()) {
            if (node.left != i + 1 || node.right <= node.left) refuse("the nodes are not in pre-order");
            depths[node.left] = depths[node.right] = depths[i] + 1;
            right_branches.push_back(node.right);
            continue;
        }
        const std::size_t next = right_branches.empty() ? nodes.size() : right_branches.back();
        if (next != i + 1) refuse("the nodes do not make one tree");
        if (!right_branches.empty()) right_branches.pop_back();
    }
}

}  // namespace

TreeFile read_tree(std::string_view text) {
    if (text.size() > TreeLimits::kBytes)
        throw BadData("it is larger than " + std::to_string(TreeLimits::kBytes >> 20) + " MiB, as no tree is");
    check_sum(text);
    const JsonDocument whole(text, {.bytes = TreeLimits::kBytes, .depth = 6});
    Fields fields(whole.root(), "tree");
    check_schema(fields);
    TreeFile tree{.family = fields.word("family", "_", 64), .device_key = fields.word("device_key", "-_", 64)};
    if (const char* why = wrong_device_key(tree.device_key)) fields.refuse("device_key", why);
    if (const char* why = wrong_family_name(tree.family)) fields.refuse("family", why);
    read_device(tree, fields.object("device", 16));
    tree.data_sha256 = fields.word("data_sha256", "", 64);
    read_origin(fields, tree);
    const json& nodes = fields.array("nodes", TreeLimits::kNodes);
    if (nodes.empty()) fields.refuse("nodes", "is empty");
    std::size_t leaves = 0;
    for (const json& node : nodes) tree.nodes.push_back(read_node(node, tree.nodes.size(), nodes.size(), leaves));
    static_cast<void>(fields.text("crc32", 8));
    fields.done();
    check_shape(tree.nodes);
    return tree;
}

AskedFeatures asked_features(const std::string& feature) {
    for (const auto& [sign, kind] : {std::pair{" / ", Column::Kind::ratio}, {" * ", Column::Kind::product}})
        if (const auto at = feature.find(sign); at != std::string::npos)
            return {feature.substr(0, at), feature.substr(at + 3), kind};
    return {feature, {}};
}

std::uint64_t category_bits(const TreeFile::Node& node, std::span<const std::string_view> categories) {
    std::uint64_t bits = 0;
    for (const std::string& name : node.categories) {
        const auto at = std::ranges::find(categories, name);
        if (at == categories.end()) {
            SimilarName meant(name);
            for (const std::string_view category : categories) meant.offer(category);
            throw BadData(node.feature + " has no category '" + name.substr(0, 60) + "'" + meant.question());
        }
        const std::uint64_t bit = std::uint64_t{1} << (at - categories.begin());
        if (bits & bit) throw BadData("it asks twice for " + node.feature + " " + name);
        bits |= bit;
    }
    return bits;
}

std::optional<Configuration> spelled_configuration(std::string_view text) {
    Configuration configuration;
    if (text == "default") return configuration;
    while (!text.empty()) {
        const auto item = text.substr(0, text.find(';'));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const auto equals = std::min(item.find('='), item.size());
        int value = 0;
        const char* const first = item.data() + std::min(equals + 1, item.size());
        const auto [end, error] = std::from_chars(first, item.data() + item.size(), value);
        if (equals == 0 || error != std::errc{} || end != item.data() + item.size() ||
            configuration.size() == Configuration::kCapacity)
            return std::nullopt;
        for (const Setting& before : configuration)
            if (before.name == item.substr(0, equals)) return std::nullopt;
        configuration.push_back({item.substr(0, equals), value});
    }
    return configuration;
}

std::string seal_tree(std::string text) {
    text.resize(text.size() - kEnd.size());
    return text + tail_of(text);
}

}  // namespace espalier
