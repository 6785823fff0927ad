#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/bench_memory.hpp"
#include "kernels/device/runtime.hpp"
#include "registries/knn/registry.hpp"

/// Tables whose cells a function gives, what a variant of k-NN finds in them, and what it is to find.
namespace espalier::knn {

struct Item {
    std::int64_t number;
    bool is_point;
};

/// A value of a table, from random bits.
using Value = float (*)(const Item& item, std::int64_t attribute, std::uint32_t bits);

inline float fraction(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }

/// The same for each attribute of a cluster, queries and points: -1 to 1.
inline float centre(std::int64_t cluster, std::int64_t attribute) {
    return 2 * fraction(static_cast<std::uint32_t>(cluster * 7919 + attribute * 104729 + 1) * 2654435761U) - 1;
}

inline float in_far_cluster(const Item& item, std::int64_t attribute, std::uint32_t bits) {
    return 10'000 + 1000 * centre(item.number % 4, attribute) + fraction(bits);
}

struct Found {
    std::vector<float> distances;
    std::vector<std::int32_t> indices;
    std::vector<std::int32_t> counts;  ///< the first numbers of the workspace
};

/// Attribute-major.
struct DrawnTables {
    Problem problem;
    std::vector<float> queries, points;

    DrawnTables(const Problem& of, Value value) : problem(of) {
        std::mt19937 random(11);
        const auto values = [&](std::int64_t count, bool is_point) {
            std::vector<float> all;
            for (std::int64_t a = 0; a < problem.dims; ++a)
                for (std::int64_t i = 0; i < count; ++i)
                    all.push_back(value({i, is_point}, a, static_cast<std::uint32_t>(random())));
            return all;
        };
        queries = values(problem.queries, false), points = values(problem.points, true);
    }

    [[nodiscard]] float direct(std::int64_t q, std::int64_t p) const {
        float sum = 0, query_norm = 0, point_norm = 0;
        for (std::int64_t a = 0; a < problem.dims; ++a) {
            const float x = queries[static_cast<std::size_t>(a * problem.queries + q)];
            const float y = points[static_cast<std::size_t>(a * problem.points + p)];
            if (problem.metric == Metric::cosine)
                sum += x * y, query_norm += x * x, point_norm += y * y;
            else
                sum += (x - y) * (x - y);
        }
        if (problem.metric != Metric::cosine) return std::sqrt(sum);
        const float norm = std::sqrt(query_norm) * std::sqrt(point_norm);
        return std::max(norm == 0 ? 1.0F : 1.0F - sum / norm, 0.0F);
    }

    [[nodiscard]] Found expected() const {
        const auto k = static_cast<std::size_t>(problem.k), rows = static_cast<std::size_t>(problem.queries);
        Found found{std::vector<float>(k * rows), std::vector<std::int32_t>(k * rows), {}};
        for (std::size_t q = 0; q < rows; ++q) {
            std::vector<std::pair<float, std::int32_t>> all;
            for (std::int64_t p = 0; p < problem.points; ++p)
                if (const float d = direct(static_cast<std::int64_t>(q), p); d == d)
                    all.emplace_back(d, static_cast<std::int32_t>(p));
            std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(k));
            for (std::size_t j = 0; j < k; ++j)
                found.distances[j * rows + q] = all[j].first, found.indices[j * rows + q] = all[j].second;
        }
        return found;
    }

    template <class T>
    static bench::BenchMemory uploaded(const DeviceInfo& device, const std::vector<T>& values) {
        bench::BenchMemory memory(device.kind, values.size() * sizeof(T));
        memory.store(0, std::as_bytes(std::span(values)));
        return memory;
    }

    /// By the variant of this name. The workspace is full of ones before.
    [[nodiscard]] Found found(std::string_view name, const Configuration& configuration) const {
        using bench::BenchMemory;
        const DeviceInfo device = device::open(0);
        const auto entry =
            std::ranges::find_if(registry(), [&](const auto& each) { return each.variant.name == name; });
        EXPECT_TRUE(static_cast<bool>(entry->variant.supports(problem, configuration, device)));
        const auto lists = static_cast<std::size_t>(problem.queries * problem.k) * 4;
        const auto bytes = entry->variant.workspace(problem, configuration, device);
        const std::vector<std::int32_t> classes_of_points(static_cast<std::size_t>(problem.points));
        BenchMemory query_values = uploaded(device, queries), point_values = uploaded(device, points);
        BenchMemory point_classes = uploaded(device, classes_of_points), workspace(device.kind, bytes);
        BenchMemory classes(device.kind, static_cast<std::size_t>(problem.queries) * 4);
        BenchMemory distances(device.kind, lists), indices(device.kind, lists);
        workspace.fill(0, bytes, 0xFF);
        Context context{device, nullptr, {workspace.data(), bytes}};
        entry->variant.run(context, problem,
                           {.query_values = reinterpret_cast<const float*>(query_values.data()),
                            .point_values = reinterpret_cast<const float*>(point_values.data()),
                            .point_classes = reinterpret_cast<const std::int32_t*>(point_classes.data()),
                            .classes = reinterpret_cast<std::int32_t*>(classes.data()),
                            .neighbour_distances = reinterpret_cast<float*>(distances.data()),
                            .neighbour_indices = reinterpret_cast<std::int32_t*>(indices.data())},
                           configuration);
        Found found{std::vector<float>(lists / 4), std::vector<std::int32_t>(lists / 4), std::vector<std::int32_t>(4)};
        distances.load(0, std::as_writable_bytes(std::span(found.distances)));
        indices.load(0, std::as_writable_bytes(std::span(found.indices)));
        workspace.load(0, std::as_writable_bytes(std::span(found.counts)));
        return found;
    }
};

}  // namespace espalier::knn
