#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "espalier/espalier.hpp"

/// One call of every public function that computes, large enough for threads to be worth it.
namespace espalier {

/// The bits of a result, as a number (FNV-1a).
template <class T>
std::uint64_t bits_of(const std::vector<T>& values) {
    std::uint64_t hash = 14695981039346656037U;
    const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
    for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) hash = (hash ^ bytes[i]) * 1099511628211U;
    return hash;
}

/// Names of the functions with the bits of what they gave.
using AllBits = std::vector<std::pair<std::string, std::uint64_t>>;

inline void require(const Result<void>& done) {
    if (!done) throw std::runtime_error(done.error().message);
}
template <class T>
T require(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(result).value();
}

/// Inputs of all of them; sums of the numbers cancel.
class EveryFunction {
public:
    EveryFunction() {
        std::mt19937 random(20);
        for (std::size_t i = 0; i < kElements; ++i) {
            const float magnitude =
                std::ldexp(static_cast<float>(random() % 4096 + 1), static_cast<int>(random() % 40));
            a_.push_back(random() % 2 ? magnitude : -magnitude);
            b_.push_back(static_cast<float>(random() % 1000) / 500 - 1);
            bytes_.push_back(static_cast<std::uint8_t>(random()));
        }
        for (std::size_t i = 0; i < kPoints * kDims; ++i) points_.push_back(b_[i] * 100);
        exact_points_.assign(points_.begin(), points_.end());
        for (std::size_t i = 0; i < kPoints; ++i) classes_.push_back(static_cast<std::int32_t>(random() % 5));
        std::copy_n(b_.begin(), filter_.size(), filter_.begin());
        std::copy_n(b_.begin(), large_filter_.size(), large_filter_.begin());
        for (int i = 0; i < kReceivers; ++i) receivers_.push_back({random() % 1000 * 1.0, random() % 1000 * 1.0, 0});
        delays_.resize(kReceivers * static_cast<std::size_t>(kGrid.nodes()));
    }

    AllBits run(const Options& options = {}) {
        AllBits all;
        const Device cpu = Device::cpu();
        std::vector<float> one(1);
        for (const std::int64_t elements : {std::int64_t{1000}, std::int64_t{70001}, std::int64_t{kElements}}) {
            require(dot_product(cpu, a_.data(), b_.data(), elements, one.data(), options));
            all.emplace_back("dot_product", bits_of(one));
        }
        std::vector<std::uint64_t> counts(256);
        require(count_bytes(cpu, bytes_.data(), kElements, counts.data(), options));
        all.emplace_back("count_bytes", bits_of(counts));
        std::vector<std::uint8_t> pixels(static_cast<std::size_t>(kShape.width * kShape.height * kShape.channels));
        require(convolve_2d(cpu, {bytes_.data(), kShape}, filter_, Border::mirror, {pixels.data(), kShape}, options));
        all.emplace_back("convolve_2d", bits_of(pixels));
        require(
            convolve_2d(cpu, {bytes_.data(), kShape}, large_filter_, Border::mirror, {pixels.data(), kShape}, options));
        all.emplace_back("convolve_2d 7x7", bits_of(pixels));
        neighbours(all, options);
        seismic(all, options);
        return all;
    }

private:
    void neighbours(AllBits& all, const Options& options) {
        const Device cpu = Device::cpu();
        const Items points{points_.data(), kPoints, kDims}, queries{points_.data() + 7, kQueries, kDims};
        std::vector<float> distances(kQueries * kPoints), values(kQueries * kNearest);
        std::vector<std::int32_t> indices(values.size());
        require(pairwise_distances(cpu, queries, points, {}, distances.data(), options));
        all.emplace_back("pairwise_distances", bits_of(distances));
        for (const auto layout : {MatrixLayout::transposed, MatrixLayout::row_major}) {
            const SelectionShape shape{.rows = kQueries, .columns = kPoints, .k = kNearest, .layout = layout};
            require(select_smallest_k(cpu, shape, distances.data(), values.data(), indices.data(), options));
            all.emplace_back("select_smallest_k values", bits_of(values));
            all.emplace_back("select_smallest_k indices", bits_of(indices));
        }
        const NeighbourRule rule{.k = kNearest, .distance = {}, .vote = Vote::distance_weighted};
        const auto model = require(KnnClassifier::fit(cpu, points, classes_, rule, options));
        all.emplace_back("predict", bits_of(require(model.predict(queries, options))));
        all.emplace_back("kneighbors", bits_of(require(model.kneighbors(queries, options)).distances));
        const auto sharded = require(ShardedNearestNeighbours::fit(std::vector{cpu, cpu}, points, rule,
                                                                   {.bytes_per_device = 16 * 9000}, options));
        all.emplace_back("sharded kneighbors", bits_of(require(sharded.kneighbors(queries, options)).distances));
        const ItemsOfDoubles exact{exact_points_.data(), kPoints, kDims}, asked{exact_points_.data(), 64, kDims};
        const auto exactly = require(ExactKnnClassifier::fit(cpu, exact, classes_, rule, options));
        all.emplace_back("exact kneighbors", bits_of(require(exactly.kneighbors(asked, options)).distances));
    }

    void seismic(AllBits& all, const Options& options) {
        const Device cpu = Device::cpu();
        require(compute_delays(cpu, receivers_, kGrid, {.samples_per_metre = 0.5}, delays_.data(), options));
        all.emplace_back("compute_delays", bits_of(delays_));
        const CoherentSumShape shape{
            .receivers = kReceivers, .samples = kSamples, .sources = kGrid.nodes(), .span = kSpan};
        std::vector<float> sums(static_cast<std::size_t>(shape.sources * kSamples)),
            maximum(static_cast<std::size_t>(shape.sources));
        std::vector<std::int32_t> sample(maximum.size());
        require(sum_coherently(cpu, shape, a_.data(), delays_.data(), sums.data(), options));
        all.emplace_back("sum_coherently", bits_of(sums));
        require(maximum_coherence(cpu, shape, a_.data(), delays_.data(), maximum.data(), sample.data(), options));
        all.emplace_back("maximum_coherence", bits_of(maximum));
        const InterpolationShape phases{.receivers = kReceivers, .samples = kSamples, .padding = 0, .phases = 4};
        std::vector<float> copies(kReceivers * kSamples * 4);
        require(interpolate_traces(cpu, phases, a_.data(), copies.data(), options));
        all.emplace_back("interpolate_traces", bits_of(copies));
    }

    static constexpr std::size_t kElements = 600'001, kPoints = 2003, kDims = 9, kQueries = 300, kNearest = 7;
    static constexpr std::int64_t kReceivers = 16, kSamples = 4001, kSpan = 2000;
    static constexpr ImageShape kShape{.width = 401, .height = 301, .channels = 3};
    static constexpr SourceGrid kGrid{.spacing = {100, 100, 50}, .columns = 4, .rows = 3, .layers = 3};
    std::vector<float> a_, b_, points_;
    std::vector<double> exact_points_;
    std::vector<std::uint8_t> bytes_;
    std::vector<std::int32_t> classes_, delays_;
    std::vector<Point> receivers_;
    Filter5x5 filter_{};
    Filter7x7 large_filter_{};
};

}  // namespace espalier
