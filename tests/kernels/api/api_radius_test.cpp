// Nearest neighbours without labels, models in files, and calls that tell their progress.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/kernels/api/api_helpers.hpp"
#include "tests/kernels/api/model_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kQueries = 41, kPoints = 300, kDims = 3;

struct Sets {
    std::vector<float> points = whole_numbers(kPoints * kDims, 1, 10), queries = whole_numbers(kQueries * kDims, 2, 10);
    std::vector<std::int32_t> classes = std::vector<std::int32_t>(kPoints);
    std::vector<float> targets = whole_numbers(kPoints, 3, 10);

    Sets() {
        for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::int32_t>(i % 3);
    }
    [[nodiscard]] Items point_items() const { return {points.data(), kPoints, kDims}; }
    [[nodiscard]] Items query_items() const { return {queries.data(), kQueries, kDims}; }
    [[nodiscard]] double distance(std::int64_t q, std::int64_t p) const {
        double sum = 0;
        for (std::int64_t a = 0; a < kDims; ++a) {
            const double d =
                queries[static_cast<std::size_t>(q * kDims + a)] - points[static_cast<std::size_t>(p * kDims + a)];
            sum += d * d;
        }
        return std::sqrt(sum);
    }
};

void expect_within(const RadiusNeighbours& found, const Sets& sets, double radius) {
    ASSERT_EQ(found.offsets.size(), static_cast<std::size_t>(kQueries) + 1);
    ASSERT_EQ(found.offsets.front(), 0);
    ASSERT_EQ(found.offsets.back(), std::ssize(found.indices));
    ASSERT_EQ(found.distances.size(), found.indices.size());
    for (std::int64_t q = 0; q < kQueries; ++q) {
        std::vector<std::pair<double, std::int32_t>> expected;
        for (std::int64_t p = 0; p < kPoints; ++p)
            if (const double d = sets.distance(q, p); d <= radius)
                expected.emplace_back(d, static_cast<std::int32_t>(p));
        std::ranges::sort(expected);
        const auto begin = static_cast<std::size_t>(found.offsets[static_cast<std::size_t>(q)]);
        ASSERT_EQ(found.offsets[static_cast<std::size_t>(q) + 1] - found.offsets[static_cast<std::size_t>(q)],
                  std::ssize(expected))
            << "query " << q;
        for (std::size_t j = 0; j < expected.size(); ++j) {
            EXPECT_EQ(found.indices[begin + j], expected[j].second);
            EXPECT_NEAR(found.distances[begin + j], expected[j].first, 1e-5);
        }
    }
}

TEST(RadiusNeighbours, AreAllWithinTheRadiusInOrder) {
    const Sets sets;
    for (const Device& device : usable_devices()) {
        const auto model = value_of(NearestNeighbours::fit(device, sets.point_items(), {}));
        for (const float radius : {0.0F, 2.0F, 3.0F, 5.5F, 100.0F, std::numeric_limits<float>::infinity()})
            expect_within(value_of(model.radius_neighbours(sets.query_items(), radius)), sets, radius);
    }
}

TEST(RadiusNeighbours, OfNothing) {
    const Sets sets;
    const auto model = value_of(NearestNeighbours::fit(Device::cpu(), sets.point_items(), {}));
    EXPECT_EQ(value_of(model.radius_neighbours({nullptr, 0, kDims}, 1)).offsets, std::vector<std::int64_t>{0});
    const auto empty = value_of(NearestNeighbours::fit(Device::cpu(), {nullptr, 0, kDims}, {}));
    EXPECT_EQ(value_of(empty.radius_neighbours(sets.query_items(), 1)).offsets,
              std::vector<std::int64_t>(static_cast<std::size_t>(kQueries) + 1));
}

TEST(RadiusNeighbours, NaNIsBeyondEveryRadius) {
    const float points[] = {0, NAN, 2}, query[] = {1};
    const auto model = value_of(NearestNeighbours::fit(Device::cpu(), {points, 3, 1}, {}));
    const auto found = value_of(model.radius_neighbours({query, 1, 1}, std::numeric_limits<float>::infinity()));
    EXPECT_EQ(found.indices, (std::vector<std::int32_t>{0, 2}));
}

TEST(RadiusNeighbours, BadRadiiAndTooManyAreNamed) {
    const Sets sets;
    const auto model = value_of(NearestNeighbours::fit(Device::cpu(), sets.point_items(), {}));
    const auto call = [&](const Radius& radius) -> Result<void> {
        const auto found = model.radius_neighbours(sets.query_items(), radius);
        if (!found) return found.error();
        return {};
    };
    expect_invalid(call(-1), "radius.distance is -1");
    expect_invalid(call(NAN), "radius.distance is nan");
    expect_invalid(call({1, -1}), "radius.most is -1");
    expect_invalid(call({100, kQueries * kPoints - 1}), "raise radius.most");
    expect_ok(call({100, kQueries * kPoints}));
}

