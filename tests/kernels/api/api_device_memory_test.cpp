// Calls on arrays that are in a GPU's memory already: the host executor's, or a real one's.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "api_helpers.hpp"
#include "kernels/device/runtime.hpp"
#include "reference_cpu/convolution_2d.hpp"

namespace espalier {
namespace {

constexpr ImageShape kShape{37, 23, 3};
constexpr std::size_t kBytes = 37 * 23 * 3;

class DeviceMemory : public testing::Test {
protected:
    void SetUp() override {
        if (const auto gpu = Device::cuda(); !gpu) GTEST_SKIP() << gpu.error().message;
    }

    DeviceMemory() : image_(kBytes) {
        for (std::size_t i = 0; i < kBytes; ++i) image_[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
        filter_.fill(-1);
        filter_[12] = 24;
    }

    /// Filters between device memory that starts `offset` bytes into its allocations.
    std::vector<std::uint8_t> convolve(std::size_t offset, const Options& options) {
        const device::Buffer image(kBytes + offset), result(kBytes + offset);
        device::copy_to_device(image.data() + offset, image_.data(), kBytes);
        expect_ok(convolve_2d(Device::cuda().value(), {image.as<std::uint8_t>() + offset, kShape}, filter_,
                              Border::mirror, {result.as<std::uint8_t>() + offset, kShape}, options));
        device::synchronize(options.stream);
        std::vector<std::uint8_t> values(kBytes);
        device::copy_to_host(values.data(), result.data() + offset, kBytes);
        device::synchronize();
        return values;
    }

    [[nodiscard]] std::vector<std::uint8_t> expected() const {
        return reference::convolution_2d(image_, 37, 23, 3, filter_, Border::mirror);
    }

    std::vector<std::uint8_t> image_;
    Filter5x5 filter_;
};

TEST_F(DeviceMemory, IsUsedInPlaceOrAlignedFirst) {
    for (const std::size_t offset : {0U, 1U, 16U, 512U})
        EXPECT_EQ(convolve(offset, {.memory = Memory::device}), expected()) << "offset " << offset;
}

TEST_F(DeviceMemory, WorkIsEnqueuedOnTheStreamGiven) {
    const device::OwnedStream stream;
    for (const bool wait : {true, false})
        EXPECT_EQ(convolve(0, {.memory = Memory::device, .stream = stream.get(), .wait = wait}), expected());
}

/// A stream that is busy for a while before it writes what was put after it.
class BusyStream {
public:
    static constexpr std::size_t kLoad = std::size_t{1} << 28;
    static constexpr int kCopies = 200;

