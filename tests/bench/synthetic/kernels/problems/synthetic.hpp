#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"

/// A family that computes nothing: the tests of the learner and of the emitter know the times of its
/// variants in closed form.
namespace espalier::synthetic {

enum class VariantId : std::uint16_t;

enum class Order { any, sorted, reversed };
inline constexpr std::string_view kOrderNames[] = {"any", "sorted", "reversed"};

struct Buffers {};

struct Problem {
    using Buffers = synthetic::Buffers;
    using Id = VariantId;

    std::int64_t rows = 1000;
    std::int64_t columns = 10;
    Order order = Order::any;

    /// Saturated: tests ask about sizes whose product has no 63 bits.
    [[nodiscard]] constexpr std::int64_t values() const {
        std::int64_t product = 0;
        return __builtin_mul_overflow(rows, columns, &product) ? std::numeric_limits<std::int64_t>::max() : product;
    }
    [[nodiscard]] constexpr double aspect() const {
        return static_cast<double>(rows) / static_cast<double>(columns > 0 ? columns : 1);
    }

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{
            number<&Problem::rows>("rows", "problem.rows"),
            number<&Problem::columns>("columns", "problem.columns"),
            category<&Problem::order>("order", "problem.order", "Order", kOrderNames),
            derived<&Problem::values>("values", "problem.values()"),
            derived<&Problem::aspect>("aspect", "problem.aspect()"),
        };
        return list;
    }

    [[nodiscard]] Cost cost() const { return {.bytes = static_cast<double>(values())}; }
};

}  // namespace espalier::synthetic
