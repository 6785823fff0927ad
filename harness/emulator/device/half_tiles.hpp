#pragma once

// Matrix instructions on half-precision and bfloat16 numbers, for the host executor: see the twin of this header in
// device/cuda.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "device/kernel.hpp"
#include "kernels/core/half.hpp"

namespace espalier::device {
namespace host {

/// The operands that a lane brings to a matrix instruction.
struct HalfFragments {
    float (*sum)[4];
    const std::uint32_t (*a)[4];
    std::uint32_t b[2];
};

/// Every lane's four sums, from the fragments of all lanes. The lanes wait meanwhile, so their fragments are
/// reached by address.
template <float (*number_of)(std::uint16_t)>
void resolve_multiply(Lanes& lanes, unsigned) {
    const auto of = [&](unsigned lane) -> const HalfFragments& {
        return *reinterpret_cast<const HalfFragments*>(static_cast<std::uintptr_t>(lanes[lane].value));
    };
    const auto half = [](std::uint32_t word, unsigned i) {
        return number_of(static_cast<std::uint16_t>(word >> (16 * i)));
    };
    float a[16][16], b[8][16];  // b by columns
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < 2; ++i) {
            const unsigned g = lane / 4, k = lane % 4 * 2 + i;
            for (unsigned word = 0; word < 4; ++word)
                a[g + word % 2 * 8][k + word / 2 * 8] = half((*of(lane).a)[word], i);
            for (unsigned word = 0; word < 2; ++word) b[g][k + word * 8] = half(of(lane).b[word], i);
        }
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned c = 0; c < 4; ++c) {
            const auto& row = a[lane / 4 + c / 2 * 8];
            const auto& column = b[lane % 4 * 2 + c % 2];
            float sum = (*of(lane).sum)[c];
            for (unsigned k = 0; k < 16; ++k) sum += row[k] * column[k];
            (*of(lane).sum)[c] = sum;
        }
}

inline constexpr WarpOperation kMultiplyHalves{"mma.m16n8k16", resolve_multiply<float_of_binary16>};
inline constexpr WarpOperation kMultiplyBfloats{"mma.m16n8k16 bf16", resolve_multiply<float_of_bfloat16>};

}  // namespace host

inline std::uint16_t half_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
    const float size = std::fabs(value);
    if (value != value) return 0x7FFF;
    if (size >= 65520.0F) return sign | 0x7C00U;
    int exponent = -14;
    if (size >= 0x1p-14F) exponent = std::ilogb(size);
    // In units of the last place; a carry into the next exponent comes out right.
    const auto units = static_cast<std::uint16_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    return static_cast<std::uint16_t>(sign | (units + ((exponent + 14) << 10)));
}

inline std::uint32_t bfloats_of(float first, float second) {
    const auto bfloat_of = [](float value) -> std::uint32_t {
        if (value != value) return 0x7FFF;
        const auto bits = std::bit_cast<std::uint32_t>(value);
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;  // half way to the even one
    };
    return bfloat_of(first) | bfloat_of(second) << 16;
}

inline void multiply_halves(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                            host::Site site = host::Site::current()) {
    const host::HalfFragments fragments{&sum, &a, {b0, b1}};
    host::warp_collective(host::kMultiplyHalves, 0xffffffffU, reinterpret_cast<std::uintptr_t>(&fragments), 0, site);
}

inline void multiply_bfloats(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                             host::Site site = host::Site::current()) {
    const host::HalfFragments fragments{&sum, &a, {b0, b1}};
    host::warp_collective(host::kMultiplyBfloats, 0xffffffffU, reinterpret_cast<std::uintptr_t>(&fragments), 0, site);
}

inline void load_matrices(std::uint32_t (&words)[4], const void* row) {
    const unsigned lane = threadIdx.x % 32;
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
        const auto address = __shfl_sync(0xffffffffU, reinterpret_cast<std::uintptr_t>(row), 8 * matrix + lane / 4);
        words[matrix] = *reinterpret_cast<const std::uint32_t*>(address + lane % 4 * 4);
    }
}

}  // namespace espalier::device
