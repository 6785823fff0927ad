#include "harness/emulator/block_memory.hpp"

#include <algorithm>
#include <string_view>

namespace espalier::device::host {

namespace {

/// "shared int[64] Tile" out of GCC's "T& espalier::device::shared() [with T = int [64]; Tag = kernel()::Tile]" or
/// Clang's "T &espalier::device::shared() [T = int[64], Tag = Tile]".
std::string array_name(std::string_view function) {
    const std::string_view type_begin = "T = ", tag_begin = "Tag = ";
    const auto type = function.find(type_begin), tag = function.find(tag_begin);
    if (type == std::string_view::npos || tag == std::string_view::npos) return "shared array";
    auto tag_name = function.substr(tag + tag_begin.size());
    tag_name = tag_name.substr(0, tag_name.rfind(']'));
    if (const auto scope = tag_name.rfind("::"); scope != std::string_view::npos) tag_name.remove_prefix(scope + 2);
    constexpr std::size_t kSeparator = 2;
    const auto first = type + type_begin.size();
    std::string type_name(function.substr(first, tag - first - kSeparator));
    if (const auto blank = type_name.find(" ["); blank != std::string::npos) type_name.erase(blank, 1);
    return "shared " + type_name + (tag_name == "void" ? "" : " " + std::string(tag_name));
}

}  // namespace

BlockMemory::BlockMemory(std::size_t dynamic_bytes, std::uint8_t poison) : poison_(poison) {
    arrays_.push_back({nullptr, "dynamic shared memory", GuardedMemory(dynamic_bytes, 16, poison)});
}

void* BlockMemory::array(const SharedArray& wanted) {
    for (Array& array : arrays_)
        if (array.key == wanted.key) return array.memory.data();
    static_bytes_ += wanted.bytes;
    arrays_.push_back({wanted.key, array_name(wanted.name),
                       GuardedMemory(wanted.bytes, std::max<std::size_t>(wanted.alignment, 8), poison_)});
    return arrays_.back().memory.data();
}

std::optional<BlockMemory::Place> BlockMemory::find(const std::byte* address) const {
    for (const Array& array : arrays_) {
        const std::byte* const data = array.memory.data();
        if (address >= data - GuardedMemory::kBand && address < data + array.memory.size() + GuardedMemory::kBand)
            return Place{array.name, {data, array.memory.size()}};
    }
    return std::nullopt;
}

std::vector<std::span<const std::byte>> BlockMemory::arrays() const {
    std::vector<std::span<const std::byte>> all;
    for (const Array& array : arrays_) all.emplace_back(array.memory.data(), array.memory.size());
    return all;
}

void BlockMemory::poison() {
    for (Array& array : arrays_) array.memory.fill(poison_);
}

std::optional<std::string> BlockMemory::damage() {
    for (Array& array : arrays_)
        if (const auto where = array.memory.damage())
            return array.name + " of " + std::to_string(array.memory.size()) + " bytes was written " + *where;
    return std::nullopt;
}

}  // namespace espalier::device::host
