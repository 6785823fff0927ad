#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/api/exact_bytes.hpp"
#include "kernels/api/exact_table.hpp"

namespace espalier::exact {

struct Neighbour {
    double distance;
    std::int32_t index;
};

/// By distance, NaN after everything, then by index.
inline bool nearer(const Neighbour& a, const Neighbour& b) {
    if (a.distance < b.distance) return true;
    if (b.distance < a.distance) return false;
    if (std::isnan(a.distance) != std::isnan(b.distance)) return std::isnan(b.distance);
    return a.index < b.index;
}

/// The nearest points of one query in single precision, as rows of the table: `count` of them, `stride` apart.
struct Candidates {
    const float* distances = nullptr;
    const std::int32_t* indices = nullptr;
    std::int64_t count = 0, stride = 0;
    bool ties_in_order = false;  ///< sums that have no rounding are listed by distance and then by row
};

/// Which neighbours: the k nearest, or all within a radius.
struct Wanted {
    std::int64_t k = 1;
    std::optional<double> radius{};
};

/// The search for one query: its neighbours in double precision, in order.
class Search {
public:
    /// `missing`: whether some pair of the query's may have missing cells.
    Search(const Table& table, const double* query, bool missing, const Wanted& wanted);

    /// Looks among candidates. False if a point that is none of them may be a neighbour; `found` is worth nothing then.
    bool among(const Candidates& candidates, std::vector<Neighbour>& found) const;

    /// Looks at the points' bytes. Not for a query with missing cells.
    void among_bytes(const ByteRows& bytes, std::vector<Neighbour>& found) const;

    /// Looks at all points.
    void among_all(std::vector<Neighbour>& found) const;

    /// Whether a coordinate is far beyond what most points have. Floats say little about such a query's neighbours, as
    /// they clamp the coordinate, and a look at all points is quick, as this coordinate alone tells most of them off.
    [[nodiscard]] bool is_far() const { return far_ >= 0; }

private:
    [[nodiscard]] Neighbour row(std::int64_t row, double limit = HUGE_VAL) const;
    [[nodiscard]] bool is_farther(std::int64_t row, double distance) const;
    [[nodiscard]] bool is_within(double distance) const { return !wanted_.radius || distance <= *wanted_.radius; }
    [[nodiscard]] std::int64_t rows_wanted() const;
    [[nodiscard]] std::int64_t differences_beyond_radius() const;
    [[nodiscard]] double kth_of(const std::vector<Neighbour>& rows) const;
    void to_points(std::vector<Neighbour>& rows) const;

    const Table& table_;
    const double* query_;
    bool missing_;
    Wanted wanted_;
    Distance distance_;
    std::int64_t far_;  ///< the attribute whose coordinate is the farthest, if one is far; else -1
};

/// Queries of this process that candidates were not enough for, so that all points were looked at, and the distances
/// that this took: for tests.
extern std::atomic<std::int64_t> scanned_queries, scanned_distances;

}  // namespace espalier::exact
