#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace espalier {

/// The CRC-64 of xz, for files of gigabytes: eight bytes at a time, by eight tables.
class Crc64 {
public:
    constexpr void add(const std::byte* bytes, std::size_t count) {
        std::size_t i = 0;
        for (; i + 8 <= count; i += 8) {
            std::uint64_t word = crc_;
            for (std::size_t b = 0; b < 8; ++b) word ^= std::to_integer<std::uint64_t>(bytes[i + b]) << (8 * b);
            crc_ = 0;
            for (std::size_t b = 0; b < 8; ++b) crc_ ^= kTables[7 - b][word >> (8 * b) & 0xFF];
        }
        for (; i < count; ++i) crc_ = crc_ >> 8 ^ kTables[0][(crc_ ^ std::to_integer<std::uint64_t>(bytes[i])) & 0xFF];
    }
    [[nodiscard]] constexpr std::uint64_t value() const { return ~crc_; }

private:
    using Tables = std::array<std::array<std::uint64_t, 256>, 8>;

    /// Of table t: what a byte does to the value t bytes later.
    static constexpr Tables tables() {
        Tables all{};
        for (std::uint64_t byte = 0; byte < 256; ++byte) {
            std::uint64_t crc = byte;
            for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xC96C5795D7870F42U : 0U);
            all[0][byte] = crc;
        }
        for (std::size_t t = 1; t < 8; ++t)
            for (std::size_t byte = 0; byte < 256; ++byte)
                all[t][byte] = all[t - 1][byte] >> 8 ^ all[0][all[t - 1][byte] & 0xFF];
        return all;
    }
    static const Tables kTables;

    std::uint64_t crc_ = ~std::uint64_t{0};
};

inline constexpr Crc64::Tables Crc64::kTables = Crc64::tables();

constexpr std::uint64_t crc64_of(std::string_view text) {
    Crc64 crc;
    for (const char c : text) {
        const auto byte = static_cast<std::byte>(c);
        crc.add(&byte, 1);
    }
    return crc.value();
}

static_assert(crc64_of("123456789") == 0x995DC9BBDF1939FAU);

}  // namespace espalier
