#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/api/exact_rows.hpp"

namespace espalier::exact {

/// Which points are equal: of these one row is kept.
class Copies {
public:
    Copies() = default;

    /// Keeps of equal rows the first, in the order of the first ones. NaN equals NaN, and -0 equals 0.
    explicit Copies(Rows& rows);

    [[nodiscard]] bool any() const { return !points_.empty(); }
    [[nodiscard]] std::int64_t count() const { return count_; }  ///< of points

    /// How many points a row stands for.
    [[nodiscard]] std::int64_t count_of(std::int64_t row) const {
        return any() ? firsts_[static_cast<std::size_t>(row) + 1] - firsts_[static_cast<std::size_t>(row)] : 1;
    }
    /// The points that a row stands for, ascending; only if there are any copies.
    [[nodiscard]] std::span<const std::int32_t> of(std::int64_t row) const {
        return {points_.data() + firsts_[static_cast<std::size_t>(row)], static_cast<std::size_t>(count_of(row))};
    }
    /// The first of them.
    [[nodiscard]] std::int64_t first_of(std::int64_t row) const {
        return any() ? points_[static_cast<std::size_t>(firsts_[static_cast<std::size_t>(row)])] : row;
    }

private:
    std::int64_t count_ = 0;
    std::vector<std::int64_t> firsts_;  ///< where the points of each row begin, and the end; empty: no copies
    std::vector<std::int32_t> points_;
};

}  // namespace espalier::exact
