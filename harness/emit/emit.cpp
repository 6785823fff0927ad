#include "harness/emit/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
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

/// A column's enumerator: rows, rows_per_k, rows_times_k.
std::string identifier(const Family& family, const Column& column, std::size_t index) {
    const auto features = family.features();
    if (!column.is_interaction()) return std::string(features[index].name);
    return fmt::format("{}_{}_{}", features[column.interaction.first].name,
                       column.interaction.kind == InteractionKind::ratio ? "per" : "times",
                       features[column.interaction.second].name);
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
        line("#include \"kernels/core/selector.hpp\"");
        line("#include \"kernels/problems/{0}.hpp\"", family_.name());
        line("#include \"registries/{0}/ids.hpp\"", family_.name());
        line("");
        line("namespace espalier::{}::selectors {{", family_.name());
        line("namespace {{");
        line("");
        line("using namespace tree_nodes;");
        line("");
        columns();
        choices();
        rankings();
        leaves();
        nodes();
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

    std::string settings(std::size_t c) const {
        std::string text;
        for (const auto& [name, value] : configuration(c))
            text += fmt::format("{}{{\"{}\", {}}}", text.empty() ? "" : ", ", name, value);
        return text;
    }

    /// The columns that the tree asks about, in their order, each with its place in the table.
    std::map<std::size_t, std::size_t> asked() const {
        std::map<std::size_t, std::size_t> places;
        for (const Node& node : tree_.nodes)
            if (node.leaf < 0) places.emplace(node.test.column, 0);
        std::size_t place = 0;
        for (auto& [column, at] : places) at = place++;
        return places;
    }

    std::string name_of(std::size_t column) const {
        return identifier(family_, evidence_.matrix.columns[column], column);
    }

    void columns() {
        const auto places = asked();
        if (places.empty()) return;
        line("enum : std::uint16_t {{");
        for (const auto& [column, place] : places) line("    {},", name_of(column));
        line("}};");
        line("");
        const auto read = features_read();
        line("constexpr ReadFeature<Problem> kFeatures[] = {{");
        for (const std::size_t f : read)
            line("    [](const Problem& problem) {{ return static_cast<double>({}); }},",
                 family_.features()[f].expression);
        line("}};");
        line("");
        line("constexpr Column kColumns[] = {{");
        for (const auto& [column, place] : places)
            line("    {{\"{}\", {}}},", columns_of(family_)[column].name, source_of(column, read));
        line("}};");
        line("");
    }

    /// The features that the columns are made of.
    std::vector<std::size_t> features_read() const {
        std::set<std::size_t> read;
        for (const auto& [index, place] : asked()) {
            const Column& column = evidence_.matrix.columns[index];
            read.insert(column.is_interaction() ? column.interaction.first : index);
            if (column.is_interaction()) read.insert(column.interaction.second);
        }
        return {read.begin(), read.end()};
    }

    std::string source_of(std::size_t index, const std::vector<std::size_t>& read) const {
        const auto place = [&](std::size_t feature) { return std::ranges::find(read, feature) - read.begin(); };
        const Column& column = evidence_.matrix.columns[index];
        if (!column.is_interaction()) return fmt::format("{}", place(index));
        return fmt::format("{}, Column::Kind::{}, {}", place(column.interaction.first),
                           column.interaction.kind == InteractionKind::ratio ? "ratio" : "product",
                           place(column.interaction.second));
    }

    /// The choices that leaves rank, in the order in which they appear.
    std::vector<std::size_t> ranked() const {
        std::vector<std::size_t> all;
        for (const TreeLeaf& leaf : tree_.leaves)
            for (const std::size_t c : leaf.ranking)
                if (std::ranges::find(all, c) == all.end()) all.push_back(c);
        return all;
    }

    void choices() {
        line("constexpr Choice<Problem> kChoices[] = {{");
        for (const std::size_t c : ranked()) line("    {{VariantId::{}, {{{}}}}},", variant(c).name, settings(c));
        line("}};");
        line("");
    }

    /// A line per leaf, or more where they do not fit one.
    void rankings() {
        constexpr std::size_t kLongest = 120;
        const auto all = ranked();
        line("constexpr auto at = [](std::size_t choice, float slowdown) {{ return kChoices[choice].at(slowdown); }};");
        line("constexpr Choice<Problem> kRankings[] = {{");
        for (const TreeLeaf& leaf : tree_.leaves) {
            std::string text = "   ";
            for (std::size_t i = 0; i < leaf.ranking.size(); ++i) {
                const auto place = std::ranges::find(all, leaf.ranking[i]) - all.begin();
                const std::string entry = fmt::format(" at({}, {}),", place, literal(leaf.slowdowns[i]));
                if (text.size() + entry.size() > kLongest) {
                    line("{}", text);
                    text = "   ";
                }
                text += entry;
            }
            line("{}", text);
        }
        line("}};");
        line("");
    }

    void leaves() {
        line(
            "constexpr auto ranked = [](std::size_t first, std::size_t count) {{ return "
            "std::span(kRankings).subspan(first, count); }};");
        line("constexpr Leaf<Problem> kLeaves[] = {{");
        std::size_t first = 0;
        for (std::size_t i = 0; i < tree_.leaves.size(); ++i) {
            const TreeLeaf& l = tree_.leaves[i];
            line("    {{{}, {}, {}, {}, {}, {}, ranked({}, {})}},{}", i, l.rows.size(), literal(l.margin),
                 literal(l.regret), literal(l.regret_interval.lo), literal(l.regret_interval.hi), first,
                 l.ranking.size(), l.nearby ? "  // problems nearby" : "");
            first += l.ranking.size();
        }
        line("}};");
        line("");
    }

    void nodes() {
        line("constexpr TreeNode kNodes[] = {{");
        std::size_t place = 0;
        node(0, place);
        line("}};");
        line("");
    }

    /// How many nodes there are from this one down.
    std::size_t size_of(int index) const {
        const Node& n = tree_.nodes[static_cast<std::size_t>(index)];
        return n.leaf >= 0 ? 1 : 1 + size_of(n.yes) + size_of(n.no);
    }

    void node(int index, std::size_t& place) {
        const Node& n = tree_.nodes[static_cast<std::size_t>(index)];
        ++place;
        if (n.leaf >= 0) return line("    leaf({}),", n.leaf);
        const std::size_t no = place + size_of(n.yes);
        const std::string name = name_of(n.test.column);
        if (n.test.category) {
            const FeatureInfo& f = family_.features()[n.test.column];
            line("    is({}, {}::{}, {}),", name, f.enum_type, f.categories[static_cast<std::size_t>(n.test.value)],
                 no);
        } else {
            line("    at_most({}, {}, {}),", name, threshold(n.test.value), no);
        }
        node(n.yes, place);
        node(n.no, place);
    }

    void factory() {
        line("Selector<Problem> {}() {{", device_identifier(device_.key));
        line("    return {{");
        line("        .device_key = \"{}\",", device_.key);
        line("        .device = {},", traits());
        line("        .data_sha256 = \"{}\",", evidence_.data_sha256);
        if (!asked().empty()) {
            line("        .features = kFeatures,");
            line("        .columns = kColumns,");
        }
        line("        .nodes = kNodes,");
        line("        .leaves = kLeaves,");
        if (!asked().empty()) line("        .read = read_features<kFeatures, Problem>,");
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
    std::vector<std::string> path;
    find_path(family, tree, 0, static_cast<int>(leaf), path);
    return fmt::format("{}", fmt::join(path, " and "));
}

std::string emit(const Family& family, const DeviceInfo& device, const Evidence& evidence, const Tree& tree) {
    if (!valid_device_key(device.key))
        throw BadEvidence(
            "the device key of the results is no key (lower-case letters, digits, '-' and '_', a letter "
            "first); rename the device in device.json and its folder");
    return Emitter(family, device, evidence, tree).source();
}

}  // namespace espalier::bench::learn
