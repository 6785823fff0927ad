// Plans: what they say, and that their runs compute what the one-shot functions compute. On the CPU and on GPU 0.

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/kernels/api/plan_support.hpp"

namespace espalier {
namespace {

TEST(Plan, ComputesADotProduct) {
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        const Options options{.memory = where.memory, .deterministic = true};
        Array<float> a(numbers(10000, 1), where.memory), b(numbers(10000, 2), where.memory);
        Array<float> expected(1, where.memory), result(1, where.memory);
        const DotProductPlan plan = value_of(plan_dot_product(where.device, 10000, options));
        EXPECT_TRUE(plan.deterministic());
        EXPECT_EQ(plan.device(), where.device);
        // Not always the choice of the call, which may wait.
        const Explanation what = value_of(plan.explain());
        const std::string variant = what.variant + ":" + what.configuration;
        expect_ok(dot_product(where.device, a.data(), b.data(), 10000, expected.data(),
                              {.memory = where.memory, .variant = variant}));
        Workspace workspace(plan);
        for (int run = 0; run < 2; ++run) {
            expect_ok(plan.run(a.span(), b.span(), result.data(), nullptr, workspace.span()));
            wait(where.device);
            EXPECT_EQ(result.values(), expected.values());
        }
    }
}

TEST(Plan, CountsBytes) {
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        Array<std::uint8_t> bytes(std::vector<std::uint8_t>(5000, 7), where.memory);
        Array<std::uint64_t> counts(256, where.memory);
        const HistogramPlan plan = value_of(plan_count_bytes(where.device, 5000, {.memory = where.memory}));
        Workspace workspace(plan);
        expect_ok(plan.run(bytes.span(), counts.data(), nullptr, workspace.span()));
        wait(where.device);
        std::vector<std::uint64_t> expected(256);
        expected[7] = 5000;
        EXPECT_EQ(counts.values(), expected);
    }
}

TEST(Plan, FiltersAnImage) {
    constexpr ImageShape kShape{37, 23, 3};
    Filter5x5 filter{};
    filter[12] = 1;
    std::vector<std::uint8_t> pixels(37 * 23 * 3);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 31);
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        Array<std::uint8_t> image(pixels, where.memory), result(pixels.size(), where.memory);
        const ConvolutionPlan plan =
            value_of(plan_convolve_2d(where.device, kShape, filter, Border::mirror, {.memory = where.memory}));
        Workspace workspace(plan);
        expect_ok(plan.run({image.data(), kShape}, {result.data(), kShape}, nullptr, workspace.span()));
        wait(where.device);
        EXPECT_EQ(result.values(), pixels);
        expect_invalid(plan.run({image.data(), {37, 22, 3}}, {result.data(), {37, 22, 3}}, nullptr, workspace.span()),
                       "height is 22, but the plan is for 23");
    }
}

/// Rows of a dense array with canaries behind each.
template <class T>
std::vector<T> with_gaps(const std::vector<T>& dense, std::size_t row, std::size_t stride, T canary) {
    std::vector<T> all(dense.size() / row * stride, canary);
    for (std::size_t i = 0; i < dense.size(); ++i) all[i / row * stride + i % row] = dense[i];
    return all;
}

