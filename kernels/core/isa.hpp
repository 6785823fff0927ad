#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/core/device_info.hpp"

namespace espalier {

/// The vector instructions of a CPU that its variants and selectors are told apart by. Those of x86-64 are levels:
/// each includes the ones before it.
enum class Isa : std::uint8_t {
    generic,     ///< x86-64 as it began (SSE2), or a processor that nothing is known of
    avx2,        ///< AVX2 and FMA
    avx512,      ///< F, BW, DQ and VL
    avx512vnni,  ///< and VNNI and VBMI
    neon,        ///< of every aarch64
};

inline constexpr std::array<std::string_view, 5> kIsaNames{"generic", "avx2", "avx512", "avx512vnni", "neon"};

constexpr std::string_view to_string(Isa isa) { return kIsaNames[static_cast<std::size_t>(isa)]; }

/// The name as people write it.
constexpr std::string_view in_words(Isa isa) {
    constexpr std::array<std::string_view, kIsaNames.size()> words{"no AVX2", "AVX2 and FMA", "AVX-512",
                                                                   "AVX-512 with VNNI", "NEON"};
    return words[static_cast<std::size_t>(isa)];
}

constexpr std::optional<Isa> parse_isa(std::string_view name) {
    for (std::size_t i = 0; i < kIsaNames.size(); ++i)
        if (kIsaNames[i] == name) return static_cast<Isa>(i);
    return std::nullopt;
}

/// Whether a CPU of `a` runs everything that is code for `b`.
constexpr bool includes(Isa a, Isa b) {
    if (b == Isa::generic || a == b) return true;
    return a != Isa::neon && b != Isa::neon && a > b;
}

constexpr Isa isa_of(const DeviceInfo& cpu) {
    if (cpu.neon) return Isa::neon;
    if (cpu.avx512_vnni) return Isa::avx512vnni;
    if (cpu.avx512) return Isa::avx512;
    return cpu.avx2 && cpu.fma ? Isa::avx2 : Isa::generic;
}

/// Takes away from a CPU what `most` does not include.
constexpr void narrow(DeviceInfo& cpu, Isa most) {
    cpu.neon = cpu.neon && includes(most, Isa::neon);
    cpu.avx2 = cpu.avx2 && includes(most, Isa::avx2);
    cpu.fma = cpu.fma && includes(most, Isa::avx2);
    cpu.avx512 = cpu.avx512 && includes(most, Isa::avx512);
    cpu.avx512_vnni = cpu.avx512_vnni && includes(most, Isa::avx512vnni);
    cpu.amx_bf16 = cpu.amx_bf16 && includes(most, Isa::avx512vnni);
}

}  // namespace espalier