    explicit BusyStream(const DeviceInfo& info) : copies_(info.emulated ? 0 : kCopies) {
        if (copies_ > 0) from_ = device::Buffer(kLoad), to_ = device::Buffer(kLoad);
    }
    [[nodiscard]] Stream get() const { return stream_.get(); }
    [[nodiscard]] bool is_real() const { return copies_ > 0; }
    void keep_busy() {
        for (int i = 0; i < copies_; ++i) device::copy_on_device(to_.data(), from_.data(), kLoad, get());
    }

private:
    int copies_;
    device::OwnedStream stream_;
    device::Buffer from_, to_;
};

/// What is written to the input behind a stream's earlier work is what a call on this stream reads, and its result is
/// there when the stream is done. A call that ran on another stream would read the zeros. The variants named have a
/// workspace or staged arrays, which must not make the call wait either.
TEST_F(DeviceMemory, CallsKeepTheOrderOfTheirStreamAndDoNotWait) {
    const Device gpu = Device::cuda().value();
    BusyStream stream(device::open(device::current()));
    for (const std::size_t offset : {0U, 1U}) {  // in place, and through aligned copies
        const device::Buffer image(kBytes + offset), late(kBytes), result(kBytes + offset);
        device::copy_to_device(late.data(), image_.data(), kBytes);
        device::fill(image.data(), 0, image.size());
        device::synchronize();
        const auto call = [&] {
            return convolve_2d(gpu, {image.as<std::uint8_t>() + offset, kShape}, filter_, Border::mirror,
                               {result.as<std::uint8_t>() + offset, kShape},
                               {.memory = Memory::device, .stream = stream.get(), .wait = false});
        };
        expect_ok(call());  // loads its code and makes its textures, for which a driver may wait
        device::synchronize(stream.get());

        device::Event begin, enqueued;
        begin.record(stream.get());
        stream.keep_busy();
        device::copy_on_device(image.data() + offset, late.data(), kBytes, stream.get());
        const auto before = std::chrono::steady_clock::now();
        expect_ok(call());
        const std::chrono::duration<double, std::nano> calling = std::chrono::steady_clock::now() - before;
        enqueued.record(stream.get());
        enqueued.wait_for();
        if (stream.is_real()) {
            EXPECT_LT(calling.count(), 0.2 * enqueued.nanoseconds_since(begin)) << "the call waited for its stream";
        }
        std::vector<std::uint8_t> values(kBytes);
        device::copy_to_host(values.data(), result.data() + offset, kBytes);
        device::synchronize();
        EXPECT_EQ(values, expected()) << "offset " << offset;
    }
}

/// 16 calls of each of two threads, each on its own stream, with arrays of types and workspaces.
TEST_F(DeviceMemory, ServesTwoStreamsAtOnce) {
    const Device gpu = Device::cuda().value();
    const std::array types{AttributeType::numeric, AttributeType::nominal};
    const auto distances_on_a_stream = [&](float shift, std::vector<float>& distances) {
        const device::OwnedStream stream;
        const float queries[] = {1 + shift, 2, 3, 4}, points[] = {1, 1, 1, 5};
        const device::Buffer q(sizeof queries), p(sizeof points), result(16 * 4 * sizeof(float));
        device::copy_to_device(q.data(), queries, sizeof queries, stream.get());
        device::copy_to_device(p.data(), points, sizeof points, stream.get());
        for (int i = 0; i < 16; ++i)
            expect_ok(pairwise_distances(
                gpu, {q.as<float>(), 2, 2, Layout::attribute_major}, {p.as<float>(), 2, 2, Layout::attribute_major},
                {Metric::mixed_euclidean, Missing::none, types}, {result.as<float>() + 4 * i, MatrixLayout::transposed},
                {.memory = Memory::device, .stream = stream.get(), .wait = false}));
        distances.resize(64);
        device::copy_to_host(distances.data(), result.data(), 64 * sizeof(float), stream.get());
        device::synchronize(stream.get());
    };
    std::vector<float> one, other;
    std::thread beside([&] { distances_on_a_stream(0, one); });
    distances_on_a_stream(2, other);
    beside.join();
    const float root2 = 1.41421356F, root5 = 2.23606798F;
    const float expected_one[] = {1, root2, 1, root2}, expected_other[] = {root5, root2, root5, root2};
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_NEAR(one[i], expected_one[i % 4], 1e-6) << i;
        EXPECT_NEAR(other[i], expected_other[i % 4], 1e-6) << i;
    }
}

/// Same bits from equal calls where a program asks for them, whatever the tree would choose.
TEST_F(DeviceMemory, DeterministicSumsAreTheSame) {
    const Device gpu = Device::cuda().value();
    constexpr std::int64_t kElements = 100'000;
    std::vector<float> a(kElements);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = 1.0F / static_cast<float>(i + 1);
    std::vector<float> results(50);
    for (float& result : results)
        expect_ok(dot_product(gpu, a.data(), a.data(), kElements, &result, {.deterministic = true}));
    EXPECT_EQ(std::ranges::count(results, results[0]), 50);
    EXPECT_TRUE(explain_dot_product(gpu, kElements, {.deterministic = true}).value().deterministic());
    EXPECT_EQ(explain_dot_product(gpu, kElements, {.deterministic = true, .variant = "atomic_float"}).error().code,
              ErrorCode::unsupported);
}

TEST_F(DeviceMemory, ServesDistancesThatNeedTypesFromTheHost) {
    const float queries[] = {1, 2, 3, 4}, points[] = {1, 1, 1, 5};  // attribute-major: 2 items of 2 attributes
    const AttributeType types[] = {AttributeType::numeric, AttributeType::nominal};
    const device::Buffer q(sizeof queries), p(sizeof points), result(4 * sizeof(float));
    device::copy_to_device(q.data(), queries, sizeof queries);
    device::copy_to_device(p.data(), points, sizeof points);
    expect_ok(pairwise_distances(
        Device::cuda().value(), {q.as<float>(), 2, 2, Layout::attribute_major},
        {p.as<float>(), 2, 2, Layout::attribute_major}, {Metric::mixed_euclidean, Missing::none, types},
        {result.as<float>(), MatrixLayout::transposed}, {.memory = Memory::device, .wait = false}));
    float distances[4];
    device::copy_to_host(distances, result.data(), sizeof distances);
    device::synchronize();
    const float root2 = 1.41421356F;
    const float wanted[] = {1, root2, 1, root2};  // (1,3)(1,1) (2,4)(1,1) (1,3)(1,5) (2,4)(1,5)
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(distances[i], wanted[i], 1e-6) << i;
}

TEST_F(DeviceMemory, HoldsTrainingSetQueriesAndNeighbours) {
    const Device gpu = Device::cuda().value();
    constexpr Options on_device{.memory = Memory::device};
    const float points[] = {0, 1, 2, 10, 0, 0, 0, 0}, queries[] = {1.2F, 9, 0, 0};  // attribute-major, 2 attributes
    const std::int32_t labels[] = {0, 0, 1, 1};
    const device::Buffer p(sizeof points), q(sizeof queries), l(sizeof labels), classes(8), distances(16), indices(16);
    device::copy_to_device(p.data(), points, sizeof points);
    device::copy_to_device(q.data(), queries, sizeof queries);
    device::copy_to_device(l.data(), labels, sizeof labels);
    device::synchronize();
    const auto fitted = KnnClassifier::fit(gpu, {p.as<float>(), 4, 2, Layout::attribute_major},
                                           {l.as<std::int32_t>(), 4}, {.k = 2}, on_device);
    ASSERT_TRUE(fitted) << fitted.error().message;
    const Items asked{q.as<float>(), 2, 2, Layout::attribute_major};
    expect_ok(fitted.value().predict(asked, classes.as<std::int32_t>(), on_device));
    expect_ok(fitted.value().kneighbors(asked, distances.as<float>(), indices.as<std::int32_t>(), on_device));
    std::int32_t predicted[2], nearest[4];
    device::copy_to_host(predicted, classes.data(), sizeof predicted);
    device::copy_to_host(nearest, indices.data(), sizeof nearest);
    device::synchronize();
    EXPECT_EQ(predicted[0], 0);  // of the classes 0 and 1, one vote each, the smaller
    EXPECT_EQ(predicted[1], 1);
    EXPECT_EQ((std::vector{nearest[0], nearest[1], nearest[2], nearest[3]}), (std::vector{1, 2, 3, 2}));

    EXPECT_FALSE(fitted.value().predict(asked, on_device)) << "a vector is in host memory";
    EXPECT_FALSE(fitted.value().kneighbors({q.as<float>(), 2, 2, Layout::item_major}, on_device));
}

TEST_F(DeviceMemory, IsNotForModelsInShards) {
    const Device gpu = Device::cuda().value();
    const float points[] = {0, 1, 2, 10}, queries[] = {1.2F, 9};
    const device::Buffer q(sizeof queries), distances(16), indices(16);
    const std::vector gpus{gpu};
    const auto fitted = ShardedNearestNeighbours::fit(gpus, {points, 4, 1}, {.k = 2});
    ASSERT_TRUE(fitted) << fitted.error().message;
    std::int32_t nearest[4];
    expect_ok(fitted.value().kneighbors({queries, 2, 1}, {nullptr, nearest}));
    expect_invalid(fitted.value().kneighbors({q.as<float>(), 2, 1}, {nullptr, nearest}), "queries.values");
    expect_invalid(fitted.value().kneighbors({queries, 2, 1}, {distances.as<float>(), nearest}), "distances");
    expect_invalid(fitted.value().kneighbors({queries, 2, 1}, {nullptr, indices.as<std::int32_t>()}), "indices");
}

TEST_F(DeviceMemory, ThatIsNullIsRefused) {
    expect_invalid(convolve_2d(Device::cuda().value(), {nullptr, kShape}, filter_, Border::zero, {nullptr, kShape},
                               {.memory = Memory::device}),
                   "image.data is null");
}

}  // namespace
}  // namespace espalier
