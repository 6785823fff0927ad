#pragma once

// Matrix instructions on bytes, for the host executor: see the twin of this header in device/cuda.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/kernel.hpp"

namespace espalier::device {
namespace host {

/// The operands that a lane brings to a matrix instruction.
struct Fragments {
    std::int32_t (*sum)[4];
    const std::uint32_t (*a)[4];
    const std::uint32_t (*b)[2];
};

/// Every lane's four sums, from the fragments of all lanes. The lanes wait meanwhile, so their fragments are
/// reached by address.
template <class ByteOfB>
void resolve_multiply(Lanes& lanes, unsigned) {
    const auto of = [&](unsigned lane) -> const Fragments& {
        return *reinterpret_cast<const Fragments*>(static_cast<std::uintptr_t>(lanes[lane].value));
    };
    std::uint8_t a[16][32];
    ByteOfB b[8][32];  // by columns
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned g = lane / 4, k = lane % 4 * 4;
        for (unsigned word = 0; word < 4; ++word)
            std::memcpy(&a[g + word % 2 * 8][k + word / 2 * 16], &(*of(lane).a)[word], 4);
        for (unsigned word = 0; word < 2; ++word) std::memcpy(&b[g][k + word * 16], &(*of(lane).b)[word], 4);
    }
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned c = 0; c < 4; ++c) {
            const auto& row = a[lane / 4 + c / 2 * 8];
            const auto& column = b[lane % 4 * 2 + c % 2];
            std::int32_t sum = 0;
            for (unsigned k = 0; k < 32; ++k) sum += row[k] * column[k];
            (*of(lane).sum)[c] += sum;
        }
}

template <class ByteOfB>
inline constexpr WarpOperation kMultiply{"mma.m16n8k32", resolve_multiply<ByteOfB>};

template <class ByteOfB>
void multiply(std::int32_t (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], Site site) {
    const Fragments fragments{&sum, &a, &b};
    warp_collective(kMultiply<ByteOfB>, 0xffffffffU, reinterpret_cast<std::uintptr_t>(&fragments), 0, site);
}

}  // namespace host

inline void multiply_u8_s8(std::int32_t (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                           host::Site site = host::Site::current()) {
    host::multiply<std::int8_t>(sum, a, b, site);
}
inline void multiply_u8_u8(std::int32_t (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                           host::Site site = host::Site::current()) {
    host::multiply<std::uint8_t>(sum, a, b, site);
}

inline std::uint32_t pack_saturated(std::int32_t v0, std::int32_t v1, std::int32_t v2, std::int32_t v3) {
    const auto byte = [](std::int32_t v) { return static_cast<std::uint32_t>(std::clamp(v, 0, 255)); };
    return byte(v0) | byte(v1) << 8 | byte(v2) << 16 | byte(v3) << 24;
}

}  // namespace espalier::device
