#include "kernels/api/exact_search.hpp"

#include <algorithm>
#include <limits>

#include "espalier/smallest_k.hpp"
#include "kernels/api/exact_bound.hpp"
#include "kernels/api/exact_distance.hpp"

namespace espalier::exact {

std::atomic<std::int64_t> scanned_queries{0}, scanned_distances{0};

Search::Search(const Table& table, const double* query, bool missing, const Wanted& wanted)
    : table_(table),
      query_(query),
      missing_(missing),
      wanted_(wanted),
      distance_(distance_function(table.rule().comparison, missing)),
      far_(table.far_attribute(query)) {
    wanted_.k = std::min(wanted.k, table.count());
}

Neighbour Search::row(std::int64_t row, double limit) const {
    const Rows& points = table_.points();
    const RowRule& rule = table_.rule();
    return {distance_({query_, points.of(row), points.dims, rule.types.data(), rule.weights.data(), rule.p, limit}),
            static_cast<std::int32_t>(row)};
}

/// Whether one attribute alone tells that a row is at this distance or more. Neither a sum of terms that are not
/// negative nor its root is rounded to less than one term makes of them.
bool Search::is_farther(std::int64_t row, double distance) const {
    return far_ >= 0 && std::fabs(query_[far_] - table_.points().of(row)[far_]) >= distance;
}

std::int64_t Search::rows_wanted() const { return std::min(wanted_.k, table_.points().count); }

/// The distance that a point must exceed not to be a neighbour. Of rows in order, which may stand for several points.
double Search::kth_of(const std::vector<Neighbour>& rows) const {
    if (wanted_.radius) return *wanted_.radius;
    std::int64_t points = 0;
    for (const Neighbour& one : rows)
        if (points += table_.copies().count_of(one.index); points >= wanted_.k) return one.distance;
    return std::numeric_limits<double>::quiet_NaN();
}

/// The nearest points of rows in order. The k nearest points are among those that the k nearest rows stand for.
void Search::to_points(std::vector<Neighbour>& rows) const {
    const Copies& copies = table_.copies();
    if (copies.any()) {
        std::vector<Neighbour> points;
        for (const Neighbour& one : rows) {
            const bool enough = !wanted_.radius && static_cast<std::int64_t>(points.size()) >= wanted_.k;
            if (enough && nearer({points.back().distance, std::numeric_limits<std::int32_t>::max()}, one)) break;
            const auto equal = copies.of(one.index);
            const auto most =
                wanted_.radius ? equal.size() : std::min(equal.size(), static_cast<std::size_t>(wanted_.k));
            for (const std::int32_t point : equal.first(most)) points.push_back({one.distance, point});
        }
        rows = std::move(points);
        std::ranges::sort(rows, nearer);
    }
    if (!wanted_.radius) rows.resize(static_cast<std::size_t>(wanted_.k));
}

bool Search::among(const Candidates& candidates, std::vector<Neighbour>& found) const {
    found.clear();
    for (std::int64_t j = 0; j < candidates.count; ++j)
        if (const std::int32_t index = candidates.indices[j * candidates.stride]; index != kNoIndex)
            found.push_back(row(index));
    const auto listed = static_cast<std::int64_t>(found.size());
    const std::int64_t rows = table_.points().count;
    if (listed < rows && (listed < candidates.count || (!wanted_.radius && listed < rows_wanted()) || listed == 0))
        return false;
    std::ranges::sort(found, nearer);
    if (listed < rows) {
        const bool in_order =
            !wanted_.radius && candidates.ties_in_order && !missing_ && table_.exact_in_floats(query_);
        const float last = candidates.distances[(candidates.count - 1) * candidates.stride];
        if (!in_order && !Bound(table_, query_, missing_).excludes(last, kth_of(found))) return false;
    }
    if (wanted_.radius) std::erase_if(found, [&](const Neighbour& one) { return !is_within(one.distance); });
    to_points(found);
    return true;
}

/// So many attributes differ at least in an item beyond the radius, if all are nominal and count alike.
std::int64_t Search::differences_beyond_radius() const {
    const std::int64_t dims = table_.points().dims;
    const auto distance = [&](std::int64_t differences) {
        const auto sum = static_cast<double>(differences);
        return table_.rule().comparison == Comparison::hamming ? sum / static_cast<double>(dims) : std::sqrt(sum);
    };
    std::int64_t differences = 0;
    while (differences <= dims && is_within(distance(differences))) ++differences;
    return differences;
}

void Search::among_bytes(const ByteRows& bytes, std::vector<Neighbour>& found) const {
    std::vector<std::int32_t> rows;
    if (wanted_.radius)
        bytes.nearest(table_, query_, SIZE_MAX, differences_beyond_radius(), rows);
    else
        bytes.nearest(table_, query_, static_cast<std::size_t>(rows_wanted()), table_.points().dims + 1, rows);
    found.clear();
    for (const std::int32_t one : rows) found.push_back(row(one));
    std::ranges::sort(found, nearer);
    to_points(found);
}

void Search::among_all(std::vector<Neighbour>& found) const {
    found.clear();  // a heap with the farthest on top, or all within the radius
    const auto most = static_cast<std::size_t>(rows_wanted());
    std::int64_t distances = 0;
    for (std::int64_t p = 0; p < table_.points().count; ++p) {
        if (wanted_.radius) {
            if (const Neighbour one = row(p, *wanted_.radius); is_within(one.distance)) found.push_back(one);
            continue;
        }
        const bool full = found.size() == most;
        if (full && most > 0 && is_farther(p, found.front().distance)) continue;  // of equal ones the first is nearer
        ++distances;
        const Neighbour one = row(p, full ? found.front().distance : HUGE_VAL);
        if (full) {
            if (most == 0 || !nearer(one, found.front())) continue;
            std::ranges::pop_heap(found, nearer);
            found.pop_back();
        }
        found.push_back(one);
        std::ranges::push_heap(found, nearer);
    }
    scanned_distances.fetch_add(distances, std::memory_order_relaxed);
    std::ranges::sort(found, nearer);
    to_points(found);
}

}  // namespace espalier::exact
