#include "kernels/tables/tree_tables.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "kernels/core/isa.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::tables {
namespace {

/// The C++ identifier of a device key: "nvidia-h200" becomes "nvidia_h200".
std::string identifier(std::string key) {
    std::ranges::replace(key, '-', '_');
    return key;
}

/// The shortest spelling that reads back the same.
template <class Number>
std::string spelled(Number value) {
    char digits[64];
    const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
    return {digits, end};
}

std::string literal(float value) {
    std::string text = spelled(value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + "F";
}

std::string joined(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text.append(text.empty() ? "" : ", ").append(item);
    return text;
}

/// The place of an item in a list, which gets it if it is new.
std::size_t place_in(std::vector<std::string>& list, const std::string& item) {
    const auto at = std::ranges::find(list, item);
    const auto place = static_cast<std::size_t>(at - list.begin());
    if (at == list.end()) list.push_back(item);
    return place;
}

/// The tables of one tree: a namespace that ends in a Selector called `tree`.
class Tables {
public:
    Tables(const FamilySource& family, const TreeFile& tree) : family_(family), tree_(tree) {
        for (const TreeFile::Node& node : tree.nodes)
            if (node.feature.empty())
                add_leaf(node);
            else
                add_test(node);
    }

    [[nodiscard]] std::string text() const {
        const bool asks = !columns_.empty();
        std::string text = "namespace " + identifier(tree_.device_key) + " {\n";
        if (asks) text += table("ReadFeature<Problem>", "features", readers_) + table("Column", "columns", columns_);
        text += table("Choice<Problem>", "choices", choices_) + table("Choice<Problem>", "rankings", rankings_) +
                table("Leaf<Problem>", "leaves", leaves_) + table("TreeNode", "nodes", nodes_);
        text += "constexpr Selector<Problem> tree{.device_key = \"" + tree_.device_key + "\", .device = " + traits() +
                ", .data_sha256 = \"" + tree_.data_sha256 + "\", ";
        if (asks) text += ".features = features, .columns = columns, ";
        text += ".nodes = nodes, .leaves = leaves";
        if (asks) text += ", .read = read_features<features, Problem>";
        return text + "};\n}  // namespace " + identifier(tree_.device_key) + "\n";
    }

private:
    static std::string table(const char* type, const char* name, const std::vector<std::string>& items) {
        std::string text = "constexpr " + std::string(type) + " " + name + "[] = {\n";
        for (const std::string& item : items) text += "    " + item + ",\n";
        return text + "};\n";
    }

    void add_test(const TreeFile::Node& node) {
        const std::string where = std::to_string(column_of(node.feature)) + ", " + std::to_string(node.right);
        nodes_.push_back(node.categories.empty()
                             ? "{" + where + ", " + spelled(node.threshold) + "}"
                             : "{" + where + ", 0, " +
                                   std::to_string(category_bits(node, known(node.feature).categories)) + "U}");
    }

    void add_leaf(const TreeFile::Node& node) {
        nodes_.push_back("TreeNode::leaf(" + std::to_string(leaves_.size()) + ")");
        leaves_.push_back("{" +
                          joined({std::to_string(leaves_.size()), std::to_string(node.problems), literal(node.margin),
                                  literal(node.regret), literal(node.regret_lo), literal(node.regret_hi),
                                  "{rankings + " + std::to_string(rankings_.size()) + ", " +
                                      std::to_string(node.ranking.size()) + "}"}) +
                          "}");
        for (const TreeFile::Choice& choice : node.ranking) {
            const std::size_t place =
                place_in(choices_, "{VariantId::" + choice.variant + ", {" + settings(choice.configuration) + "}}");
            rankings_.push_back("choices[" + std::to_string(place) + "].at(" + literal(choice.slowdown) + ")");
        }
    }

    static std::string settings(const std::string& text) {
        const auto configuration = spelled_configuration(text);
        if (!configuration) throw BadData("'" + text + "' is no configuration");
        std::vector<std::string> items;
        for (const auto& [name, value] : *configuration)
            items.push_back("{\"" + std::string(name) + "\", " + std::to_string(value) + "}");
        return joined(items);
    }

    [[nodiscard]] const FamilySource::Feature& known(std::string_view name) const {
        const auto at = std::ranges::find(family_.features, name, &FamilySource::Feature::name);
        if (at != family_.features.end()) return *at;
        throw BadData("it asks for '" + std::string(name) + "', which is no feature of " + std::string(family_.name));
    }

    std::size_t reader_of(std::string_view name) {
        const std::string cast = "static_cast<double>(" + std::string(known(name).expression) + ")";
        return place_in(readers_, "[](const Problem& problem) { return " + cast + "; }");
    }

    std::size_t column_of(const std::string& name) {
        const AskedFeatures asked = asked_features(name);
        std::string column = "{\"" + name + "\", " + std::to_string(reader_of(asked.first));
        if (asked.kind != Column::Kind::feature)
            column += std::string(", Column::Kind::") + (asked.kind == Column::Kind::ratio ? "ratio" : "product") +
                      ", " + std::to_string(reader_of(asked.second));
        return place_in(columns_, column + "}");
    }

    [[nodiscard]] std::string traits() const {
        const DeviceTraits& t = tree_.device;
        if (t.kind == DeviceKind::cpu)
            return "{.isa = Isa::" + std::string(to_string(t.isa)) + ", .microarchitecture = \"" +
                   tree_.microarchitecture + "\", .threads = " + std::to_string(t.threads) + "}";
        return "{.kind = DeviceKind::cuda, .sm = " + std::to_string(t.sm) +
               ", .sm_count = " + std::to_string(t.sm_count) +
               ", .shared_per_block = " + std::to_string(t.shared_per_block) +
               ", .l2_bytes = " + std::to_string(t.l2_bytes) + ", .bytes_per_second = " + spelled(t.bytes_per_second) +
               "}";
    }

    const FamilySource& family_;
    const TreeFile& tree_;
    std::vector<std::string> readers_, columns_, choices_, rankings_, leaves_, nodes_;
};

}  // namespace

std::string tree_tables(const FamilySource& family, std::span<const TreeFile> trees) {
    const std::string name(family.name);
    std::string text = "// Made by the build of kernels/selectors/" + name + "/*.tree.\n\n#include <array>\n\n" +
                       "#include \"kernels/core/selector.hpp\"\n#include \"" + family.problem + "\"\n" +
                       "#include \"registries/" + name + "/ids.hpp\"\n#include \"registries/" + name +
                       "/selectors.hpp\"\n\nnamespace espalier::" + name + " {\nnamespace {\n\n";
    std::vector<std::string> all;
    for (const TreeFile& tree : trees) {
        text += Tables(family, tree).text() + "\n";
        all.push_back(identifier(tree.device_key) + "::tree");
    }
    return text + "}  // namespace\n\nstd::span<const Selector<Problem>> selectors_in_this_program() {\n" +
           "    static constexpr std::array<Selector<Problem>, " + std::to_string(trees.size()) + "> all{" +
           joined(all) + "};\n    return all;\n}\n\n}  // namespace espalier::" + name + "\n";
}

}  // namespace espalier::tables