TEST(NearestNeighbours, ListsAreThoseOfAClassifier) {
    const Sets sets;
    for (const Device& device : usable_devices()) {
        const auto model = value_of(NearestNeighbours::fit(device, sets.point_items(), {.k = 6}));
        const auto other = value_of(KnnClassifier::fit(device, sets.point_items(), sets.classes, {.k = 6}));
        const auto found = value_of(model.kneighbors(sets.query_items())),
                   expected = value_of(other.kneighbors(sets.query_items()));
        EXPECT_EQ(found.indices, expected.indices);
        EXPECT_EQ(found.distances, expected.distances);
        const auto refused = model.plan_predict(kQueries);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message.find("no labels"), std::string::npos);
    }
}

// --- files

TEST(SavedModels, GiveTheSameBits) {
    const Sets sets;
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "model").native();
    const std::vector<AttributeType> types{AttributeType::numeric, AttributeType::nominal, AttributeType::numeric};
    for (const Device& device : usable_devices())
        for (const Metric metric : {Metric::euclidean, Metric::mixed_euclidean, Metric::cosine}) {
            NeighbourRule rule{.k = 7, .distance = {metric, Missing::allowed, {}}, .vote = Vote::distance_weighted};
            if (metric == Metric::mixed_euclidean) rule.distance.types = types;
            const auto classifier = value_of(KnnClassifier::fit(device, sets.point_items(), sets.classes, rule));
            expect_ok(classifier.save(path));
            const auto again = value_of(KnnClassifier::load(device, path));
            EXPECT_EQ(value_of(again.predict(sets.query_items())), value_of(classifier.predict(sets.query_items())));
            EXPECT_EQ(value_of(again.kneighbors(sets.query_items())).distances,
                      value_of(classifier.kneighbors(sets.query_items())).distances);
            const auto regressor = value_of(KnnRegressor::fit(device, sets.point_items(), sets.targets, rule));
            expect_ok(regressor.save(path));  // replaces the file
            EXPECT_EQ(value_of(value_of(KnnRegressor::load(device, path)).predict(sets.query_items())),
                      value_of(regressor.predict(sets.query_items())));
            const auto nearest = value_of(NearestNeighbours::fit(device, sets.point_items(), rule));
            expect_ok(nearest.save(path));
            EXPECT_EQ(value_of(value_of(NearestNeighbours::load(device, path)).kneighbors(sets.query_items())).indices,
                      value_of(nearest.kneighbors(sets.query_items())).indices);
        }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "no temporary file is left";
}

TEST(SavedModels, OfEveryChangedByteAreRefused) {
    const float points[] = {1, 2, 3, 4, 5, 6};
    const std::int32_t classes[] = {0, 1, 1};
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "model").native();
    const std::vector<AttributeType> types{AttributeType::numeric, AttributeType::nominal};
    const NeighbourRule rule{.k = 2, .distance = {Metric::mixed_euclidean, Missing::none, types}};
    expect_ok(value_of(KnnClassifier::fit(Device::cpu(), {points, 3, 2}, classes, rule)).save(path));
    const std::string bytes = bytes_of(path);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (const int flip : {1, 0x80, 0xFF}) {
            std::string changed = bytes;
            changed[i] = static_cast<char>(changed[i] ^ flip);
            put_bytes(path, changed);
            expect_bad_file(KnnClassifier::load(Device::cpu(), path), path, "it");
        }
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        put_bytes(path, bytes.substr(0, size));
        expect_bad_file(KnnClassifier::load(Device::cpu(), path), path, "it");
    }
    put_bytes(path, bytes + '\0');
    expect_bad_file(KnnClassifier::load(Device::cpu(), path), path, "damaged");
    put_bytes(path, bytes);
    EXPECT_TRUE(KnnClassifier::load(Device::cpu(), path));
}

TEST(SavedModels, OfOthersAreRefusedByName) {
    const Sets sets;
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "model").native();
    const auto model = value_of(KnnClassifier::fit(Device::cpu(), sets.point_items(), sets.classes, {}));
    const Device cpu = Device::cpu();
    expect_bad_file(KnnClassifier::load(cpu, path), path, "no such file");
    expect_ok(model.save(path));
    expect_bad_file(KnnRegressor::load(cpu, path), path, "it holds a KnnClassifier, not a KnnRegressor");
    expect_bad_file(NearestNeighbours::load(cpu, path), path, "not a NearestNeighbours");
    put_bytes(path, std::string(500, 'x'));
    expect_bad_file(KnnClassifier::load(cpu, path), path, "it is no model of espalier");
    expect_bad_file(KnnClassifier::load(cpu, folder.path().native()), folder.path().native(), "folder");
    const std::string pipe = (folder.path() / "pipe").native(), link = (folder.path() / "link").native();
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_bad_file(KnnClassifier::load(cpu, pipe), pipe, "pipe");
    expect_bad_file(KnnClassifier::load(cpu, ""), "", "empty");
    ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
    for (const std::string& wrong : {link, pipe, folder.path().native(), (folder.path() / "no" / "model").native()}) {
        const Result<void> saved = model.save(wrong);
        ASSERT_FALSE(saved) << wrong;
        EXPECT_EQ(saved.error().code, ErrorCode::bad_file);
        EXPECT_NE(saved.error().message.find(wrong), std::string::npos) << saved.error().message;
    }
    EXPECT_EQ(bytes_of(path), std::string(500, 'x')) << "a link was followed";
}

