#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"

/// A family whose variants fail in every way that a sweep must survive. Only the test program
/// faulty_espalier has it.
namespace espalier::faulty {

enum class VariantId : std::uint16_t;

/// out[i] = 2 * in[i], `size` values each.
struct Buffers {
    const std::uint32_t* in = nullptr;
    std::uint32_t* out = nullptr;
};

struct Problem {
    using Buffers = faulty::Buffers;
    using Id = VariantId;

    std::int64_t size = 1000;
    std::int64_t seed = 0;  ///< makes as many different problems of one size as a test wants

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{number<&Problem::size>("size", "problem.size"),
                                         number<&Problem::seed>("seed", "problem.seed")};
        return list;
    }

    [[nodiscard]] Cost cost() const {
        return {.bytes = 8 * static_cast<double>(size), .int_ops = static_cast<double>(size)};
    }
};

}  // namespace espalier::faulty
