#include "harness/emit/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <vector>

#include "harness/learn/in_family.hpp"
#include "harness/learn/ranking.hpp"
#include "kernels/core/device_traits.hpp"
#include "kernels/core/plain_number.hpp"

namespace espalier::bench::learn {
namespace {

/// Text from outside for a comment. Neither a comment's end, nor a trigraph, nor a line splice, nor a
/// terminal escape can be spelled with what is left.
std::string harmless(std::string_view text) {
    constexpr std::size_t kLongest = 80;
    constexpr std::string_view kAllowed = " .,:;-+_()@#";
    std::string result;
    for (const char c : text.substr(0, kLongest)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        result += plain || kAllowed.find(c) != std::string_view::npos ? c : '_';
    }
    while (!result.empty() && result.back() == ' ') result.pop_back();
    return result.empty() ? "unknown" : result;
}

/// Two decimals are what the intervals support.
std::string decimal(double value) { return fmt::format("{:.2f}", std::min(value, 1e6)); }
std::string literal(double value) { return decimal(value) + "F"; }

/// 1'000'000 for whole numbers, else the shortest spelling that reads back the same.
std::string threshold(double value) {
    if (value != std::floor(value) || std::abs(value) >= 1e18) {
        std::string text = fmt::format("{}", value);
        if (text.find_first_of(".e") == std::string::npos) text += ".0";
        return text;
    }
    std::string digits = fmt::format("{:.0f}", std::abs(value));
    if (digits.size() > 4)
        for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, '\'');
    return (value < 0 ? "-" : "") + digits;
}

std::string condition(const Family& family, const Test& test, bool holds) {
    const std::string name = columns_of(family)[test.column].name;
    if (test.category)
        return fmt::format("{} {} {}", name, holds ? "==" : "!=",
                           family.features()[test.column].categories[static_cast<std::size_t>(test.value)]);
    return fmt::format("{} {} {}", name, holds ? "<=" : ">", plain_number(test.value));
}

/// C++ that computes the column from `problem`.
std::string expression(const Family& family, const Column& column, std::size_t index) {
    const auto features = family.features();
    if (!column.is_interaction()) return std::string(features[index].expression);
    return fmt::format("{}({}, {})", column.interaction.kind == InteractionKind::ratio ? "ratio" : "product",
                       features[column.interaction.first].expression, features[column.interaction.second].expression);
}

bool find_path(const Family& family, const Tree& tree, int node, int leaf, std::vector<std::string>& path) {
    const Node& n = tree.nodes[static_cast<std::size_t>(node)];
    if (n.leaf >= 0) return n.leaf == leaf;
    for (const bool holds : {true, false}) {
        path.push_back(condition(family, n.test, holds));
        if (find_path(family, tree, holds ? n.yes : n.no, leaf, path)) return true;
        path.pop_back();
    }
    return false;
}

std::vector<std::string> path_of(const Family& family, const Tree& tree, std::size_t leaf) {
    std::vector<std::string> path;
    find_path(family, tree, 0, static_cast<int>(leaf), path);
    return path;
}

/// The C++ identifier of a device key: "nvidia-h200" becomes "nvidia_h200".
std::string device_identifier(std::string_view key) {
    std::string identifier(key);
    for (char& c : identifier)
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '_';
    return identifier;
}

class Emitter {
public:
    Emitter(const Family& family, const DeviceInfo& device, const Evidence& evidence, const Tree& tree)
        : family_(family), device_(device), evidence_(evidence), tree_(tree) {}

    std::string source() {
        header();
        line("");
        if (asks_about_pairs()) line("#include \"kernels/core/pair.hpp\"");
        line("#include \"kernels/core/selector.hpp\"");
        line("#include \"kernels/problems/{0}.hpp\"", family_.name());
        line("#include \"registries/{0}/ids.hpp\"", family_.name());
        line("");
        line("namespace espalier::{}::selectors {{", family_.name());
        line("namespace {{");
        line("");
        for (std::size_t i = 0; i < tree_.leaves.size(); ++i) ranking(i);
        leaves();
        select();
        line("}}  // namespace");
        line("");
        factory();
        line("");
        line("}}  // namespace espalier::{}::selectors", family_.name());
        return std::move(text_);
    }

private:
    template <class... T>
    void line(fmt::format_string<T...> format, T&&... values) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
        text_ += '\n';
    }

