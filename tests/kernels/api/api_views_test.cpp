// Parts of larger arrays as a user passes them: results as of dense copies, and nothing written between their rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/kernels/api/api_helpers.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() / 8;

template <class T>
std::vector<T> numbers(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> values(static_cast<std::size_t>(count));
    for (T& value : values) value = static_cast<T>(random() % 200);
    return values;
}

/// Rows with something between them: a canary that no call may change.
template <class T>
struct Rows {
    static constexpr T kCanary = static_cast<T>(77);
    std::int64_t rows, row, stride;
    std::vector<T> values;

    Rows(std::int64_t count, std::int64_t length, std::int64_t apart)
        : rows(count), row(length), stride(apart), values(static_cast<std::size_t>(count * apart), kCanary) {}
    Rows(const std::vector<T>& dense, std::int64_t count, std::int64_t length, std::int64_t apart)
        : Rows(count, length, apart) {
        for (std::int64_t r = 0; r < rows; ++r) std::copy_n(dense.begin() + r * row, row, values.begin() + r * stride);
    }

    [[nodiscard]] T* data() { return values.data(); }
    [[nodiscard]] std::vector<T> dense() const {
        std::vector<T> all;
        for (std::int64_t r = 0; r < rows; ++r)
            all.insert(all.end(), values.begin() + r * stride, values.begin() + r * stride + row);
        return all;
    }
    void expect_canaries() const {
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t i = row; i < stride; ++i)
                ASSERT_EQ(values[static_cast<std::size_t>(r * stride + i)], kCanary) << "row " << r << ", " << i;
    }
};

constexpr ImageShape kShape{37, 23, 3};
constexpr std::int64_t kRow = 37 * 3, kPixels = kRow * 23;

template <std::size_t kSize>
std::array<float, kSize> filter_of() {
    std::array<float, kSize> filter{};
    for (std::size_t i = 0; i < kSize; ++i) filter[i] = static_cast<float>(i % 7) * 0.01F;
    return filter;
}

template <std::size_t kSize>
void expect_convolved_views(const Device& device) {
    const auto pixels = numbers<std::uint8_t>(kPixels, 1);
    const auto filter = filter_of<kSize>();
    std::vector<std::uint8_t> expected(pixels.size());
    expect_ok(convolve_2d(device, {pixels.data(), kShape}, filter, Border::mirror, {expected.data(), kShape}));
    for (const std::int64_t image_pitch : {kRow, kRow + 1, kRow + 64})
        for (const std::int64_t result_pitch : {kRow, kRow + 5}) {
            Rows<std::uint8_t> image(pixels, 23, kRow, image_pitch), result(23, kRow, result_pitch);
            expect_ok(convolve_2d(device, {image.data(), kShape, image_pitch}, filter, Border::mirror,
                                  {result.data(), kShape, result_pitch}));
            EXPECT_EQ(result.dense(), expected) << image_pitch << ' ' << result_pitch;
            result.expect_canaries();
        }
}

TEST(ImageViews, AreFilteredAsCopies) {
    for (const Device& device : usable_devices()) {
        expect_convolved_views<9>(device);
        expect_convolved_views<25>(device);
    }
    expect_convolved_views<49>(Device::cpu());
}

TEST(ImageViews, HalvesOfAnImageDoNotOverlap) {
    const ImageShape half{10, 8, 1};
    auto pixels = numbers<std::uint8_t>(20 * 8, 2);
    for (const auto call : {0, 1}) {
        const auto run = [&](std::uint8_t* from, std::uint8_t* to) {
            if (call == 0)
                return convolve_2d(Device::cpu(), {from, half, 20}, Filter5x5{}, Border::zero, {to, half, 20});
            return convolve_2d(Device::cpu(), {from, half, 20}, Filter7x7{}, Border::zero, {to, half, 20});
        };
        expect_ok(run(pixels.data(), pixels.data() + 10));
        expect_ok(run(pixels.data() + 10, pixels.data()));
        expect_invalid(run(pixels.data(), pixels.data() + 9), "result.data and image.data overlap");
        expect_invalid(run(pixels.data() + 10, pixels.data() + 1), "overlap");
        expect_invalid(run(pixels.data(), pixels.data() + 20), "overlap");
    }
}

TEST(ImageViews, BadPitchesAreNamed) {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(kPixels)), result(pixels);
    const auto check = [&](const auto& filter) {
        const auto run = [&](std::int64_t image_pitch, std::int64_t result_pitch) {
            return convolve_2d(Device::cpu(), {pixels.data(), kShape, image_pitch}, filter, Border::zero,
                               {result.data(), kShape, result_pitch});
        };
        expect_invalid(run(-1, 0), "image.pitch is -1: it must not be negative, and 0 is for rows without gaps");
        expect_invalid(run(0, -111), "result.pitch is -111: it must not be negative, and 0 is for rows without gaps");
        expect_invalid(
            run(110, 0),
            "image.pitch is 110, but a row has 111 bytes: give at least as many, or 0 for rows without gaps");
        expect_invalid(run(0, kHuge), "23 rows so far apart are more than memory can hold");
    };
    check(Filter5x5{});
    check(Filter7x7{});
    check(Filter3x3{});
}