// --- progress

struct Listener {
    std::vector<double> heard;
    std::size_t most = std::numeric_limits<std::size_t>::max();  ///< answers that let the call go on
    bool throws = false;

    static bool hear(void* user, double done) {
        auto& self = *static_cast<Listener*>(user);
        self.heard.push_back(done);
        if (self.heard.size() <= self.most) return true;
        if (self.throws) throw std::runtime_error("enough");
        return false;
    }
    [[nodiscard]] Options options() { return {.progress = hear, .progress_user = this}; }

    void expect_whole(std::size_t least) const {
        ASSERT_GE(heard.size(), least);
        EXPECT_EQ(heard.front(), 0);
        EXPECT_EQ(heard.back(), 1);
        EXPECT_TRUE(std::ranges::is_sorted(heard));
        EXPECT_EQ(std::ranges::count(heard, 1.0), 1);
    }
};

/// Calls that work in parts, each large enough for several.
struct Long {
    std::vector<float> points = whole_numbers(40'000 * 40, 5, 10), queries = whole_numbers(1200 * 40, 6, 10);
    std::vector<float> result = std::vector<float>(1200 * 40'000);
    std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(4000 * 4000 * 1), filtered = pixels;
    std::vector<double> exact_points{points.begin(), points.begin() + 40'000 * 4},
        exact_queries{queries.begin(), queries.begin() + 1200 * 4};
    NearestNeighbours model = value_of(NearestNeighbours::fit(Device::cpu(), {points.data(), 40'000, 40}, {.k = 3}));
    Filter7x7 filter{};

    /// By number; the name of the call is told.
    Result<void> call(int which, const Options& options) {
        const Items asked{queries.data(), 1200, 40};
        if (which == 0) return drop(model.kneighbors(asked, options));
        if (which == 1) return drop(model.radius_neighbours({queries.data(), 500, 40}, 1, options));
        if (which == 2)
            return pairwise_distances(Device::cpu(), asked, {points.data(), 40'000, 40}, {}, result.data(), options);
        return convolve_2d(Device::cpu(), {pixels.data(), {4000, 4000, 1}}, filter, Border::zero,
                           {filtered.data(), {4000, 4000, 1}}, options);
    }
    template <class T>
    static Result<void> drop(const Result<T>& result) {
        if (!result) return result.error();
        return {};
    }
};
constexpr int kLongCalls = 4;

TEST(Progress, IsMonotoneAndEndsAtOne) {
    Long all;
    for (int which = 0; which < kLongCalls; ++which) {
        Listener listener;
        expect_ok(all.call(which, listener.options()));
        SCOPED_TRACE(which);
        listener.expect_whole(3);
    }
}

TEST(Progress, CancelsAndLeavesTheModelAlone) {
    Long all;
    for (int which = 0; which < kLongCalls; ++which)
        for (const bool throws : {false, true})
            for (const std::size_t most : {0, 1}) {
                Listener listener{.heard = {}, .most = most, .throws = throws};
                const auto done = all.call(which, listener.options());
                expect_error(done, ErrorCode::cancelled, throws ? "threw \"enough\"" : "returned false");
                EXPECT_EQ(listener.heard.size(), most + 1) << which << ": asked again after the end";
            }
    Listener listener;
    const auto before = value_of(all.model.kneighbors({all.queries.data(), 100, 40}));
    const auto after = value_of(all.model.kneighbors({all.queries.data(), 100, 40}, listener.options()));
    EXPECT_EQ(before.indices, after.indices);
}

TEST(Progress, OfShortCallsIsZeroAndOne) {
    float a[] = {1, 2}, result = 0;
    Listener listener;
    expect_ok(dot_product(Device::cpu(), a, a, 2, &result, listener.options()));
    EXPECT_EQ(listener.heard, (std::vector<double>{0, 1}));
    Listener never{.heard = {}, .most = 0};
    result = -1;
    expect_error(dot_product(Device::cpu(), a, a, 2, &result, never.options()), ErrorCode::cancelled, "after 0 %");
    EXPECT_EQ(result, -1);
    Listener last{.heard = {}, .most = 1};
    expect_ok(dot_product(Device::cpu(), a, a, 2, &result, last.options()));
    const auto plan = plan_dot_product(Device::cpu(), 2, listener.options());
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().message.find("a plan has no progress"), std::string::npos);
}

TEST(Progress, OfExactNeighbours) {
    const Long all;
    const auto model =
        value_of(ExactNearestNeighbours::fit(Device::cpu(), {all.exact_points.data(), 40'000, 4}, {.k = 2}));
    Listener listener;
    const ItemsOfDoubles queries{all.exact_queries.data(), 1200, 4};
    const auto found = value_of(model.kneighbors(queries, listener.options()));
    listener.expect_whole(2);
    Listener never{.heard = {}, .most = 0};
    const auto cancelled = model.kneighbors(queries, never.options());
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, ErrorCode::cancelled);
    EXPECT_EQ(value_of(model.kneighbors(queries)).indices, found.indices);
}

}  // namespace
}  // namespace espalier