TEST(Plan, FiltersPartsOfImages) {
    constexpr ImageShape kPart{10, 7, 3};
    constexpr std::size_t kRow = 30;
    std::vector<std::uint8_t> pixels(kRow * 7), expected(pixels.size());
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 37);
    Filter5x5 filter{};
    filter[3] = filter[12] = 0.5F;
    expect_ok(convolve_2d(Device::cpu(), {pixels.data(), kPart}, filter, Border::mirror, {expected.data(), kPart}));
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        const Options options{.memory = where.memory};
        Array<std::uint8_t> image(with_gaps<std::uint8_t>(pixels, kRow, 41, 9), where.memory);
        Array<std::uint8_t> result(std::vector<std::uint8_t>(35 * 7, 77), where.memory);
        const auto wanted = with_gaps<std::uint8_t>(expected, kRow, 35, 77);
        expect_ok(convolve_2d(where.device, {image.data(), kPart, 41}, filter, Border::mirror,
                              {result.data(), kPart, 35}, options));
        EXPECT_EQ(result.values(), wanted);
        const ConvolutionPlan plan = value_of(plan_convolve_2d(where.device, ConstImage{nullptr, kPart, 41}, filter,
                                                               Border::mirror, Image{nullptr, kPart, 35}, options));
        Workspace workspace(plan);
        Array<std::uint8_t> again(std::vector<std::uint8_t>(35 * 7, 77), where.memory);
        expect_ok(plan.run({image.data(), kPart, 41}, {again.data(), kPart, 35}, nullptr, workspace.span()));
        wait(where.device);
        EXPECT_EQ(again.values(), wanted);
    }
}

TEST(Plan, ListsNeighboursInPartsOfArrays) {
    constexpr std::int64_t kPoints = 60, kQueries = 33, kDims = 3, kNearest = 4;
    const std::vector<float> p = numbers(kPoints * kDims, 5), q = numbers(kQueries * kDims, 6);
    const auto expected =
        value_of(value_of(NearestNeighbours::fit(Device::cpu(), {p.data(), kPoints, kDims}, {.k = kNearest}))
                     .kneighbors({q.data(), kQueries, kDims}));
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        const Options options{.memory = where.memory};
        Array<float> points(with_gaps<float>(p, kDims, 5, -1), where.memory);
        Array<float> queries(with_gaps<float>(q, kDims, 4, -1), where.memory);
        const Items asked{queries.data(), kQueries, kDims, Layout::item_major, 4};
        const auto model = value_of(NearestNeighbours::fit(
            where.device, {points.data(), kPoints, kDims, Layout::item_major, 5}, {.k = kNearest}, options));
        const KnnPlan plan = value_of(model.plan_predict(
            asked, {.predictions = false, .distances = false, .indices = true, .stride = 6}, options));
        Workspace workspace(plan);
        Array<std::int32_t> indices(std::vector<std::int32_t>(kQueries * 6, -7), where.memory);
        const NeighbourLists lists{nullptr, indices.data(), MatrixLayout::row_major, 6};
        expect_ok(plan.run(asked, lists, nullptr, workspace.span()));
        wait(where.device);
        EXPECT_EQ(indices.values(), with_gaps<std::int32_t>(expected.indices, kNearest, 6, -7));
        expect_invalid(plan.run(asked, {nullptr, indices.data()}, nullptr, workspace.span()),
                       "the stride of the neighbours is 4, but the plan is for 6");
    }
}

TEST(Plan, SelectsFromDistances) {
    constexpr std::int64_t kQueries = 40, kPoints = 70, kDims = 5, kNearest = 3;
    for (const Where& where : places())
        for (const Layout layout : {Layout::item_major, Layout::attribute_major}) {
            SCOPED_TRACE(name(where));
            const Options options{.memory = where.memory};
            Array<float> q(numbers(kQueries * kDims, 3), where.memory), p(numbers(kPoints * kDims, 4), where.memory);
            Array<float> expected(kQueries * kPoints, where.memory), result(kQueries * kPoints, where.memory);
            const Items queries{q.data(), kQueries, kDims, layout}, points{p.data(), kPoints, kDims, layout};
            const DistanceRule rule{};
            expect_ok(pairwise_distances(where.device, queries, points, rule,
                                         {expected.data(), MatrixLayout::transposed}, options));
            const DistancesPlan distances = value_of(plan_pairwise_distances(
                where.device, queries, points, rule, {nullptr, MatrixLayout::transposed}, options));
            Workspace workspace(distances);
            expect_ok(
                distances.run(queries, points, {result.data(), MatrixLayout::transposed}, nullptr, workspace.span()));
            wait(where.device);
            EXPECT_EQ(result.values(), expected.values());

            const SelectionPlan selection = value_of(
                plan_select_smallest_k(where.device, {kQueries, kPoints, kNearest, MatrixLayout::transposed}, options));
            Array<float> values(kQueries * kNearest, where.memory);
            Array<std::int32_t> indices(kQueries * kNearest, where.memory);
            Workspace of_selection(selection);
            expect_ok(selection.run(result.span(), values.span(), indices.span(), nullptr, of_selection.span()));
            wait(where.device);
            const std::vector<float> all = expected.values(), nearest = values.values();
            for (std::int64_t query = 0; query < kQueries; ++query) {
                float least = INFINITY;
                for (std::int64_t point = 0; point < kPoints; ++point)
                    least = std::min(least, all[static_cast<std::size_t>(point * kQueries + query)]);
                EXPECT_EQ(nearest[static_cast<std::size_t>(query)], least);
            }
        }
}

