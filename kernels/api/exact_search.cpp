#include "kernels/api/exact_search.hpp"

#include <algorithm>

#include "espalier/smallest_k.hpp"
#include "kernels/api/exact_bound.hpp"
#include "kernels/api/exact_distance.hpp"

namespace espalier::exact {
namespace {

/// The distances of one query.
class FromQuery {
public:
    FromQuery(const Table& table, const double* query, bool missing)
        : table_(table), query_(query), distance_(distance_function(table.metric(), missing)) {}

    [[nodiscard]] Neighbour to(std::int64_t point) const {
        const Rows& points = table_.points();
        const double distance = distance_({query_, points.of(point), points.dims, table_.types().data()});
        return {distance, static_cast<std::int32_t>(point)};
    }

private:
    const Table& table_;
    const double* query_;
    Distance distance_;
};

void scan(const FromQuery& from, std::int64_t points, std::int64_t k, std::vector<Neighbour>& found) {
    found.clear();  // a heap with the farthest on top
    for (std::int64_t p = 0; p < points; ++p) {
        const Neighbour one = from.to(p);
        if (static_cast<std::int64_t>(found.size()) == k) {
            if (!nearer(one, found.front())) continue;
            std::ranges::pop_heap(found, nearer);
            found.pop_back();
        }
        found.push_back(one);
        std::ranges::push_heap(found, nearer);
    }
    std::ranges::sort_heap(found, nearer);
}

}  // namespace

bool find_nearest(const Table& table, const double* query, bool missing, std::int64_t k, const Candidates& candidates,
                  std::vector<Neighbour>& found) {
    const std::int64_t points = table.points().count;
    const FromQuery from(table, query, missing);
    found.clear();
    for (std::int64_t j = 0; j < candidates.count; ++j)
        if (const std::int32_t index = candidates.indices[j * candidates.stride]; index != kNoIndex)
            found.push_back(from.to(index));
    const auto listed = static_cast<std::int64_t>(found.size());
    const std::int64_t wanted = std::min(k, points);
    if (listed < wanted || (listed < points && listed < candidates.count) || listed == 0) {
        scan(from, points, wanted, found);
        return listed == 0 && points == 0;
    }
    std::ranges::partial_sort(found, found.begin() + wanted, nearer);
    found.resize(static_cast<std::size_t>(wanted));
    if (listed == points) return true;
    const float last = candidates.distances[(candidates.count - 1) * candidates.stride];
    if (Bound(table, query, missing).excludes(last, found.back().distance)) return true;
    scan(from, points, wanted, found);
    return false;
}

}  // namespace espalier::exact