    const Choice& candidate(std::size_t c) const { return evidence_.matrix.candidates[c]; }
    const VariantInfo& variant(std::size_t c) const { return family_.variants()[candidate(c).variant]; }
    const Configuration& configuration(std::size_t c) const {
        return variant(c).configurations[candidate(c).configuration];
    }

    void header() {
        line("// Generated by `espalier train` from measurements: do not edit. `espalier train --check` compares.");
        line("//");
        line("// Data:     results/{}/{}.jsonl, {} problems x {} choices", device_.key, family_.name(),
             evidence_.matrix.rows(), evidence_.matrix.candidates.size());
        line("// SHA-256:  {}", evidence_.data_sha256);
        const learn::Matrix& matrix = evidence_.matrix;
        if (const std::size_t imputed = matrix.count(CellState::imputed); imputed > 0)
            line("// Guesses:  {} of {} times, and so the margins and regrets below", imputed,
                 imputed + matrix.count(CellState::measured));
        if (matrix.drawn && matrix.drawn->count > 0 && tree_.leaves.size() > 1)
            line("// Domain:   {} problems of it with predicted times helped to place the thresholds",
                 matrix.drawn->count);
        line("// Device:   {}{}", harmless(device_.name), device_.sm ? fmt::format(", sm_{}", device_.sm) : "");
        line("// Driver:   {}", harmless(evidence_.driver));
        line("// Runtime:  {}", harmless(evidence_.runtime));
        line("// Variants, and the SHA-256 of the sources that were measured:");
        std::set<std::size_t> used;
        for (const TreeLeaf& leaf : tree_.leaves)
            for (const std::size_t c : leaf.ranking) used.insert(candidate(c).variant);
        for (const std::size_t v : used) line("//   {}  {}", evidence_.source_ids[v], family_.variants()[v].name);
    }

    bool asks_about_pairs() const {
        return std::ranges::any_of(tree_.nodes, [&](const Node& node) {
            return node.leaf < 0 && evidence_.matrix.columns[node.test.column].is_interaction();
        });
    }

    std::string settings(std::size_t c) const {
        std::string text;
        for (const auto& [name, value] : configuration(c))
            text += fmt::format("{}{{\"{}\", {}}}", text.empty() ? "" : ", ", name, value);
        return text;
    }

    void ranking(std::size_t leaf) {
        line("constexpr Choice<Problem> kRanking{}[] = {{", leaf);
        const TreeLeaf& l = tree_.leaves[leaf];
        for (std::size_t i = 0; i < l.ranking.size(); ++i)
            line("    {{VariantId::{}, {{{}}}, {}}},", variant(l.ranking[i]).name, settings(l.ranking[i]),
                 literal(l.slowdowns[i]));
        line("}};");
        line("");
    }

    void leaves() {
        line("constexpr Leaf<Problem> kLeaves[] = {{");
        for (std::size_t i = 0; i < tree_.leaves.size(); ++i) {
            const TreeLeaf& l = tree_.leaves[i];
            line("    {{");
            line("        .id = {},", i);
            line("        .problems = {},", l.rows.size());
            line("        .margin = {},", literal(l.margin));
            line("        .regret = {},", literal(l.regret));
            line("        .regret_lo = {},", literal(l.regret_interval.lo));
            line("        .regret_hi = {},", literal(l.regret_interval.hi));
            line("        .path = {},", path_literal(i));
            line("        .ranking = kRanking{},", i);
            line("    }},");
        }
        line("}};");
        line("");
    }

    /// One condition per line where they do not fit one.
    std::string path_literal(std::size_t leaf) const {
        const auto path = path_of(family_, tree_, leaf);
        const std::string joined = fmt::format("{}", fmt::join(path, " and "));
        if (joined.size() <= 90) return "\"" + joined + "\"";
        std::string lines;
        for (std::size_t i = 0; i < path.size(); ++i)
            lines += fmt::format("{}\"{}{}\"", i ? "\n                " : "", i ? "and " : "",
                                 path[i] + (i + 1 < path.size() ? " " : ""));
        return lines;
    }

