#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "espalier/distance.hpp"
#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"

/// All distances between two sets of items (sources K and P).
namespace espalier::distance {

enum class VariantId : std::uint16_t;

inline constexpr std::string_view kMetricNames[] = {"euclidean", "mixed_euclidean", "manhattan", "chebyshev", "cosine"};
inline constexpr std::string_view kMissingNames[] = {"none", "allowed"};

/// Reads two sets of items and writes the matrix of their distances, transposed: the distance of point p
/// and query q is result[p * queries + q], so that `smallest_k` (one row per query) reads it coalesced. (Whoever wants
/// the row-major matrix exchanges the sets: every metric is symmetric.)
/// Inputs are attribute-major: the value of attribute a of query q is query_values[a * queries + q].
/// Nothing overlaps; everything but `types_on_host` is where the variant runs.
struct Buffers {
    const float* query_values = nullptr;  ///< dims x queries
    const float* point_values = nullptr;  ///< dims x points
    float* result = nullptr;              ///< points x queries

    /// Both sets item-major (attribute a of query q at [q * dims + a]). Read only by variants that say
    /// so in their limits; null if `Problem::item_major` is false.
    const float* query_items = nullptr;
    const float* point_items = nullptr;

    /// Per attribute, read for `mixed_euclidean` only: where the variant runs, and on the host for what
    /// passes them to a kernel in constant memory. A CPU has one copy.
    const AttributeType* types = nullptr;
    const AttributeType* types_on_host = nullptr;
};

/// `queries` x `points` distances over `dims` attributes. Any size may be 0; without attributes the
/// distance is that of two equal items (cosine: 1; Missing::allowed: NaN).
struct Problem {
    using Buffers = distance::Buffers;
    using Id = VariantId;

    std::int64_t queries = 1000;
    std::int64_t points = 1000;
    std::int64_t dims = 50;
    Metric metric = Metric::euclidean;
    Missing missing = Missing::none;
    bool item_major = true;  ///< whether the caller has the item-major copies; no part of the key

    [[nodiscard]] constexpr std::int64_t distances() const { return queries * points; }
    [[nodiscard]] constexpr std::int64_t terms() const { return queries * points * dims; }

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{
            number<&Problem::queries>("queries", "problem.queries"),
            number<&Problem::points>("points", "problem.points"),
            number<&Problem::dims>("dims", "problem.dims"),
            category<&Problem::metric>("metric", "problem.metric", "Metric", kMetricNames),
            category<&Problem::missing>("missing", "problem.missing", "Missing", kMissingNames),
            derived<&Problem::distances>("distances", "problem.distances()"),
            derived<&Problem::terms>("terms", "problem.terms()"),
        };
        return list;
    }

    /// Two operations per term, which for the squares means the expanded form (a multiply-add each; the
    /// norms cost next to nothing), and each set read and the matrix written once.
    [[nodiscard]] Cost cost() const {
        const auto values = static_cast<double>((queries + points) * dims + distances());
        return {.bytes = values * sizeof(float), .fp32_ops = 2.0 * static_cast<double>(terms())};
    }
};

}  // namespace espalier::distance
