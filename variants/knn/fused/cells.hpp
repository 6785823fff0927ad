#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "kernels/core/thread_errors.hpp"
#include "kernels/core/variant.hpp"
#include "variants/knn/fused/cell_distances.hpp"
#include "variants/knn/fused/cell_parts.hpp"
#include "variants/knn/fused/pipeline.hpp"

/// Cells: queries near a centre, one of them, and all points that may be among their nearest by the triangle
/// inequality (docs/performance/knn-cpu.md). Where queries and points lie in clusters most points are far from a query
/// for certain. Each cell is a problem of its own, and so are the queries in none.
namespace espalier::knn::fused {

/// Which queries are in which cells.
template <class Tiles, Terms terms>
class Cells {
public:
    Cells(const Problem& problem, const Buffers& buffers, int threads)
        : queries_{query_values(problem, buffers), problem.queries, problem.dims, 0, problem.queries},
          points_{buffers.point_values, problem.points, problem.dims, 0, problem.points},
          k_(problem.k),
          threads_(threads) {
        for (std::int32_t q = 0; q < problem.queries; ++q) rest_.push_back(q);
    }

    /// Makes cells of nearly all queries. False if that would not take less time than none, by a sample of the points,
    /// and soon if hardly any query of a few is near a centre.
    bool find() {
        constexpr std::size_t kRounds = 4, kFew = 16;
        double cost = kPackedAs;
        for (std::size_t round = 0; round < kRounds && rest_.size() * kFew > all_queries(); ++round) {
            const std::vector<std::int32_t> centres = some(std::min(rest_.size() / kQueriesOfACell + 1, kMostCentres));
            Distances distances(queries_, centres, threads_);
            if (!pilots_join(distances, centres)) break;
            Centres drawn = sampled_from(std::move(distances), centres);
            rest_ = join(drawn, rest_);
            cost += keep_cells(drawn);
        }
        if (!rest_.empty()) cost += kWholePackedAs + static_cast<double>(rest_.size());
        return cost < kPays * (static_cast<double>(all_queries()) + kWholePackedAs);
    }

    [[nodiscard]] std::span<const Cell> cells() const { return cells_; }
    [[nodiscard]] std::span<const std::int32_t> rest() const { return rest_; }

    /// Lists the points of all cells, in ascending order: those that the sample's bound leaves, of which the k nearest
    /// then bound the others.
    void list_points() {
        std::vector<std::int32_t> centres;
        std::vector<float> limits;
        for (const Cell& cell : cells_)
            centres.push_back(cell.centre), limits.push_back(reach_of(cell.radius, cell.kth));
        const auto found = Distances(queries_, centres, threads_).within(points_, limits);
        ThreadErrors errors;
#pragma omp parallel for schedule(dynamic) num_threads(threads_)
        for (std::size_t c = 0; c < cells_.size(); ++c) errors.guard([&] { keep_points(cells_[c], c, found); });
        errors.rethrow();
    }

private:
    using Distances = CentreDistances<Tiles, terms>;

    static constexpr std::size_t kQueriesOfACell = 16, kMostCentres = 256;
    /// Queries that a point is compared with while it is copied and packed, for cells and for the whole.
    static constexpr double kPackedAs = 100, kWholePackedAs = 40;
    static constexpr double kPays = 0.9;
    static constexpr std::size_t kMostAlone = 32;  ///< centres that one thread samples
    static constexpr std::int64_t kMostShare = 4;  ///< no cell lists more than this part of the points

    /// Centres of a round, and their distances from a sample of the points.
    struct Centres {
        std::vector<Cell> cells;
        Distances distances;
        std::vector<float> sampled;

        [[nodiscard]] std::span<float> sample_of(std::size_t c) {
            const std::size_t size = sampled.size() / cells.size();
            return std::span(sampled).subspan(c * size, size);
        }
    };

    /// What is within this of a centre may be among the k nearest of a query `distance` away, if k points are within
    /// `kth` of it: with all roundings. Infinite where numbers are too large.
    [[nodiscard]] float reach_of(float distance, float kth) const {
        constexpr double kFarthest = 1e18;
        const double roundings = static_cast<double>(4 * points_.dims + 64) * 0x1p-24;
        const double reach = (2.0 * static_cast<double>(distance) + static_cast<double>(kth)) * (1 + roundings);
        return reach < kFarthest ? static_cast<float>(reach * (1 + 0x1p-22) + 0x1p-40)
                                 : std::numeric_limits<float>::infinity();
    }