    void select() {
        const bool single = tree_.leaves.size() == 1;
        line("const Leaf<Problem>& select(const Problem&{}, const DeviceInfo&) {{", single ? "" : " problem");
        node(0, 1);
        line("}}");
        line("");
    }

    void node(int index, int depth) {
        const Node& n = tree_.nodes[static_cast<std::size_t>(index)];
        const std::string indent(static_cast<std::size_t>(4 * depth), ' ');
        if (n.leaf >= 0) return leaf(n.leaf, indent);
        line("{}if ({}) {{", indent, expression(n.test));
        node(n.yes, depth + 1);
        line("{}}} else {{", indent);
        node(n.no, depth + 1);
        line("{}}}", indent);
    }

    std::string expression(const Test& test) const {
        const std::string value =
            espalier::bench::learn::expression(family_, evidence_.matrix.columns[test.column], test.column);
        if (!test.category) return fmt::format("{} <= {}", value, threshold(test.value));
        const FeatureInfo& f = family_.features()[test.column];
        return fmt::format("{} == {}::{}", value, f.enum_type, f.categories[static_cast<std::size_t>(test.value)]);
    }

    void leaf(int index, const std::string& indent) {
        const TreeLeaf& l = tree_.leaves[static_cast<std::size_t>(index)];
        for (std::size_t i = 0; i < choices_used(evidence_.matrix, l); ++i)
            line("{}// {}{} {}", indent, i ? "else " : "", variant(l.ranking[i]).name,
                 configuration(l.ranking[i]).text());
        line("{}// {} problems{}, margin {}, regret {} [{}, {}]", indent, l.rows.size(), l.nearby ? " nearby" : "",
             decimal(l.margin), decimal(l.regret), decimal(l.regret_interval.lo), decimal(l.regret_interval.hi));
        line("{}return kLeaves[{}];", indent, index);
    }

    void factory() {
        line("Selector<Problem> {}() {{", device_identifier(device_.key));
        line("    return {{");
        line("        .device_key = \"{}\",", device_.key);
        line("        .device = {},", traits());
        line("        .data_sha256 = \"{}\",", evidence_.data_sha256);
        line("        .select = select,");
        line("        .leaves = kLeaves,");
        line("    }};");
        line("}}");
    }

    std::string traits() const {
        const DeviceTraits t = traits_of(device_);
        if (device_.kind == DeviceKind::cpu)
            return fmt::format("{{.isa = Isa::{}, .microarchitecture = \"{}\", .threads = {}}}", to_string(t.isa),
                               t.microarchitecture, t.threads);
        return fmt::format(
            "{{.kind = DeviceKind::cuda,\n"
            "                   .sm = {},\n"
            "                   .sm_count = {},\n"
            "                   .shared_per_block = {},\n"
            "                   .l2_bytes = {},\n"
            "                   .bytes_per_second = {:.0f}}}",
            t.sm, t.sm_count, t.shared_per_block, t.l2_bytes, t.bytes_per_second);
    }

    const Family& family_;
    const DeviceInfo& device_;
    const Evidence& evidence_;
    const Tree& tree_;
    std::string text_;
};

}  // namespace

bool valid_device_key(std::string_view key) {
    constexpr std::size_t kLongest = 64;
    return !key.empty() && key.size() <= kLongest && key.front() >= 'a' && key.front() <= 'z' &&
           std::all_of(key.begin(), key.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; });
}

std::string path_to_leaf(const Family& family, const Tree& tree, std::size_t leaf) {
    return fmt::format("{}", fmt::join(path_of(family, tree, leaf), " and "));
}

std::string emit(const Family& family, const DeviceInfo& device, const Evidence& evidence, const Tree& tree) {
    if (!valid_device_key(device.key))
        throw BadEvidence(
            "the device key of the results is no key (lower-case letters, digits, '-' and '_', a letter "
            "first); rename the device in device.json and its folder");
    return Emitter(family, device, evidence, tree).source();
}

}  // namespace espalier::bench::learn