TEST(Plan, SelectsInAnyOrder) {
    constexpr std::int64_t kRows = 6, kColumns = 50, kNearest = 9;
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        Array<float> distances(numbers(kRows * kColumns, 8), where.memory), values(kRows * kNearest, where.memory);
        Array<std::int32_t> indices(kRows * kNearest, where.memory);
        const SelectionShape shape{kRows, kColumns, kNearest, MatrixLayout::row_major, ListOrder::any};
        const SelectionPlan plan = value_of(plan_select_smallest_k(where.device, shape, {.memory = where.memory}));
        EXPECT_NE(value_of(plan.explain()).problem.find("order=any"), std::string::npos);
        Workspace workspace(plan);
        expect_ok(plan.run(distances.span(), values.span(), indices.span(), nullptr, workspace.span()));
        wait(where.device);
        const std::vector<float> all = distances.values(), found = values.values();
        for (std::int64_t row = 0; row < kRows; ++row) {
            std::vector<float> expected(all.begin() + row * kColumns, all.begin() + (row + 1) * kColumns);
            std::vector<float> list(found.begin() + row * kNearest, found.begin() + (row + 1) * kNearest);
            std::ranges::sort(expected), std::ranges::sort(list);
            expected.resize(kNearest);
            EXPECT_EQ(list, expected) << row;
        }
    }
}

TEST(Plan, SelectsIntegers) {
    constexpr std::int64_t kRows = 5, kColumns = 60, kNearest = 7;
    std::vector<std::int32_t> numbers(kRows * kColumns);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i * 2654435761U);
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        Array<std::int32_t> keys(numbers, where.memory), values(kRows * kNearest, where.memory);
        Array<std::int32_t> indices(kRows * kNearest, where.memory);
        SelectionShape shape{kRows, kColumns, kNearest, MatrixLayout::row_major};
        shape.keys = KeyType::int32;
        const SelectionPlan plan = value_of(plan_select_smallest_k(where.device, shape, {.memory = where.memory}));
        EXPECT_NE(value_of(plan.explain()).problem.find("keys=int32"), std::string::npos);
        Workspace workspace(plan);
        const auto in = std::as_bytes(keys.span());
        const auto out = std::as_writable_bytes(values.span());
        expect_ok(plan.run_of(in, out, indices.span(), nullptr, workspace.span()));
        wait(where.device);
        const std::vector<std::int32_t> found = values.values();
        for (std::int64_t row = 0; row < kRows; ++row) {
            std::vector<std::int32_t> expected(numbers.begin() + row * kColumns,
                                               numbers.begin() + (row + 1) * kColumns);
            std::ranges::sort(expected);
            expected.resize(kNearest);
            EXPECT_EQ(std::vector(found.begin() + row * kNearest, found.begin() + (row + 1) * kNearest), expected);
        }
        expect_invalid(plan.run_of(in.first(in.size() - 4), out, indices.span(), nullptr, workspace.span()),
                       "keys.size() is 1196, but the plan is for 1200");
        std::vector<float> floats(numbers.size());
        expect_invalid(plan.run(floats, floats, indices.span(), nullptr, workspace.span()), "call run_of");
    }
}

