#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace espalier::device::host {

/// A set of up to 1024 positions that finds its next member in a few instructions.
class ReadySet {
public:
    static constexpr unsigned kCapacity = 1024;
    static constexpr unsigned kNone = kCapacity;

    void insert(unsigned position) { words_[position / 64] |= std::uint64_t{1} << (position % 64); }
    void erase(unsigned position) { words_[position / 64] &= ~(std::uint64_t{1} << (position % 64)); }

    /// The first member at `from` or above, or kNone.
    [[nodiscard]] unsigned next(unsigned from) const {
        if (from >= kCapacity) return kNone;
        std::uint64_t word = words_[from / 64] & (~std::uint64_t{0} << (from % 64));
        for (unsigned i = from / 64;; word = words_[i]) {
            if (word != 0) return i * 64 + static_cast<unsigned>(std::countr_zero(word));
            if (++i == words_.size()) return kNone;
        }
    }

private:
    std::array<std::uint64_t, kCapacity / 64> words_{};
};

}  // namespace espalier::device::host