TEST(ImageViews, PlansKnowTheirPitches) {
    const auto pixels = numbers<std::uint8_t>(kPixels, 1);
    const auto filter = filter_of<25>();
    std::vector<std::uint8_t> expected(pixels.size());
    expect_ok(convolve_2d(Device::cpu(), {pixels.data(), kShape}, filter, Border::zero, {expected.data(), kShape}));
    Rows<std::uint8_t> image(pixels, 23, kRow, 128), result(23, kRow, 120);
    const auto plan = value_of(plan_convolve_2d(Device::cpu(), ConstImage{nullptr, kShape, 128}, filter, Border::zero,
                                                Image{nullptr, kShape, 120}));
    std::vector<std::byte> memory(plan.workspace_bytes() + 64);
    void* at = memory.data();
    std::size_t space = memory.size();
    std::align(64, plan.workspace_bytes(), at, space);
    const std::span<std::byte> workspace(static_cast<std::byte*>(at), plan.workspace_bytes());
    expect_ok(plan.run({image.data(), kShape, 128}, {result.data(), kShape, 120}, nullptr, workspace));
    EXPECT_EQ(result.dense(), expected);
    result.expect_canaries();
    expect_invalid(plan.run({image.data(), kShape}, {result.data(), kShape, 120}, nullptr, workspace),
                   "image.pitch is 111, but the plan is for 128");
}

constexpr std::int64_t kQueries = 13, kPoints = 29, kDims = 5, kNearest = 4;

/// A table in either layout, with something between its rows.
struct Table {
    Rows<float> rows;
    Items items;

    Table(const std::vector<float>& by_item, std::int64_t count, Layout layout, std::int64_t gap)
        : rows(layout == Layout::item_major ? count : kDims, layout == Layout::item_major ? kDims : count,
               (layout == Layout::item_major ? kDims : count) + gap) {
        for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t a = 0; a < kDims; ++a)
                rows.values[static_cast<std::size_t>(layout == Layout::item_major ? i * rows.stride + a
                                                                                  : a * rows.stride + i)] =
                    by_item[static_cast<std::size_t>(i * kDims + a)];
        items = {rows.data(), count, kDims, layout, gap == 0 ? 0 : rows.stride};
    }
};

TEST(MatrixViews, DistancesAreThoseOfCopies) {
    const auto q = numbers<float>(kQueries * kDims, 3), p = numbers<float>(kPoints * kDims, 4);
    for (const Device& device : usable_devices())
        for (const MatrixLayout layout : {MatrixLayout::row_major, MatrixLayout::transposed}) {
            std::vector<float> expected(kQueries * kPoints);
            expect_ok(pairwise_distances(device, {q.data(), kQueries, kDims}, {p.data(), kPoints, kDims}, {},
                                         {expected.data(), layout}));
            for (const Layout items : {Layout::item_major, Layout::attribute_major})
                for (const std::int64_t gap : {0, 3}) {
                    const bool by_row = layout == MatrixLayout::row_major;
                    const Table queries(q, kQueries, items, gap), points(p, kPoints, items, gap);
                    Rows<float> result(by_row ? kQueries : kPoints, by_row ? kPoints : kQueries,
                                       (by_row ? kPoints : kQueries) + 6);
                    expect_ok(pairwise_distances(device, queries.items, points.items, {},
                                                 {result.data(), layout, result.stride}));
                    EXPECT_EQ(result.dense(), expected);
                    result.expect_canaries();
                }
        }
}

TEST(MatrixViews, SelectionsAreThoseOfCopies) {
    const auto dense = numbers<float>(kQueries * kPoints, 5);
    for (const Device& device : usable_devices())
        for (const MatrixLayout layout : {MatrixLayout::row_major, MatrixLayout::transposed}) {
            const bool by_row = layout == MatrixLayout::row_major;
            SelectionShape shape{kQueries, kPoints, kNearest, layout};
            std::vector<float> values(kQueries * kNearest);
            std::vector<std::int32_t> indices(values.size());
            expect_ok(select_smallest_k(device, shape, dense.data(), values.data(), indices.data()));
            Rows<float> from(dense, by_row ? kQueries : kPoints, by_row ? kPoints : kQueries, 40);
            Rows<float> to(by_row ? kQueries : kNearest, by_row ? kNearest : kQueries, 20);
            Rows<std::int32_t> to_indices(to.rows, to.row, 20);
            shape.stride = 40;
            shape.list_stride = 20;
            expect_ok(select_smallest_k(device, shape, from.data(), to.data(), to_indices.data()));
            EXPECT_EQ(to.dense(), values);
            EXPECT_EQ(to_indices.dense(), indices);
            to.expect_canaries();
            to_indices.expect_canaries();
        }
}

