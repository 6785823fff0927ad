#include "kernels/dispatch/forest_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/core/selector.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/crc64.hpp"

namespace espalier {
namespace {

constexpr std::string_view kFormat = "ESPFOR02";
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
    void append(std::string_view bytes) { bytes_ += bytes; }
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

/// Nodes in pre-order, until every test has both of its branches: what follows a leaf is the second branch of the last
/// test that lacks one. So every walk goes forward and ends in a leaf of its tree, whatever the bytes are. Returns the
/// number of leaves.
std::size_t read_nodes(Reader& reader, ChoiceForest& forest) {
    constexpr std::size_t kMost = 0xFFFF;  // leaves, and nodes to skip: both have 16 bits
    std::vector<std::size_t> lacking;
    std::size_t leaves = 0;
    while (true) {
        const auto input = reader.get<std::uint16_t>();
        if (input != ChoiceForest::Node::kLeaf) {
            const auto threshold = std::bit_cast<float>(reader.get<std::uint32_t>());
            if (input >= forest.columns() || !std::isfinite(threshold))
                throw BadData("its node " + std::to_string(forest.nodes.size()) + " asks for what there is not");
            lacking.push_back(forest.nodes.size());
            forest.nodes.push_back({threshold, input, 0});
            continue;
        }
        forest.nodes.push_back({.next = static_cast<std::uint16_t>(leaves++)});
        if (lacking.empty()) return leaves;
        const std::size_t skipped = forest.nodes.size() - lacking.back();
        if (leaves > kMost || skipped > kMost) throw BadData("one of its trees is too large");
        forest.nodes[lacking.back()].next = static_cast<std::uint16_t>(skipped);
        lacking.pop_back();
    }
}

std::size_t read_trees(Reader& reader, ChoiceForest& forest) {
    constexpr std::size_t kMostTrees = 256;
    std::size_t leaves = 0;
    for (std::size_t left = reader.count(sizeof(ChoiceForest::Node::input), kMostTrees); left > 0; --left) {
        forest.trees.push_back({static_cast<std::uint32_t>(forest.nodes.size()), static_cast<std::uint32_t>(leaves)});
        leaves += read_nodes(reader, forest);
    }
    if (forest.trees.empty()) throw BadData("it has no trees");
    return leaves;
}

/// Of each leaf a bit for every choice, set where its value is another one than in the leaf before, and these values.
/// Neighbours are much alike: two thirds of all values are the same.
void read_leaves(Reader& reader, std::size_t leaves, ChoiceForest& forest) {
    std::vector<std::uint8_t> values(forest.choices);
    for (std::size_t left = leaves; left > 0; --left) {
        const std::string_view differs = reader.take((forest.choices + 7) / 8);
        for (std::size_t c = 0; c < forest.choices; ++c)
            if ((static_cast<unsigned char>(differs[c / 8]) >> c % 8 & 1) != 0) values[c] = reader.get<std::uint8_t>();
        forest.leaves.insert(forest.leaves.end(), values.begin(), values.end());
    }
}

void write_leaves(Writer& writer, const ChoiceForest& forest) {
    const std::vector<std::uint8_t> none(forest.choices);
    const std::uint8_t* before = none.data();
    for (std::size_t first = 0; first < forest.leaves.size(); first += forest.choices) {
        const std::uint8_t* const values = &forest.leaves[first];
        std::string differs((forest.choices + 7) / 8, 0), others;
        for (std::size_t c = 0; c < forest.choices; ++c) {
            if (values[c] == before[c]) continue;
            differs[c / 8] = static_cast<char>(differs[c / 8] | 1 << c % 8);
            others += static_cast<char>(values[c]);
        }
        writer.append(differs), writer.append(others);
        before = values;
    }
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
    read_leaves(reader, read_trees(reader, file.forest), file.forest);
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
    for (const ChoiceForest::Node& node : forest.nodes) {
        writer.add(node.input);
        if (node.input != ChoiceForest::Node::kLeaf) writer.add(std::bit_cast<std::uint32_t>(node.threshold));
    }
    write_leaves(writer, forest);
    return std::move(writer).sealed();
}

}  // namespace espalier
