#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "espalier/histogram.hpp"
#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/core/variant.hpp"

/// How often each of the 256 values occurs among bytes (source H).
namespace espalier::histogram {

enum class VariantId : std::uint16_t;

inline constexpr int kBins = 256;

/// Reads `bytes`, at any address; overwrites the 256 counts, whatever they held.
struct Buffers {
    const std::uint8_t* bytes = nullptr;
    std::uint64_t* counts = nullptr;
};

/// How often each value occurs: every value alike, one value only, or value v about 1 / (v + 1) times as often as 0, as
/// the words of a language do (Zipf).
enum class Distribution { uniform, constant, zipf };

inline constexpr std::string_view kDistributionNames[] = {"uniform", "constant", "zipf"};

/// Atomic additions to one count wait for each other, so that the distribution decides what a variant takes; but a
/// selector cannot know it without reading the bytes, and so has to choose what is good for all.
struct Problem {
    using Buffers = histogram::Buffers;
    using Id = VariantId;

    std::int64_t bytes = std::int64_t{100} << 20;
    Distribution distribution = Distribution::uniform;

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{
            number<&Problem::bytes>("bytes", "problem.bytes"),
            unknown(category<&Problem::distribution>("distribution", "problem.distribution", "Distribution",
                                                     kDistributionNames)),
        };
        return list;
    }

    /// Every byte read once and counted once; the counts written.
    [[nodiscard]] Cost cost() const {
        const double n = static_cast<double>(bytes);
        return {.bytes = n + kBins * sizeof(std::uint64_t), .int_ops = n};
    }
};

inline constexpr Tolerance kExact{.reason = "counts are whole numbers"};

}  // namespace espalier::histogram
