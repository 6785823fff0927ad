#include "kernels/dispatch/forest_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <utility>

#include "kernels/core/selector.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/crc64.hpp"

namespace espalier {
namespace {

constexpr std::string_view kFormat = "ESPFOR01";
constexpr std::size_t kLongestName = 255;
constexpr const char* kCopyAgain = ": copy it anew, or run `espalier train --forests` again";

std::uint64_t checksum(std::string_view bytes) {
    Crc64 crc;
    crc.add(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    return crc.value();
}

class Writer {
public:
    template <std::unsigned_integral T>
    void add(T value) {
        for (std::size_t byte = 0; byte < sizeof(T); ++byte) bytes_ += static_cast<char>(value >> (8 * byte) & 0xFF);
    }
    void count(std::size_t value) { add(static_cast<std::uint32_t>(value)); }
    void name(std::string_view text) {
        add(static_cast<std::uint8_t>(text.size()));
        bytes_ += text;
    }
    std::string sealed() && {
        add(checksum(bytes_));
        return std::move(bytes_);
    }

private:
    std::string bytes_{kFormat};
};

/// Goes through bytes whose checksum is right: that somebody may have made on purpose.
class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    template <std::unsigned_integral T>
    T get() {
        T value = 0;
        const std::string_view bytes = take(sizeof(T));
        for (std::size_t byte = 0; byte < sizeof(T); ++byte)
            value = static_cast<T>(value | static_cast<T>(T{static_cast<unsigned char>(bytes[byte])} << (8 * byte)));
        return value;
    }
    /// A number of entries that take at least so many bytes each.
    std::size_t count(std::size_t bytes_each, std::size_t most) {
        const std::size_t count = get<std::uint32_t>();
        if (count > most || count > rest_.size() / std::max<std::size_t>(bytes_each, 1))
            throw BadData("it has impossible sizes");
        return count;
    }
    std::string name() { return std::string(take(get<std::uint8_t>())); }
    std::string_view take(std::size_t count) {
        if (count > rest_.size()) throw BadData("it has impossible sizes");
        const std::string_view bytes = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return bytes;
    }
    [[nodiscard]] bool at_end() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

std::string_view checked(std::string_view bytes) {
    if (bytes.size() > ForestFile::kMostBytes) throw BadData("it is larger than 2 MiB, as no forest is");
    if (!bytes.starts_with(kFormat.substr(0, 6))) throw BadData(std::string("it is no forest") + kCopyAgain);
    if (!bytes.starts_with(kFormat))
        throw NewerSchema("it was written by another version of espalier: update the library, or train with its own");
    const std::size_t covered = bytes.size() - std::min(bytes.size(), sizeof(std::uint64_t));
    if (covered < kFormat.size() ||
        Reader(bytes.substr(covered)).get<std::uint64_t>() != checksum(bytes.substr(0, covered)))
        throw BadData(std::string("its checksum does not match: it was damaged or cut off") + kCopyAgain);
    return bytes.substr(kFormat.size(), covered - kFormat.size());
}

void read_inputs(Reader& reader, ForestFile& file) {
    ChoiceForest& forest = file.forest;
    for (std::size_t left = reader.count(1, kMostFeatures); left > 0; --left) file.features.push_back(reader.name());
    for (std::size_t left = reader.count(3, ChoiceForest::kMostInputs); left > 0; --left) {
        const auto kind = reader.get<std::uint8_t>(), feature = reader.get<std::uint8_t>();
        file.categories.push_back(reader.name());
        constexpr auto kIs = static_cast<std::uint8_t>(ForestInput::Kind::is);
        if (kind > kIs || feature >= file.features.size() || (kind == kIs) == file.categories.back().empty())
            throw BadData("it asks for what no forest does");
        forest.inputs.push_back({static_cast<ForestInput::Kind>(kind), feature});
    }
    const std::size_t sums = reader.count(forest.inputs.size(), ChoiceForest::kMostInputs);
    for (std::size_t i = 0; i < sums * forest.inputs.size(); ++i)
        forest.factors.push_back(static_cast<std::int8_t>(reader.get<std::uint8_t>()));
}

/// Every walk goes forward and ends in a leaf of its tree.
void check_tree(const ChoiceForest& forest, std::size_t first, std::size_t end, std::size_t leaves) {
    for (std::size_t at = first; at < end; ++at) {
        const ChoiceForest::Node& node = forest.nodes[at];
        const bool is_leaf = node.input == ChoiceForest::Node::kLeaf;
        if (is_leaf ? node.next < leaves
                    : node.input < forest.columns() && std::isfinite(node.threshold) && node.next > 1 &&
                          node.next < end - at)
            continue;
        throw BadData("its node " + std::to_string(at) + " leads nowhere");
    }
    if (first == end) throw BadData("one of its trees is empty");
}

void read_trees(Reader& reader, ChoiceForest& forest) {
    constexpr std::size_t kMostTrees = 256, kNodeBytes = 8;
    std::vector<std::pair<std::size_t, std::size_t>> sizes;  // nodes and leaves
    for (std::size_t left = reader.count(8, kMostTrees); left > 0; --left) {
        const std::size_t nodes = reader.count(kNodeBytes, ForestFile::kMostBytes);
        sizes.emplace_back(nodes, reader.count(forest.choices, ForestFile::kMostBytes));
    }
    if (sizes.empty()) throw BadData("it has no trees");
    std::size_t leaves = 0;
    for (const auto& [nodes_of_tree, leaves_of_tree] : sizes) {
        const std::size_t first = forest.nodes.size();
        forest.trees.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(leaves)});
        for (std::size_t i = 0; i < nodes_of_tree; ++i) {
            const auto threshold = std::bit_cast<float>(reader.get<std::uint32_t>());
            const auto input = reader.get<std::uint16_t>(), next = reader.get<std::uint16_t>();
            forest.nodes.push_back({threshold, input, next});
        }
        check_tree(forest, first, forest.nodes.size(), leaves_of_tree);
        leaves += leaves_of_tree;
    }
    const std::string_view values = reader.take(leaves * forest.choices);
    forest.leaves.assign(values.begin(), values.end());
}

}  // namespace

