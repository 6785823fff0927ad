// Models in double precision in files: the same bits again, and nothing of a file that is not as it was written.

#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "espalier/exact_knn.hpp"
#include "kernels/json/crc64.hpp"
#include "tests/kernels/api/api_helpers.hpp"
#include "tests/kernels/api/model_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

struct Case {
    const char* name;
    Metric metric = Metric::euclidean;
    ExactDistance distance{};
    Missing missing = Missing::none;
    std::int64_t k = 5;
    double scale = 1, offset = 0;
    bool holes = false, infinite = false;  ///< among the cells
};

const std::vector<double> kWeights{0.5, 0, 3}, kLast{0, 0, 2}, kNone{0, 0, 0};

std::vector<Case> cases() {
    return {{"euclidean", Metric::euclidean, {}, Missing::none, 5, 1, 1.7e9},
            {"euclidean_infinite", Metric::euclidean, {}, Missing::none, 5, 1, 0, true, true},
            {"missing", Metric::euclidean, {}, Missing::allowed, 7, 1, 0, true},
            {"weights", Metric::manhattan, {.weights = kWeights}, Missing::allowed, 5, 1, 0, true},
            {"one_attribute", Metric::chebyshev, {.weights = kLast}},
            {"no_attribute", Metric::euclidean, {.weights = kNone}},
            {"mixed", Metric::mixed_euclidean, {}, Missing::allowed, 5, 1, 0, true},
            {"mixed_weights", Metric::mixed_euclidean, {.weights = kWeights}},
            {"cosine", Metric::cosine},
            {"cosine_missing", Metric::cosine, {}, Missing::allowed, 5, 1, 0, true},
            {"cosine_infinite", Metric::cosine, {}, Missing::allowed, 5, 1, 0, false, true},
            {"minkowski", Metric::euclidean, {.metric = ExactMetric::minkowski, .p = 3.5}},
            {"minkowski_1", Metric::euclidean, {.metric = ExactMetric::minkowski, .p = 1}},
            {"minkowski_max", Metric::euclidean, {.metric = ExactMetric::minkowski, .p = kInfinity}},
            {"haversine", Metric::euclidean, {.metric = ExactMetric::haversine}, Missing::none, 5, 0.19},
            {"haversine_degrees",
             Metric::euclidean,
             {.metric = ExactMetric::haversine, .degrees = true},
             Missing::allowed,
             5,
             10,
             0,
             true},
            {"hamming", Metric::euclidean, {.metric = ExactMetric::hamming}},
            {"hamming_weights", Metric::euclidean, {.metric = ExactMetric::hamming, .weights = kWeights}},
            {"many", Metric::euclidean, {}, Missing::none, 1100}};
}

class SavedExactModels : public testing::TestWithParam<Case> {
protected:
    static constexpr std::int64_t kQueries = 20;

    /// Few different values, so that some points are equal.
    std::vector<double> table(std::int64_t items, unsigned seed) const {
        std::mt19937 random(seed);
        std::vector<double> values(static_cast<std::size_t>(items * dims_));
        for (double& value : values) {
            value = (static_cast<double>(random() % 17) - 8) * GetParam().scale + GetParam().offset;
            if (GetParam().holes && random() % 20 == 0) value = kNaN;
            if (GetParam().infinite && random() % 50 == 0) value = kInfinity;
            if (value == 0 && random() % 2 == 0) value = -0.0;
        }
        return values;
    }
    [[nodiscard]] NeighbourRule rule() const {
        NeighbourRule made{.k = GetParam().k,
                           .distance = {GetParam().metric, GetParam().missing, {}},
                           .vote = Vote::distance_weighted};
        if (GetParam().metric == Metric::mixed_euclidean) made.distance.types = types_;
        return made;
    }
    [[nodiscard]] ItemsOfDoubles points() const { return {points_.data(), count_, dims_}; }
    [[nodiscard]] ItemsOfDoubles queries() const { return {queries_.data(), kQueries, dims_}; }

