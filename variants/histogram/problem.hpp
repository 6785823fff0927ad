#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "espalier/histogram.hpp"
#include "harness/core/cost.hpp"
#include "harness/core/feature.hpp"
#include "harness/core/variant.hpp"

/// How often each of the 256 values occurs among bytes (source H).
namespace espalier::histogram {

enum class VariantId : std::uint16_t;

inline constexpr int kBins = 256;

/// Reads `bytes`, at any address; overwrites the 256 counts, whatever they held.
struct Buffers {
    const std::uint8_t* bytes = nullptr;
    std::uint64_t* counts = nullptr;
};

/// What the bytes are is no part of the problem: a selector cannot know it without reading them.
struct Problem {
    using Buffers = histogram::Buffers;
    using Id = VariantId;

    std::int64_t bytes = std::int64_t{100} << 20;

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{number<&Problem::bytes>("bytes", "problem.bytes")};
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
