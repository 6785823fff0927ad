#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace espalier {

/// The CRC-32 of zlib and PNG. For files of kilobytes, in a library that links no zlib.
constexpr std::uint32_t crc32_of(std::string_view bytes) {
    std::uint32_t crc = ~std::uint32_t{0};
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0U);
    }
    return ~crc;
}

static_assert(crc32_of("123456789") == 0xCBF43926U);

/// The CRC-32 as eight lower-case hexadecimal digits.
inline std::string crc32_digits(std::string_view bytes) {
    std::string digits(8, '0');
    std::uint32_t crc = crc32_of(bytes);
    for (std::size_t i = digits.size(); i-- > 0; crc >>= 4) digits[i] = "0123456789abcdef"[crc & 15];
    return digits;
}

}  // namespace espalier
