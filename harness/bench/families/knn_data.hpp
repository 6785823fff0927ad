#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

#include "harness/base/random.hpp"
#include "kernels/problems/knn.hpp"

/// Where the rows of a table lie: what a search costs depends on it, and nobody who searches says so.
namespace espalier::bench::knn {

using espalier::knn::Data;

/// A set of rows of one kind of data, cell by cell. Queries and points of a problem have the same clusters.
struct DrawnRows {
    Data data;
    bool is_points;
    std::size_t count, dims;
    std::uint64_t seed;  ///< of this set

    /// Before rows of `directions` are brought to unit length.
    [[nodiscard]] float value(std::size_t item, std::size_t attribute, std::uint64_t bits) const {
        const auto row = [&](std::size_t of) { return cluster(item, of) * dims + attribute; };
        switch (data) {
            case Data::whole: return static_cast<float>((bits >> 8) % 16);
            case Data::continuous: return both_signs(bits);
            case Data::clusters: return static_cast<float>(10 * share(shared(1, row(64))) + share(bits));
            case Data::far_clusters:
                return static_cast<float>(10'000 + 1000 * normal(shared(2, row(32))) + normal(bits));
            case Data::directions: return static_cast<float>(normal(shared(3, row(256))) + 0.7 * normal(bits));
            case Data::images: return share(shared(4, row(10))) < 0.25 && bits % 5 != 0 ? grey(bits) : 0.0F;
            case Data::duplicates: return is_points ? both_signs(shared(5, row(count / 40 + 1))) : both_signs(bits);
            case Data::outlier:
                return is_points && item == count / 3 && attribute == dims / 2 ? 1e15F : both_signs(bits);
            case Data::places:
                return static_cast<float>((attribute % 2 == 0 ? 60 : 180) * (2 * share(shared(6, row(1000))) - 1) +
                                          0.05 * normal(bits));
            case Data::times: return static_cast<float>(attribute == 0 ? 1.7e9 + 3e7 * share(bits) : 10 * normal(bits));
        }
        return 0;
    }

private:
    static double share(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
    static float both_signs(std::uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-23F - 1; }
    static float grey(std::uint64_t bits) { return static_cast<float>(1 + (bits >> 8) % 255); }
    /// After Box and Muller.
    static double normal(std::uint64_t bits) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(bits & 0xFFFFFFFF) * 0x1p-32;
        return std::sqrt(-2 * std::log(static_cast<double>((bits >> 32) + 1) * 0x1p-32)) * std::cos(angle);
    }
    /// The same for queries and points.
    static std::uint64_t shared(std::uint64_t stream, std::size_t i) { return random_bits(0x5EED0 + stream, i); }
    [[nodiscard]] std::size_t cluster(std::size_t item, std::size_t of) const { return random_bits(~seed, item) % of; }
};

/// Brings an item of an attribute-major set of `count` to unit length. Nominal attributes, and cells without a value,
/// have no part in it; without `types` every attribute is numeric.
inline void to_unit_length(std::span<float> values, std::size_t count, std::size_t item,
                           std::span<const AttributeType> types) {
    const auto is_numeric = [&](std::size_t cell) {
        return types.empty() || types[cell / count] == AttributeType::numeric;
    };
    double sum = 0;
    for (std::size_t cell = item; cell < values.size(); cell += count)
        if (const double value = values[cell]; value == value && is_numeric(cell)) sum += value * value;
    if (sum == 0) return;
    const auto length = static_cast<float>(std::sqrt(sum));
    for (std::size_t cell = item; cell < values.size(); cell += count)
        if (is_numeric(cell)) values[cell] /= length;
}

}  // namespace espalier::bench::knn