TEST(Plan, ComparesNominalAttributes) {
    const std::vector<AttributeType> types{AttributeType::numeric, AttributeType::nominal};
    const DistanceRule rule{.metric = Metric::mixed_euclidean, .types = types};
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        Array<float> items(std::vector<float>{0, 1, 0, 2, 4, 1}, where.memory), result(9, where.memory);
        const Items set{items.data(), 3, 2};
        const DistancesPlan plan =
            value_of(plan_pairwise_distances(where.device, set, set, rule, {}, {.memory = where.memory}));
        Workspace workspace(plan);
        expect_ok(plan.run(set, set, result.data(), nullptr, workspace.span()));
        wait(where.device);
        EXPECT_EQ(result.values(), (std::vector<float>{0, 1, 4, 1, 0, std::sqrt(17.F), 4, std::sqrt(17.F), 0}));
    }
}

TEST(Plan, SumsAlongTravelTimes) {
    const CoherentSumShape shape{.receivers = 2, .samples = 3, .sources = 2, .span = 1};
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        const Options options{.memory = where.memory};
        Array<float> traces(std::vector<float>{1, 2, 3, 4, 10, 20, 30, 40}, where.memory);
        Array<std::int32_t> delays(std::vector<std::int32_t>{0, 0, 0, 1}, where.memory);
        Array<float> sums(6, where.memory), maximum(2, where.memory);
        Array<std::int32_t> sample(2, where.memory);
        const CoherentSumPlan all = value_of(plan_coherent_sum(where.device, shape, Coherence::sums, options));
        Workspace of_all(all);
        expect_ok(all.run(traces.span(), delays.span(), sums.span(), nullptr, of_all.span()));
        const CoherentSumPlan peaks = value_of(plan_coherent_sum(where.device, shape, Coherence::maximum, options));
        Workspace of_peaks(peaks);
        expect_ok(peaks.run(traces.span(), delays.span(), maximum.span(), sample.span(), nullptr, of_peaks.span()));
        wait(where.device);
        EXPECT_EQ(sums.values(), (std::vector<float>{11, 22, 33, 21, 32, 43}));
        EXPECT_EQ(maximum.values(), (std::vector<float>{33, 43}));
        EXPECT_EQ(sample.values(), (std::vector<std::int32_t>{2, 2}));
        expect_invalid(all.run(traces.span(), delays.span(), maximum.span(), sample.span(), nullptr, of_all.span()),
                       "the plan keeps all sums");
    }
}

TEST(Plan, DelaysAndPhasesAreThoseOfTheModel) {
    const std::vector<Point> receivers{{0, 0, 0}, {3, 4, 0}};
    const SourceGrid grid{.origin = {0, 0, 0}, .spacing = {3, 4, 0}, .columns = 2};
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        const Options options{.memory = where.memory};
        Array<std::int32_t> delays(4, where.memory);
        expect_ok(compute_delays(where.device, receivers, grid, {.samples_per_metre = 2}, delays.data(), options));
        EXPECT_EQ(delays.values(), (std::vector<std::int32_t>{0, 10, 6, 8}));

        const InterpolationShape shape{.receivers = 1, .samples = 3, .padding = 1, .phases = 2};
        Array<float> trace(std::vector<float>{0, 2, 6}, where.memory), copies(8, where.memory);
        const InterpolationPlan plan = value_of(plan_interpolate_traces(where.device, shape, options));
        Workspace workspace(plan);
        expect_ok(plan.run(trace.span(), copies.span(), nullptr, workspace.span()));
        wait(where.device);
        EXPECT_EQ(copies.values(), (std::vector<float>{0, 2, 6, 0, 1, 4, 6, 0}));
    }
    expect_invalid(compute_delays(Device::cpu(), receivers, grid, {.samples_per_metre = 1e9}, nullptr),
                   "does not fit 32 bits");
    expect_invalid(compute_delays(Device::cpu(), receivers, grid, {.samples_per_metre = NAN}, nullptr),
                   "samples_per_metre");
}

}  // namespace
}  // namespace espalier
