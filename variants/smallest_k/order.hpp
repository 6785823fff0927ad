#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

/// The order of `smallest_k` as unsigned integers: floats with their NaNs are no total order, their keys
/// are. Equal keys are ties, which the index decides.
namespace espalier::smallest_k {

/// Of an entry without an element: after everything.
inline constexpr std::uint32_t kEmptyKey = 0xFFFFFFFF;
/// Of every NaN: after +infinity's 0xFF800000.
inline constexpr std::uint32_t kNanKey = 0xFFFFFFFE;

/// key_of(a) < key_of(b) exactly if a comes before b; -0 and +0 are one key.
constexpr std::uint32_t key_of(float value) {
    if (value != value) return kNanKey;
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);  // the sum turns -0 into +0
    // Negative numbers ascend as their bits descend: flip them all. Others go above: flip the sign.
    return bits ^ (bits >> 31 ? 0xFFFFFFFFU : 0x80000000U);
}

/// The inverse; NaN for kNanKey and kEmptyKey.
constexpr float value_of(std::uint32_t key) {
    if (key >= kNanKey) return std::numeric_limits<float>::quiet_NaN();
    return std::bit_cast<float>(key ^ (key >> 31 ? 0x80000000U : 0xFFFFFFFFU));
}

/// Of int32 only the sign is flipped. INT32_MAX has kEmptyKey: what fills a list has that value, too, and the largest
/// index beside it.
constexpr std::uint32_t key_of(std::int32_t value) { return static_cast<std::uint32_t>(value) ^ 0x80000000U; }

/// The value of a key as what was compared: a float or an int32.
template <class Compared>
constexpr Compared value_as(std::uint32_t key) {
    if constexpr (std::is_same_v<Compared, std::int32_t>)
        return static_cast<std::int32_t>(key ^ 0x80000000U);
    else
        return value_of(key);
}

/// Key and index in one integer that orders like the pair: what algorithms that are not stable compare.
constexpr std::uint64_t entry_of(std::uint32_t key, std::uint32_t index) {
    return static_cast<std::uint64_t>(key) << 32 | index;
}
constexpr std::uint32_t key_of_entry(std::uint64_t entry) { return static_cast<std::uint32_t>(entry >> 32); }
constexpr std::int32_t index_of_entry(std::uint64_t entry) { return static_cast<std::int32_t>(entry); }

/// No element: index -1.
inline constexpr std::uint64_t kEmptyEntry = entry_of(kEmptyKey, 0xFFFFFFFF);

/// False only if `value` surely does not come before `worst`, the last value of a list (NaN if the list is
/// not full): a single comparison that sends the NaN cases to the exact test by key.
constexpr bool may_come_before(float value, float worst) { return !(value >= worst); }
/// No list is full of what fills it: an element of INT32_MAX still belongs to one that ends in it.
constexpr bool may_come_before(std::int32_t value, std::int32_t worst) {
    return value < worst || worst == std::numeric_limits<std::int32_t>::max();
}

}  // namespace espalier::smallest_k
