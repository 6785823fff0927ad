#pragma once

// Matrix instructions on single-precision numbers of 11 significant bits, for the host executor: see the twin of this
// header in device/cuda.

#include <bit>
#include <cstdint>

#include "device/kernel.hpp"

namespace espalier::device {
namespace host {

/// The operands that a lane brings to a matrix instruction.
struct Tf32Fragments {
    float (*sum)[4];
    const std::uint32_t (*a)[4];
    std::uint32_t b[2];
};

/// Every lane's four sums, from the fragments of all lanes. The lanes wait meanwhile, so their fragments are
/// reached by address.
inline void resolve_multiply_tf32(Lanes& lanes, unsigned) {
    const auto of = [&](unsigned lane) -> const Tf32Fragments& {
        return *reinterpret_cast<const Tf32Fragments*>(static_cast<std::uintptr_t>(lanes[lane].value));
    };
    const auto number = [](std::uint32_t bits) { return std::bit_cast<float>(bits & 0xFFFFE000U); };
    float a[16][8], b[8][8];  // b by columns
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned g = lane / 4, t = lane % 4;
        for (unsigned word = 0; word < 4; ++word) a[g + word % 2 * 8][t + word / 2 * 4] = number((*of(lane).a)[word]);
        for (unsigned word = 0; word < 2; ++word) b[g][t + word * 4] = number(of(lane).b[word]);
    }
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned c = 0; c < 4; ++c) {
            const auto& row = a[lane / 4 + c / 2 * 8];
            const auto& column = b[lane % 4 * 2 + c % 2];
            float sum = (*of(lane).sum)[c];
            for (unsigned k = 0; k < 8; ++k) sum += row[k] * column[k];
            (*of(lane).sum)[c] = sum;
        }
}

inline constexpr WarpOperation kMultiplyTf32{"mma.m16n8k8", resolve_multiply_tf32};

}  // namespace host

inline void multiply_tf32(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                          host::Site site = host::Site::current()) {
    const host::Tf32Fragments fragments{&sum, &a, {b0, b1}};
    host::warp_collective(host::kMultiplyTf32, 0xffffffffU, reinterpret_cast<std::uintptr_t>(&fragments), 0, site);
}

}  // namespace espalier::device
