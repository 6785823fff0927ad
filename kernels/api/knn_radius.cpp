// All points within a radius, of the distances that the family `distance` computes: some queries and some points at a
// time, so that no matrix is larger than its share of memory.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "espalier/knn.hpp"
#include "kernels/api/distance_call.hpp"
#include "kernels/api/knn_model.hpp"
#include "kernels/core/thread_errors.hpp"

namespace espalier::inline v1 {
namespace {

struct Near {
    float distance;
    std::int32_t index;
};

/// Distances that are NaN are not listed.
bool nearer(const Near& a, const Near& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.index < b.index);
}

std::optional<Error> invalid_radius(const Radius& radius) {
    if (std::isnan(radius.distance) || radius.distance < 0)
        return invalid("radius.distance is " + std::to_string(radius.distance) + ": it must be 0 or more");
    if (radius.most >= 0) return std::nullopt;
    return invalid("radius.most is " + std::to_string(radius.most) + ": it must not be negative");
}

std::optional<Error> invalid_call(const KnnModel& model, const Items& queries, const Radius& radius,
                                  const Options& options) {
    const Items points{nullptr, model.problem.points, model.problem.dims, Layout::attribute_major};
    if (auto error = invalid_comparison(queries, points, model.rule())) return error;
    if (auto error = invalid_radius(radius)) return error;
    const DeviceState& state = state_of(model.device);
    if (auto error = invalid_options(state, options)) return error;
    const std::array specs{items_of("queries.values", queries)};
    const Pointers<1> pointers{const_cast<float*>(queries.values)};
    const CurrentDevice current(state);
    return wrong_arrays({&state, options.memory}, specs, pointers, {});
}

/// The lists of some queries, which grow point by point.
class RadiusSearch {
public:
    RadiusSearch(const KnnModel& model, const Radius& radius, const Options& options)
        : model_(model), radius_(radius), options_(of_part(options)) {
        constexpr std::int64_t kMostPoints = 1 << 22, kDistances = 1 << 24;
        points_at_once_ = std::max<std::int64_t>(1, std::min(model.problem.points, kMostPoints));
        queries_at_once_ = kDistances / points_at_once_;
        if (options.progress)
            queries_at_once_ = std::min(
                queries_at_once_, items_in_part(model.problem.points * model.problem.dims, model.device.is_cuda()));
    }

    [[nodiscard]] std::int64_t queries_at_once() const { return queries_at_once_; }

    /// Appends the lists of these queries to `all`.
    Result<void> find(const Items& queries, RadiusNeighbours& all) {
        lists_.resize(static_cast<std::size_t>(queries.count));
        for (std::vector<Near>& list : lists_) list.clear();
        auto room = radius_.most - std::ssize(all.indices);
        for (std::int64_t first = 0; first < model_.problem.points; first += points_at_once_) {
            const std::int64_t count = std::min(points_at_once_, model_.problem.points - first);
            if (auto done = measure(queries, first, count); !done) return done;
            room -= collect(queries.count, first, count);
            if (room < 0) return too_many();
        }
        append(all);
        return {};
    }

private:
    /// Distances of the queries to some points, a row for each query.
    Result<void> measure(const Items& queries, std::int64_t first, std::int64_t count) {
        const knn::Problem& problem = model_.problem;
        const Items points = part_of(
            {model_.training->points.data(), problem.points, problem.dims, Layout::attribute_major}, first, count);
        distances_.resize(static_cast<std::size_t>(queries.count * count));
        distance::DistanceCall call = distance::call_of(queries, points, model_.rule(), {});
        Options options = options_;
        if (model_.device.is_cuda()) {  // the points are there, and the matrix is read here
            call.queries_on_host = options.memory == Memory::host;
            call.result_on_host = true;
            options.memory = Memory::device;
        }
        const Pointers<4> pointers = call.pointers(queries, points, distances_.data());
        return call_once(model_.device, std::move(call), pointers, options);
    }

    /// Returns how many points were found.
    std::int64_t collect(std::int64_t queries, std::int64_t first, std::int64_t count) {
        ThreadErrors errors;
        std::int64_t found = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : found) if (queries * count > 1 << 16)
        for (std::int64_t q = 0; q < queries; ++q)
            errors.guard([&] {
                std::vector<Near>& list = lists_[static_cast<std::size_t>(q)];
                const std::size_t before = list.size();
                const float* const row = distances_.data() + q * count;
                for (std::int64_t p = 0; p < count; ++p)
                    if (row[p] <= radius_.distance) list.push_back({row[p], static_cast<std::int32_t>(first + p)});
                found += static_cast<std::int64_t>(list.size() - before);
            });
        errors.rethrow();
        return found;
    }

    void append(RadiusNeighbours& all) {
        const auto queries = std::ssize(lists_);
#pragma omp parallel for schedule(dynamic, 16) if (queries > 256)
        for (std::ptrdiff_t q = 0; q < queries; ++q)
            std::sort(lists_[static_cast<std::size_t>(q)].begin(), lists_[static_cast<std::size_t>(q)].end(), nearer);
        for (const std::vector<Near>& list : lists_) {
            for (const Near& near : list) {
                all.distances.push_back(near.distance);
                all.indices.push_back(near.index);
            }
            all.offsets.push_back(std::ssize(all.indices));
        }
    }

    [[nodiscard]] Error too_many() const {
        return invalid("there are more than " + std::to_string(radius_.most) +
                       " neighbours within the radius: raise radius.most, at 8 bytes each, ask for fewer queries at a "
                       "time, or use a smaller radius");
    }

    const KnnModel& model_;
    Radius radius_;
    Options options_;
    std::int64_t points_at_once_ = 1, queries_at_once_ = 1;
    std::vector<float> distances_;
    std::vector<std::vector<Near>> lists_;
};

Result<RadiusNeighbours> neighbours_within(const KnnModel& model, const Items& queries, const Radius& radius,
                                           const Options& options) {
    if (auto error = invalid_call(model, queries, radius, options)) return *error;
    const HostThreads threads(state_of(model.device), options);
    const Progress progress(options);
    RadiusSearch search(model, radius, options);
    RadiusNeighbours all;
    all.offsets.reserve(static_cast<std::size_t>(queries.count) + 1);
    all.offsets.push_back(0);
    progress.at_start();
    for (std::int64_t first = 0; first < queries.count; first += search.queries_at_once()) {
        const std::int64_t count = std::min(search.queries_at_once(), queries.count - first);
        if (auto done = search.find(part_of(queries, first, count), all); !done) return done.error();
        progress.after(first + count, queries.count);
    }
    progress.at_end();
    return all;
}

}  // namespace

Result<RadiusNeighbours> NearestNeighbours::radius_neighbours(const Items& queries, const Radius& radius,
                                                              const Options& options) const {
    return guarded([&] { return neighbours_within(*present(model()), queries, radius, options); });
}

}  // namespace espalier::inline v1