    [[nodiscard]] std::size_t all_queries() const { return static_cast<std::size_t>(queries_.count); }

    /// So many of the queries in no cell, from all over: by the golden ratio, which keeps clear of any period. Others
    /// from another start.
    [[nodiscard]] std::vector<std::int32_t> some(std::size_t count, double start = 0) const {
        std::vector<std::int32_t> drawn;
        for (std::size_t i = 0; i < std::min(count, rest_.size()); ++i) {
            double whole = 0;
            const double place = std::modf(start + 0.6180339887498949 * static_cast<double>(i), &whole);
            drawn.push_back(rest_[static_cast<std::size_t>(place * static_cast<double>(rest_.size()))]);
        }
        return drawn;
    }

    /// Whether some of a few queries would join the cells of these centres.
    [[nodiscard]] bool pilots_join(const Distances& distances, std::span<const std::int32_t> centres) const {
        constexpr std::size_t kPilots = 16, kJoin = 4;
        const std::vector<std::int32_t> pilots = some(kPilots, 0.5);
        std::vector<std::int32_t> near;
        const Table table = gathered(queries_, pilots);
        for (const auto& nearest : distances.nearest(table.slice()))
            near.push_back(centres[static_cast<std::size_t>(nearest.centre)]);
        std::ranges::sort(near);
        near.erase(std::unique(near.begin(), near.end()), near.end());
        Centres drawn = sampled_from(Distances(queries_, near, threads_), near);
        return (pilots.size() - join(drawn, pilots).size()) * kJoin >= pilots.size();
    }

    [[nodiscard]] Centres sampled_from(Distances distances, std::span<const std::int32_t> centres) const {
        // So many points that k of them are much nearer than a quarter of all.
        const std::int64_t sample = std::max(16 * k_, std::min<std::int64_t>(points_.count / 16, 1024));
        std::vector<float> sampled = distances.sampled(points_, sample);
        Centres drawn{std::vector<Cell>(centres.size()), std::move(distances), std::move(sampled)};
#pragma omp parallel for schedule(static) num_threads(threads_) if (centres.size() > kMostAlone)
        for (std::size_t c = 0; c < centres.size(); ++c) {
            drawn.cells[c].centre = centres[c];
            bound(drawn.cells[c], drawn.sample_of(c));
        }
        return drawn;
    }

    /// How far the points of a list may be. Reorders the sample.
    void bound(Cell& cell, std::span<float> sample) const {
        const auto size = static_cast<std::int64_t>(sample.size());
        auto end = sample.end();
        const auto at = [&](std::int64_t place) {
            const auto wanted = sample.begin() + place;
            std::nth_element(sample.begin(), wanted, end);
            end = wanted + 1;
            return *wanted;
        };
        cell.farthest = std::min(at(size / kMostShare), std::numeric_limits<float>::max());
        cell.kth = at(k_ - 1);
        cell.likely_kth = at(std::min(k_, k_ * size / points_.count + 1) - 1);
    }

    /// Queries join the cell of the nearest centre unless its list would be too long: returns those that do not.
    [[nodiscard]] std::vector<std::int32_t> join(Centres& centres, std::span<const std::int32_t> queries) const {
        const Table table = gathered(queries_, queries);
        const auto nearest = centres.distances.nearest(table.slice());
        std::vector<std::int32_t> left;
        for (std::size_t i = 0; i < queries.size(); ++i) {
            Cell& cell = centres.cells[static_cast<std::size_t>(nearest[i].centre)];
            if (!(reach_of(nearest[i].distance, cell.kth) <= cell.farthest)) {
                left.push_back(queries[i]);
                continue;
            }
            cell.queries.push_back(queries[i]);
            cell.radius = std::max(cell.radius, nearest[i].distance);
        }
        return left;
    }

    /// What a cell costs, in queries that are compared with all points.
    [[nodiscard]] double cost_of(const Cell& cell, std::span<const float> sample, float radius,
                                 std::size_t queries) const {
        const float reach = reach_of(radius, cell.likely_kth);
        const auto within = std::ranges::count_if(sample, [&](float distance) { return distance <= reach; });
        const double share = static_cast<double>(within) / static_cast<double>(sample.size());
        return 2 + share * (kPackedAs + static_cast<double>(queries));
    }