    template <class Model>
    void expect_same(const Model& model, const Model& again) const {
        const auto right = value_of(model.kneighbors(queries())), found = value_of(again.kneighbors(queries()));
        EXPECT_TRUE(same_bits(found.distances, right.distances));
        EXPECT_EQ(found.indices, right.indices);
        if constexpr (requires { model.predict(queries()); }) {
            EXPECT_TRUE(same_bits(value_of(again.predict(queries())), value_of(model.predict(queries()))));
        }
        const double radius = std::isnan(right.distances[2]) ? 1 : right.distances[2];
        const auto within = value_of(model.radius_neighbours(queries(), radius));
        const auto near = value_of(again.radius_neighbours(queries(), radius));
        EXPECT_EQ(near.offsets, within.offsets);
        EXPECT_EQ(near.indices, within.indices);
    }

    const std::int64_t dims_ = GetParam().distance.metric == ExactMetric::haversine ? 2 : 3;
    const std::vector<AttributeType> types_{AttributeType::numeric, AttributeType::numeric, AttributeType::nominal};
    const std::int64_t count_ = GetParam().k > 1024 ? 1200 : 240;
    const std::vector<double> points_ = table(count_, 1), queries_ = table(kQueries, 2);
};

TEST_P(SavedExactModels, GiveTheSameBits) {
    const TemporaryFolder folder;
    const std::string path = folder / "model";
    std::vector<std::int32_t> classes;
    std::vector<double> targets;
    for (std::int32_t i = 0; i < count_; ++i) classes.push_back(i % 3), targets.push_back(1.7e9 + i);
    for (const Device& device : usable_devices()) {
        SCOPED_TRACE(device.key());
        const auto classifier =
            value_of(ExactKnnClassifier::fit(device, points(), classes, rule(), GetParam().distance));
        expect_ok(classifier.save(path));
        const auto again = value_of(ExactKnnClassifier::load(device, path));
        expect_same(classifier, again);
        EXPECT_EQ(again.class_count(), 3);
        expect_ok(again.save(path));  // a file of a loaded model is a file of the model
        expect_same(classifier, value_of(ExactKnnClassifier::load(device, path)));
        const auto regressor = value_of(ExactKnnRegressor::fit(device, points(), targets, rule(), GetParam().distance));
        expect_ok(regressor.save(path));
        expect_same(regressor, value_of(ExactKnnRegressor::load(device, path)));
        const auto nearest = value_of(ExactNearestNeighbours::fit(device, points(), rule(), GetParam().distance));
        expect_ok(nearest.save(path));
        expect_same(nearest, value_of(ExactNearestNeighbours::load(device, path)));
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "no temporary file is left";
}

INSTANTIATE_TEST_SUITE_P(Rules, SavedExactModels, testing::ValuesIn(cases()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(ExactFiles, WithoutPointsAreModels) {
    const TemporaryFolder folder;
    const std::string path = folder / "model";
    const double query[2]{};
    const NeighbourRule rule{.k = std::numeric_limits<std::int64_t>::max()};
    expect_ok(value_of(ExactKnnClassifier::fit(Device::cpu(), {nullptr, 0, 2}, {}, rule)).save(path));
    const auto again = value_of(ExactKnnClassifier::load(Device::cpu(), path));
    EXPECT_EQ(again.class_count(), 0);
    EXPECT_EQ(again.predict({query, 1, 2}).error().code, ErrorCode::invalid_argument);  // k is beyond any list
    expect_ok(value_of(ExactKnnClassifier::fit(Device::cpu(), {nullptr, 0, 2}, {}, {.k = 3})).save(path));
    EXPECT_EQ(value_of(value_of(ExactKnnClassifier::load(Device::cpu(), path)).predict({query, 1, 2})),
              std::vector<std::int32_t>{kNoClass});
}

// --- damage

/// A file with each of the parts that there are: types, attributes that are left out, weights, cells, and labels.
std::string whole_file(const std::string& path) {
    const double points[]{1, 2, 3, 4, kNaN, 6, 7, 8, 9}, weights[]{1, 0, 2};
    const std::int32_t classes[]{0, 1, 1};
    const std::vector<AttributeType> types{AttributeType::numeric, AttributeType::numeric, AttributeType::nominal};
    const NeighbourRule rule{.k = 2, .distance = {Metric::mixed_euclidean, Missing::none, types}};
    expect_ok(value_of(ExactKnnClassifier::fit(Device::cpu(), {points, 3, 3}, classes, rule, {.weights = weights}))
                  .save(path));
    return bytes_of(path);
}

TEST(ExactFiles, OfEveryChangedByteAreRefused) {
    const TemporaryFolder folder;
    const std::string path = folder / "model";
    const std::string bytes = whole_file(path);
    const auto load = [&] { return ExactKnnClassifier::load(Device::cpu(), path); };
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (const int flip : {1, 0x80, 0xFF}) {
            std::string changed = bytes;
            changed[i] = static_cast<char>(changed[i] ^ flip);
            put_bytes(path, changed);
            expect_bad_file(load(), path, "it");
        }
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        put_bytes(path, bytes.substr(0, size));
        expect_bad_file(load(), path, "it");
    }
    put_bytes(path, bytes + '\0');
    expect_bad_file(load(), path, "damaged");
    put_bytes(path, bytes);
    EXPECT_TRUE(load());
}

TEST(ExactFiles, OfOthersAreRefusedByName) {
    const TemporaryFolder folder;
    const std::string path = folder / "model", pipe = folder / "pipe", link = folder / "link";
    const Device cpu = Device::cpu();
    const double points[4]{0, 1, 2, 3};
    const float floats[4]{0, 1, 2, 3};
    const auto model = value_of(ExactNearestNeighbours::fit(cpu, {points, 4, 1}, {.k = 1}));
    expect_bad_file(ExactNearestNeighbours::load(cpu, path), path, "no such file");
    expect_ok(model.save(path));
    expect_bad_file(ExactKnnClassifier::load(cpu, path), path, "it holds an ExactNearestNeighbours, not an ExactKnnC");
    expect_bad_file(ExactKnnRegressor::load(cpu, path), path, "not an ExactKnnRegressor");
    expect_bad_file(NearestNeighbours::load(cpu, path), path, "it holds an ExactNearestNeighbours, not a Nearest");
    expect_ok(value_of(NearestNeighbours::fit(cpu, {floats, 4, 1}, {.k = 1})).save(path));
    expect_bad_file(ExactNearestNeighbours::load(cpu, path), path, "it holds a NearestNeighbours");
    put_bytes(path, std::string(500, 'x'));
    expect_bad_file(ExactNearestNeighbours::load(cpu, path), path, "it is no model of espalier");
    expect_bad_file(ExactNearestNeighbours::load(cpu, folder.path().native()), folder.path().native(), "folder");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_bad_file(ExactNearestNeighbours::load(cpu, pipe), pipe, "pipe");
    expect_bad_file(ExactNearestNeighbours::load(cpu, ""), "", "empty");
    EXPECT_EQ(ExactNearestNeighbours::load(cpu, path, {.memory = Memory::device}).error().code,
              ErrorCode::invalid_argument);
    ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
    for (const std::string& wrong : {link, pipe, folder.path().native(), folder / "no/model"}) {
        const Result<void> saved = model.save(wrong);
        ASSERT_FALSE(saved) << wrong;
        EXPECT_EQ(saved.error().code, ErrorCode::bad_file);
        EXPECT_NE(saved.error().message.find(wrong), std::string::npos) << saved.error().message;
    }
    EXPECT_EQ(bytes_of(path), std::string(500, 'x')) << "a link was followed";
}

/// Both checksums of a file that somebody changed on purpose.
std::string sealed(std::string bytes) {
    const auto put = [&](std::size_t at) {
        std::uint64_t crc = crc64_of(std::string_view(bytes).substr(0, at));
        for (std::size_t b = 0; b < 8; ++b) bytes[at + b] = static_cast<char>(crc >> 8 * b & 0xFF);
    };
    put(88);
    put(bytes.size() - 8);
    return bytes;
}

struct Forgery {
    std::size_t at;
    std::string bytes;
    const char* part;  ///< of the message
};

template <class T>
std::string bits(T value) {
    std::string text(sizeof value, '\0');
    std::memcpy(text.data(), &value, sizeof value);
    return text;
}

/// Checksums that are right make no model of what no fit accepts.
TEST(ExactFiles, ThatNoFitMakesAreRefused) {
    const TemporaryFolder folder;
    const std::string path = folder / "model";
    const std::string bytes = whole_file(path);
    ASSERT_EQ(sealed(bytes), bytes);
    // A header of 96 bytes; then 2 types, 2 numbers of attributes, 2 weights, 6 values, 3 classes, and the checksum.
    constexpr std::size_t kTypes = 96, kKept = 98, kWeightsAt = 106, kValues = 122, kClassesAt = 170;
    ASSERT_EQ(bytes.size(), kClassesAt + 12 + 8);
    const std::vector<Forgery> forgeries{{8, bits(std::uint32_t{2}), "version 2"},
                                         {24, bits(std::int64_t{4}), "should have"},
                                         {24, bits(std::int64_t{-1}), "sizes"},
                                         {24, bits(std::int64_t{1} << 40), "sizes"},
                                         {32, bits(std::int64_t{-1}), "sizes"},
                                         {32, bits(std::int64_t{1} << 61), "sizes"},
                                         {32, bits(std::int64_t{4}), "sizes"},  // more than were given
                                         {40, bits(std::int64_t{0}), "sizes"},
                                         {48, bits(std::uint32_t{8}), "rule"},
                                         {48, bits(std::uint32_t{0}), "rule"},  // types, but not mixed_euclidean
                                         {52, bits(std::uint32_t{2}), "rule"},
                                         {56, bits(std::uint32_t{2}), "rule"},
                                         {60, bits(std::uint32_t{0}), "rule"},
                                         {60, bits(std::uint32_t{7}), "rule"},  // degrees
                                         {60, bits(std::uint32_t{9}), "rule"},
                                         {60, bits(std::uint32_t{5}), "missing"},
                                         {64, bits(3.0), "rule"},
                                         {72, bits(std::int64_t{1}), "sizes"},
                                         {72, bits(std::int64_t{2}), "should have"},
                                         {kTypes, "\2", "type"},
                                         {kKept, bits(std::int32_t{-1}), "number"},
                                         {kKept, bits(std::int32_t{2}), "number"},
                                         {kKept + 4, bits(std::int32_t{3}), "number"},
                                         {kWeightsAt, bits(0.0), "weight"},
                                         {kWeightsAt, bits(-1.0), "weight"},
                                         {kWeightsAt, bits(kInfinity), "weight"},
                                         {kWeightsAt + 8, bits(kNaN), "weight"},
                                         {kValues, bits(kNaN), "missing"},
                                         {kClassesAt, bits(std::int32_t{-1}), "class"},
                                         {kClassesAt, bits(std::numeric_limits<std::int32_t>::max()), "class"}};
    for (const Forgery& forgery : forgeries) {
        std::string forged = bytes;
        forged.replace(forgery.at, forgery.bytes.size(), forgery.bytes);
        put_bytes(path, sealed(forged));
        SCOPED_TRACE("byte " + std::to_string(forgery.at));
        expect_bad_file(ExactKnnClassifier::load(Device::cpu(), path), path, forgery.part);
    }
}

TEST(ExactFiles, OfPlacesThatAreNoneAreRefused) {
    const TemporaryFolder folder;
    const std::string path = folder / "model";
    const double places[4]{0.5, 3, -1, 2};
    const auto model = value_of(
        ExactNearestNeighbours::fit(Device::cpu(), {places, 2, 2}, {.k = 1}, {.metric = ExactMetric::haversine}));
    expect_ok(model.save(path));
    const std::string bytes = bytes_of(path);
    constexpr std::size_t kWeightsAt = 96, kValues = 112;
    for (const Forgery& forgery : std::vector<Forgery>{{kValues, bits(1.6), "latitude"},
                                                       {kValues + 16, bits(-kInfinity), "latitude"},
                                                       {kWeightsAt, bits(2.0), "weights"}}) {
        std::string forged = bytes;
        forged.replace(forgery.at, forgery.bytes.size(), forgery.bytes);
        put_bytes(path, sealed(forged));
        expect_bad_file(ExactNearestNeighbours::load(Device::cpu(), path), path, forgery.part);
    }
}

}  // namespace
}  // namespace espalier