TEST(MatrixViews, NeighboursAreThoseOfCopies) {
    const auto q = numbers<float>(kQueries * kDims, 3), p = numbers<float>(kPoints * kDims, 4);
    const std::vector<std::int32_t> classes = numbers<std::int32_t>(kPoints, 6);
    for (const Device& device : usable_devices()) {
        const auto model = value_of(KnnClassifier::fit(device, {p.data(), kPoints, kDims}, classes, {.k = kNearest}));
        const auto expected = value_of(model.kneighbors({q.data(), kQueries, kDims}));
        const auto predicted = value_of(model.predict({q.data(), kQueries, kDims}));
        for (const Layout items : {Layout::item_major, Layout::attribute_major}) {
            const Table queries(q, kQueries, items, 3), points(p, kPoints, items, 2);
            const auto same = value_of(KnnClassifier::fit(device, points.items, classes, {.k = kNearest}));
            EXPECT_EQ(value_of(same.predict(queries.items)), predicted);
            Rows<float> distances(kQueries, kNearest, 9);
            Rows<std::int32_t> indices(kQueries, kNearest, 9);
            expect_ok(same.kneighbors(queries.items, {distances.data(), indices.data(), MatrixLayout::row_major, 9}));
            EXPECT_EQ(distances.dense(), expected.distances);
            EXPECT_EQ(indices.dense(), expected.indices);
            distances.expect_canaries();
            indices.expect_canaries();
            Rows<std::int32_t> turned(kNearest, kQueries, 17);
            expect_ok(same.kneighbors(queries.items, {nullptr, turned.data(), MatrixLayout::transposed, 17}));
            for (std::int64_t i = 0; i < kQueries; ++i)
                for (std::int64_t j = 0; j < kNearest; ++j)
                    EXPECT_EQ(turned.values[static_cast<std::size_t>(j * 17 + i)],
                              expected.indices[static_cast<std::size_t>(i * kNearest + j)]);
            turned.expect_canaries();
        }
    }
}

TEST(MatrixViews, ExactNeighboursAreThoseOfCopies) {
    const auto q = numbers<double>(kQueries * kDims, 3), p = numbers<double>(kPoints * kDims, 4);
    const auto model =
        value_of(ExactNearestNeighbours::fit(Device::cpu(), {p.data(), kPoints, kDims}, {.k = kNearest}));
    const auto expected = value_of(model.kneighbors({q.data(), kQueries, kDims}));
    Rows<double> points(p, kPoints, kDims, 8), queries(q, kQueries, kDims, 7);
    const auto same = value_of(ExactNearestNeighbours::fit(
        Device::cpu(), {points.data(), kPoints, kDims, Layout::item_major, 8}, {.k = kNearest}));
    const auto found = value_of(same.kneighbors({queries.data(), kQueries, kDims, Layout::item_major, 7}));
    EXPECT_EQ(found.indices, expected.indices);
    EXPECT_EQ(found.distances, expected.distances);
}

TEST(MatrixViews, BadStridesAreNamed) {
    std::vector<float> q(kQueries * kDims), p(kPoints * kDims), result(kQueries * kPoints);
    std::vector<std::int32_t> indices(result.size());
    const auto call = [&](std::int64_t queries, std::int64_t points, std::int64_t to,
                          Layout layout = Layout::item_major) {
        return pairwise_distances(Device::cpu(), {q.data(), kQueries, kDims, layout, queries},
                                  {p.data(), kPoints, kDims, layout, points}, {}, {result.data(), {}, to});
    };
    expect_invalid(call(-2, 0, 0), "queries.stride is -2: it must not be negative");
    expect_invalid(call(4, 0, 0), "queries.stride is 4, but an item has 5 elements");
    expect_invalid(call(0, 28, 0, Layout::attribute_major), "points.stride is 28, but an attribute has 29 elements");
    expect_invalid(call(0, kHuge, 0), "points.stride is " + std::to_string(kHuge));
    expect_invalid(pairwise_distances(Device::cpu(), {q.data(), kQueries, kDims}, {p.data(), kPoints, kDims}, {},
                                      {result.data(), MatrixLayout::row_major, 28}),
                   "result.stride is 28, but a row has 29 elements");
    SelectionShape shape{2, 3, 1};
    shape.stride = 2;
    expect_invalid(select_smallest_k(Device::cpu(), shape, q.data(), result.data(), indices.data()),
                   "stride is 2, but a row has 3 elements");
    shape.stride = 0;
    shape.list_stride = -1;
    expect_invalid(select_smallest_k(Device::cpu(), shape, q.data(), result.data(), indices.data()),
                   "list_stride is -1");
    const auto model = value_of(NearestNeighbours::fit(Device::cpu(), {p.data(), kPoints, kDims}, {.k = 3}));
    expect_invalid(model.kneighbors({q.data(), kQueries, kDims}, {result.data(), nullptr, MatrixLayout::row_major, 2}),
                   "the stride of the neighbours is 2, but a list has 3 elements");
}

}  // namespace
}  // namespace espalier
