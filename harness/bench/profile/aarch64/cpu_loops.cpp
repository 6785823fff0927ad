#include "harness/bench/profile/cpu_loops.hpp"

#include <arm_neon.h>
#include <sys/auxv.h>

#include "harness/bench/profile/portable_loops.hpp"

namespace espalier::bench {
namespace {

void read_neon(const std::byte* from, std::size_t bytes) {
    uint8x16_t sums[8] = {};
    for (std::size_t i = 0; i + 128 <= bytes; i += 128)
        for (std::size_t k = 0; k < 8; ++k)
            sums[k] = veorq_u8(sums[k], vld1q_u8(reinterpret_cast<const std::uint8_t*>(from + i + 16 * k)));
    keep(sums);
}

// Products of bytes summed in fours: an extension of the first processors, a part of every later one.
__attribute__((target("arch=armv8.2-a+dotprod"))) double dot_products() {
    int32x4_t chains[kChains] = {};
    const int8x16_t a = vdupq_n_s8(3), b = vdupq_n_s8(2);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = vdotq_s32(chain, a, b);
    keep(chains);
    return 2.0 * 16 * kChains * kSteps;
}

// Products of 16-bit values, the widest that every processor of the architecture has.
double long_products() {
    int32x4_t chains[kChains] = {};
    const int16x8_t a = vdupq_n_s16(3), b = vdupq_n_s16(2);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = vmlal_high_s16(vmlal_s16(chain, vget_low_s16(a), vget_low_s16(b)), a, b);
    keep(chains);
    return 2.0 * 8 * kChains * kSteps;
}

}  // namespace

CpuLoops cpu_loops(const DeviceInfo&) {
    const bool has_dot_products = getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
    return {read_neon, multiply_add_portable, has_dot_products ? dot_products : long_products};
}

}  // namespace espalier::bench