ForestFile read_forest(std::string_view bytes) {
    Reader reader(checked(bytes));
    ForestFile file;
    file.family = reader.name(), file.device_key = reader.name(), file.data_sha256 = reader.name();
    read_inputs(reader, file);
    for (std::size_t left = reader.count(2, ChoiceForest::kMostChoices); left > 0; --left) {
        std::string variant = reader.name();
        file.choices.push_back({std::move(variant), reader.name()});
    }
    if (file.choices.empty()) throw BadData("it has no choices");
    file.forest.choices = file.choices.size();
    read_trees(reader, file.forest);
    if (!reader.at_end()) throw BadData("there is more behind its end");
    return file;
}

std::string forest_bytes(const ForestFile& file) {
    const ChoiceForest& forest = file.forest;
    Writer writer;
    writer.name(file.family), writer.name(file.device_key), writer.name(file.data_sha256);
    writer.count(file.features.size());
    for (const std::string& feature : file.features) writer.name(feature);
    writer.count(forest.inputs.size());
    for (std::size_t i = 0; i < forest.inputs.size(); ++i) {
        writer.add(static_cast<std::uint8_t>(forest.inputs[i].kind));
        writer.add(forest.inputs[i].feature);
        writer.name(file.categories[i]);
    }
    writer.count(forest.sums());
    for (const std::int8_t factor : forest.factors) writer.add(static_cast<std::uint8_t>(factor));
    writer.count(file.choices.size());
    for (const ForestFile::Choice& choice : file.choices)
        writer.name(choice.variant), writer.name(choice.configuration);
    writer.count(forest.trees.size());
    for (std::size_t t = 0; t < forest.trees.size(); ++t) {
        const bool last = t + 1 == forest.trees.size();
        writer.count((last ? forest.nodes.size() : forest.trees[t + 1].node) - forest.trees[t].node);
        writer.count((last ? forest.leaves.size() / forest.choices : forest.trees[t + 1].leaf) - forest.trees[t].leaf);
    }
    for (const ChoiceForest::Node& node : forest.nodes) {
        writer.add(std::bit_cast<std::uint32_t>(node.threshold));
        writer.add(node.input), writer.add(node.next);
    }
    for (const std::uint8_t value : forest.leaves) writer.add(value);
    return std::move(writer).sealed();
}

}  // namespace espalier
