#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/device/host_cpu.hpp"
#include "kernels/device/runtime.hpp"
#include "registries/knn/registry.hpp"

/// The fused pipelines list the neighbours that the direct form gives, to the bit, whatever was screened, packed, split
/// or streamed on the way: on values that screens like and on those that they cannot see.
namespace espalier::knn {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Lists {
    std::vector<float> distances;
    std::vector<std::int32_t> indices;

    /// All NaN are one.
    [[nodiscard]] std::vector<std::uint32_t> bits() const {
        std::vector<std::uint32_t> all;
        for (const float d : distances) all.push_back(std::bit_cast<std::uint32_t>(d == d ? d : kNan));
        return all;
    }
    friend bool operator==(const Lists& a, const Lists& b) { return a.indices == b.indices && a.bits() == b.bits(); }
};

struct Tables {
    Problem problem;
    std::vector<float> queries, points;
};

using Value = std::function<float(std::int64_t item, std::int64_t attribute, std::mt19937&)>;

inline Tables tables(const Problem& problem, const Value& value) {
    std::mt19937 random(7);
    const auto items = [&](std::int64_t count) {
        std::vector<float> all(static_cast<std::size_t>(count * problem.dims));
        for (std::int64_t a = 0; a < problem.dims; ++a)
            for (std::int64_t i = 0; i < count; ++i) all[static_cast<std::size_t>(a * count + i)] = value(i, a, random);
        return all;
    };
    return {problem, items(problem.queries), items(problem.points)};
}

inline float length(const std::vector<float>& values, std::int64_t items, std::int64_t item) {
    double square = 0;
    for (auto at = static_cast<std::size_t>(item); at < values.size(); at += static_cast<std::size_t>(items))
        square += static_cast<double>(values[at]) * static_cast<double>(values[at]);
    return static_cast<float>(std::sqrt(square));
}

inline float direct_cosine(const Tables& tables, std::int64_t q, std::int64_t p) {
    const Problem& problem = tables.problem;
    float dot = 0;
    for (std::int64_t a = 0; a < problem.dims; ++a)
        dot = std::fma(tables.queries[static_cast<std::size_t>(a * problem.queries + q)],
                       tables.points[static_cast<std::size_t>(a * problem.points + p)], dot);
    const float lengths = length(tables.queries, problem.queries, q) * length(tables.points, problem.points, p);
    const float distance = lengths == 0 ? 1 : 1 - dot / lengths;
    return distance < 0 ? 0 : distance;
}

inline float direct(const Tables& tables, std::int64_t q, std::int64_t p) {
    const Problem& problem = tables.problem;
    if (problem.metric == Metric::cosine) return direct_cosine(tables, q, p);
    float sum = 0;
    for (std::int64_t a = 0; a < problem.dims; ++a) {
        const float difference = tables.queries[static_cast<std::size_t>(a * problem.queries + q)] -
                                 tables.points[static_cast<std::size_t>(a * problem.points + p)];
        const float magnitude = std::fabs(difference);
        switch (problem.metric) {
            case Metric::manhattan: sum += magnitude; break;
            case Metric::chebyshev: sum = magnitude > sum || magnitude != magnitude ? magnitude : sum; break;
            default: sum = std::fma(difference, difference, sum);
        }
    }
    return problem.metric == Metric::euclidean ? std::sqrt(sum) : sum;
}

inline Lists expected(const Tables& tables) {
    const auto n = static_cast<std::size_t>(tables.problem.queries), k = static_cast<std::size_t>(tables.problem.k);
    Lists lists{std::vector<float>(n * k, kNan), std::vector<std::int32_t>(n * k, kNoIndex)};
    for (std::size_t q = 0; q < n; ++q) {
        std::vector<std::uint64_t> all;  // none is negative: their bits ascend as they do, to the one NaN
        for (std::int64_t p = 0; p < tables.problem.points; ++p) {
            const float value = direct(tables, static_cast<std::int64_t>(q), p);
            const float distance = value == value ? value : kNan;
            all.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(std::fabs(distance))} << 32 |
                          static_cast<std::uint64_t>(p));
        }
        const std::size_t listed = std::min(k, all.size());
        std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(listed), all.end());
        for (std::size_t j = 0; j < listed; ++j) {
            lists.distances[j * n + q] = std::bit_cast<float>(static_cast<std::uint32_t>(all[j] >> 32));
            lists.indices[j * n + q] = static_cast<std::int32_t>(all[j]);
        }
    }
    return lists;
}

class Fused : public testing::TestWithParam<const Registered<Problem>*> {
protected:
    void SetUp() override {
        device_ = device::describe_cpu();
        const Problem any{.queries = 1, .points = 1, .dims = 1, .k = 1};
        const Support support = supports(*GetParam(), any, {}, device_);
        if (!support) GTEST_SKIP() << support.reason;
    }

    Lists run(const Tables& tables, int threads) {
        const Problem& problem = tables.problem;
        device_.threads = threads;
        const auto listed = static_cast<std::size_t>(problem.queries * problem.k);
        Lists lists{std::vector<float>(listed, 99), std::vector<std::int32_t>(listed, 99)};
        std::vector<std::int32_t> classes(static_cast<std::size_t>(problem.queries));
        const std::vector<std::int32_t> point_classes(static_cast<std::size_t>(problem.points));
        std::vector<std::byte> workspace(variant().workspace(problem, {}, device_), std::byte{0xFF});
        Context context{device_, nullptr, workspace};
        variant().run(context, problem,
                      {.query_values = tables.queries.data(),
                       .point_values = tables.points.data(),
                       .point_classes = point_classes.data(),
                       .classes = classes.data(),
                       .neighbour_distances = lists.distances.data(),
                       .neighbour_indices = lists.indices.data()},
                      {});
        by_cells_ = std::ranges::all_of(workspace, [](std::byte byte) { return byte == std::byte{0xFF}; });
        return lists;
    }

    /// Leaves out metrics that the variant declines.
    void expect_direct(const Problem& problem, const Value& value, const std::string& what) {
        if (!variant().supports(problem, {}, device_)) return;
        const Tables data = tables(problem, value);
        const Lists wanted = expected(data);
        for (const int threads : {1, 2, 5}) {
            const Lists listed = run(data, threads);
            EXPECT_EQ(listed.indices, wanted.indices) << what << ", " << threads << " threads";
            EXPECT_TRUE(listed == wanted) << what << ", " << threads << " threads";
        }
    }

    [[nodiscard]] const Variant<Problem>& variant() const { return GetParam()->variant; }

    DeviceInfo device_;
    bool by_cells_ = false;  ///< the last run left the workspace alone: parts of a problem have their own
};

inline float uniform(std::int64_t, std::int64_t, std::mt19937& random) {
    return std::uniform_real_distribution<float>(-1, 1)(random);
}

inline std::vector<const Registered<Problem>*> fused() {
    std::vector<const Registered<Problem>*> all;
    for (const auto& entry : registry())
        if (entry.variant.name.starts_with("cpu_fused")) all.push_back(&entry);
    return all;
}

}  // namespace espalier::knn
