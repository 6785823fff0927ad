#pragma once

// Neighbours in double precision, compared with a plain scan of the table.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "espalier/exact_knn.hpp"
#include "kernels/api/exact_search.hpp"
#include "tests/kernels/api/api_helpers.hpp"

namespace espalier {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Row = std::vector<double>;
using Formula = std::function<double(const Row&, const Row&)>;

/// Items, item-major.
struct Items64 {
    std::vector<Row> rows;
    mutable std::vector<double> flat{};

    [[nodiscard]] ItemsOfDoubles items() const {
        flat.clear();
        for (const Row& row : rows) flat.insert(flat.end(), row.begin(), row.end());
        return {flat.data(), static_cast<std::int64_t>(rows.size()),
                rows.empty() ? 0 : static_cast<std::int64_t>(rows[0].size())};
    }
};

inline double euclidean(const Row& x, const Row& y) {
    double sum = 0;
    for (std::size_t a = 0; a < x.size(); ++a) sum += (x[a] - y[a]) * (x[a] - y[a]);
    return std::sqrt(sum);
}

struct Listed {
    double distance;
    std::int32_t index;
};

/// All points by distance, those without one last, ties in their order.
inline std::vector<Listed> scanned(const Items64& points, const Row& query, const Formula& distance) {
    std::vector<Listed> all;
    for (const Row& point : points.rows) all.push_back({distance(query, point), static_cast<std::int32_t>(all.size())});
    std::ranges::stable_sort(all, [](const Listed& a, const Listed& b) {
        return a.distance < b.distance || (!std::isnan(a.distance) && std::isnan(b.distance));
    });
    return all;
}

inline std::int64_t scans_since(std::int64_t before) { return exact::scanned_queries.load() - before; }

inline ExactKnnClassifier fitted(const Items64& points, const NeighbourRule& rule, const ExactDistance& distance = {},
                                 std::vector<std::int32_t> classes = {}, const Device& device = Device::cpu()) {
    classes.resize(points.rows.size());
    auto model = ExactKnnClassifier::fit(device, points.items(), classes, rule, distance);
    if (!model) throw std::runtime_error(model.error().message);
    return std::move(model).value();
}

/// The neighbours of all queries are those of the scan.
inline void expect_scanned(const ExactKnnClassifier& model, std::int64_t k, const Items64& points,
                           const Items64& queries, const Formula& distance, const Options& options = {}) {
    const auto found = model.kneighbors(queries.items(), options);
    ASSERT_TRUE(found) << found.error().message;
    for (std::size_t q = 0; q < queries.rows.size(); ++q) {
        const auto expected = scanned(points, queries.rows[q], distance);
        for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
            SCOPED_TRACE("query " + std::to_string(q) + ", neighbour " + std::to_string(j));
            const std::size_t at = q * static_cast<std::size_t>(k) + j;
            if (j >= expected.size()) {
                ASSERT_EQ(found.value().indices[at], kNoIndex);
                continue;
            }
            ASSERT_EQ(found.value().indices[at], expected[j].index) << expected[j].distance;
            if (std::isinf(expected[j].distance))
                ASSERT_EQ(found.value().distances[at], expected[j].distance);
            else if (std::isnan(expected[j].distance))
                ASSERT_TRUE(std::isnan(found.value().distances[at]));
            else
                ASSERT_NEAR(found.value().distances[at], expected[j].distance, 1e-13 * expected[j].distance);
        }
    }
}

template <class T>
void expect_refused(const Result<T>& result, std::string_view part) {
    ASSERT_FALSE(result);
    expect_invalid(Result<void>(result.error()), part);
}

inline Items64 drawn(unsigned seed, int rows, int dims, const std::function<double(std::mt19937&)>& cell) {
    std::mt19937 random(seed);
    Items64 items;
    for (int i = 0; i < rows; ++i) {
        Row row;
        for (int a = 0; a < dims; ++a) row.push_back(cell(random));
        items.rows.push_back(row);
    }
    return items;
}

inline double uniform(std::mt19937& random) { return std::uniform_real_distribution<double>(0, 1)(random); }

/// Puts a code for "no data" into one cell in a hundred.
inline std::function<void(Items64&, Items64&)> no_data(double value) {
    return [value](Items64& points, Items64& queries) {
        std::mt19937 random(5);
        for (Items64* items : {&points, &queries})
            for (Row& row : items->rows)
                for (double& cell : row)
                    if (random() % 100 == 0) cell = value;
    };
}

}  // namespace espalier
