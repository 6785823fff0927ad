#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "harness/apps/io/number.hpp"

namespace espalier::bench::io {

/// Remembers what a column's first short cells became: most texts of a table stand in it many times, and looking one up
/// among all that a column has takes longer than reading it from the file.
class CellMemo {
public:
    struct Entry {
        std::uint64_t begin = 0, end = 0;  ///< all of the cell's bytes, some twice
        Number kept = 0;
        std::uint32_t times = 0;  ///< that the cell came since it was remembered
        std::uint8_t size = 0;
        bool known = false;
    };

    static bool suits(std::string_view cell) { return cell.size() <= 2 * sizeof(std::uint64_t); }

    /// Makes room, a power of two.
    void reserve(std::size_t entries) { entries_.resize(entries); }
    [[nodiscard]] bool has_room() const { return !entries_.empty(); }

    /// Lets the first entries come from memory while other columns' cells are looked at.
    void prefetch() const {
        constexpr std::size_t kEntries = 8, kPerLine = 2;
        for (std::size_t i = 0; i < std::min(kEntries, entries_.size()); i += kPerLine)
            __builtin_prefetch(entries_.data() + i);
    }

    /// The entry of a cell that suits, or an empty one for it; null if there is room for neither.
    [[nodiscard]] Entry* find(std::string_view cell) {
        constexpr std::size_t kProbes = 8;
        const Entry wanted = entry_of(cell);
        const std::uint64_t mixed = (wanted.begin ^ (wanted.end * 31) ^ wanted.size) * 0x9E37'79B9'7F4A'7C15;
        for (std::size_t i = 0; i < kProbes && i < entries_.size(); ++i) {
            Entry& entry = entries_[((mixed >> 40) + i) & (entries_.size() - 1)];
            if (!entry.known || (entry.begin == wanted.begin && entry.end == wanted.end && entry.size == wanted.size))
                return &entry;
        }
        return nullptr;
    }
    static void remember(Entry& entry, std::string_view cell, Number kept) {
        entry = entry_of(cell);
        entry.kept = kept;
        entry.known = true;
    }

    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

private:
    template <class T>
    static T load(const char* at) {
        T value;
        std::memcpy(&value, at, sizeof value);
        return value;
    }

    static Entry entry_of(std::string_view cell) {
        const char* const at = cell.data();
        const std::size_t size = cell.size();
        Entry entry;
        entry.size = static_cast<std::uint8_t>(size);
        if (size >= 8) {
            entry.begin = load<std::uint64_t>(at);
            entry.end = load<std::uint64_t>(at + size - 8);
        } else if (size >= 4) {
            entry.begin = load<std::uint32_t>(at);
            entry.end = load<std::uint32_t>(at + size - 4);
        } else if (size > 0) {
            entry.begin = static_cast<unsigned char>(at[0]);
            entry.end = static_cast<std::uint64_t>(static_cast<unsigned char>(at[size / 2])) << 8 |
                        static_cast<unsigned char>(at[size - 1]);
        }
        return entry;
    }

    std::vector<Entry> entries_;
};

}  // namespace espalier::bench::io