    /// Keeps cells that have queries. One becomes part of the nearest that is kept where that costs less. Returns what
    /// they cost.
    double keep_cells(Centres& centres) {
        struct Kept {
            std::size_t cell;
            double cost;
        };
        std::vector<Kept> kept;
        std::vector<Cell>& cells = centres.cells;
        const std::vector<float> between = centres.distances.between();
        for (std::size_t c = 0; c < cells.size(); ++c) {
            Cell& cell = cells[c];
            if (cell.queries.empty()) continue;
            const Kept alone{c, cost_of(cell, centres.sample_of(c), cell.radius, cell.queries.size())};
            const float* const apart = between.data() + between.size() / cells.size() * c;
            const auto near = std::ranges::min_element(kept, {}, [&](const Kept& k) { return apart[k.cell]; });
            if (near == kept.end()) {
                kept.push_back(alone);
                continue;
            }
            Cell& other = cells[near->cell];
            const float radius = std::max(other.radius, (apart[near->cell] + cell.radius) * (1 + 0x1p-22F));
            const std::size_t queries = other.queries.size() + cell.queries.size();
            const double together = cost_of(other, centres.sample_of(near->cell), radius, queries);
            if (together >= alone.cost + near->cost) {
                kept.push_back(alone);
                continue;
            }
            other.queries.insert(other.queries.end(), cell.queries.begin(), cell.queries.end());
            other.radius = radius, near->cost = together;
        }
        double cost = 0;
        for (const Kept& of : kept) cost += of.cost, cells_.push_back(std::move(cells[of.cell]));
        return cost;
    }

    /// At least k points are listed: those of the sample that gave the bound.
    void keep_points(Cell& cell, std::size_t number,
                     const std::vector<std::vector<typename Distances::List>>& found) const {
        std::vector<float> distances;
        for (const auto& part : found)
            for (const auto& [distance, point] : part[number]) distances.push_back(distance);
        const auto kth = distances.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
        std::ranges::nth_element(distances, kth);
        const float reach = reach_of(cell.radius, *kth);
        for (const auto& part : found)
            for (const auto& [distance, point] : part[number])
                if (distance <= reach) cell.points.push_back(point);
    }

    Slice queries_, points_;
    std::int64_t k_;
    int threads_;
    std::vector<Cell> cells_;
    std::vector<std::int32_t> rest_;
};

/// Whether looking for cells costs next to nothing beside the whole, and there is memory for copies of the points and
/// for lists of them, which the workspace has no room for.
inline bool may_have_cells(const Problem& problem, const DeviceInfo& device) {
    constexpr std::int64_t kLeastTerms = 1 << 26, kLeastQueries = 256, kLeastPoints = 4096;
    const auto copies = 8 * static_cast<std::size_t>(problem.points * problem.dims) * sizeof(float);
    return problem.metric != Metric::cosine && problem.queries >= kLeastQueries && problem.points >= kLeastPoints &&
           problem.points >= 64 * problem.k && problem.k > 0 && problem.terms() >= kLeastTerms &&
           copies <= device.memory_bytes;
}

template <class Tiles, Terms terms>
bool run_cells(const Context& context, const Problem& problem, const Buffers& buffers,
               const Configuration& configuration, const Whole& whole) {
    const int threads = threads_worth(problem.terms(), context.device.threads);
    try {
        Cells<Tiles, terms> cells(problem, buffers, threads);
        if (!cells.find()) return false;
        cells.list_points();
        CellRuns(context, problem, buffers, configuration, whole, threads).run(cells.cells(), cells.rest());
        return true;
    } catch (const std::bad_alloc&) {
        return false;  // the whole may fit the memory that is left
    }
}

/// By cells where that takes less time, else by `run_whole`, which needs the workspace.
template <class Tiles, auto run_whole, auto workspace>
void run_in_cells(Context& context, const Problem& problem, const Buffers& buffers,
                  const Configuration& configuration) {
    const Whole whole{run_whole, workspace};
    const auto by_cells = [&] {
        if (problem.metric == Metric::manhattan)
            return run_cells<Tiles, Terms::magnitudes>(context, problem, buffers, configuration, whole);
        if (problem.metric == Metric::chebyshev)
            return run_cells<Tiles, Terms::largest>(context, problem, buffers, configuration, whole);
        return run_cells<Tiles, Terms::squares>(context, problem, buffers, configuration, whole);
    };
    if (may_have_cells(problem, context.device) && by_cells())
        copy_to_host(problem, buffers);
    else
        run_whole(context, problem, buffers, configuration);
}

}  // namespace espalier::knn::fused
