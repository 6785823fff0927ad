// A run of a plan is captured in a CUDA graph, and the graph replayed on other values computes what a call computes.

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "api_helpers.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier {
namespace {

/// A captured piece of work.
class Graph {
public:
    Graph(Stream stream, const std::function<Result<void>()>& enqueue) : stream_(stream) {
        EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
        const Result<void> done = enqueue();
        EXPECT_TRUE(done) << done.error().message;
        EXPECT_EQ(cudaStreamEndCapture(stream, &graph_), cudaSuccess) << cudaGetErrorString(cudaGetLastError());
        EXPECT_EQ(cudaGraphInstantiate(&instance_, graph_, 0), cudaSuccess) << cudaGetErrorString(cudaGetLastError());
    }
    ~Graph() {
        cudaGraphExecDestroy(instance_);
        cudaGraphDestroy(graph_);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    void replay() {
        EXPECT_EQ(cudaGraphLaunch(instance_, stream_), cudaSuccess);
        device::synchronize(stream_);
    }

private:
    Stream stream_;
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t instance_ = nullptr;
};

template <class T>
class Array {
public:
    explicit Array(std::size_t count) : count_(count), memory_(count * sizeof(T)) {}
    [[nodiscard]] T* data() const { return memory_.as<T>(); }
    [[nodiscard]] std::span<T> span() const { return {data(), count_}; }
    void set(int seed) {
        std::vector<T> values(count_);
        for (std::size_t i = 0; i < count_; ++i)
            values[i] = static_cast<T>(((i + static_cast<std::size_t>(seed) * 7919) * 2654435761U >> 8) % 251);
        device::copy_to_device(memory_.data(), values.data(), memory_.size());
        device::synchronize();
    }
    [[nodiscard]] std::vector<T> values() const {
        std::vector<T> copy(count_);
        device::copy_to_host(copy.data(), memory_.data(), memory_.size());
        device::synchronize();
        return copy;
    }

private:
    std::size_t count_;
    device::Buffer memory_;
};

class PlanGraph : public testing::Test {
protected:
    void SetUp() override {
        if (const auto gpu = Device::cuda(); !gpu) GTEST_SKIP() << gpu.error().message;
    }

    static constexpr Options kOptions{.memory = Memory::device, .deterministic = true};

    /// Captures the plan's run over `output`, then changes the inputs twice: a replay gives what `call` gives.
    template <class T>
    void expect_replayed(const Plan& plan, Array<T>& output, const std::function<void(int)>& set_inputs,
                         const std::function<Result<void>(Stream, std::span<std::byte>)>& run,
                         const std::function<Result<void>()>& call) {
        const device::OwnedStream stream;
        const device::Buffer workspace(plan.workspace_bytes());
        set_inputs(0);
        Graph graph(stream.get(), [&] { return run(stream.get(), {workspace.data(), workspace.size()}); });
        for (const int seed : {1, 2}) {
            set_inputs(seed);
            expect_ok(call());
            const std::vector<T> expected = output.values();
            device::fill(output.data(), 0x5A, output.span().size_bytes());
            device::synchronize();
            graph.replay();
            EXPECT_EQ(output.values(), expected) << "seed " << seed;
        }
    }
};

TEST_F(PlanGraph, ADotProduct) {
    const Device gpu = Device::cuda().value();
    for (const std::int64_t elements : {1000, 1 << 22}) {
        Array<float> a(static_cast<std::size_t>(elements)), b(static_cast<std::size_t>(elements)), result(1);
        const auto plan = value_of(plan_dot_product(gpu, elements, kOptions));
        expect_replayed<float>(
            plan, result, [&](int seed) { a.set(seed), b.set(seed + 10); },
            [&](Stream s, auto w) { return plan.run(a.span(), b.span(), result.data(), s, w); },
            [&] { return dot_product(gpu, a.data(), b.data(), elements, result.data(), kOptions); });
    }
}

TEST_F(PlanGraph, AHistogram) {
    const Device gpu = Device::cuda().value();
    for (const std::int64_t size : {5000, 100 << 20}) {
        Array<std::uint8_t> bytes(static_cast<std::size_t>(size));
        Array<std::uint64_t> counts(256);
        const auto plan = value_of(plan_count_bytes(gpu, size, kOptions));
        expect_replayed<std::uint64_t>(
            plan, counts, [&](int seed) { bytes.set(seed); },
            [&](Stream s, auto w) { return plan.run(bytes.span(), counts.data(), s, w); },
            [&] { return count_bytes(gpu, bytes.data(), size, counts.data(), kOptions); });
    }
}

TEST_F(PlanGraph, AConvolution) {
    const Device gpu = Device::cuda().value();
    constexpr ImageShape kShape{1920, 1080, 3};
    Filter5x5 whole{}, real{};
    whole.fill(-1), whole[12] = 24;
    real.fill(0.04F);
    for (const Filter5x5& filter : {whole, real}) {
        Array<std::uint8_t> image(1920 * 1080 * 3), result(1920 * 1080 * 3);
        const auto plan = value_of(plan_convolve_2d(gpu, kShape, filter, Border::mirror, kOptions));
        expect_replayed<std::uint8_t>(
            plan, result, [&](int seed) { image.set(seed); },
            [&](Stream s, auto w) {
                return plan.run({image.data(), kShape}, {result.data(), kShape}, s, w);
            },
            [&] {
                return convolve_2d(gpu, {image.data(), kShape}, filter, Border::mirror, {result.data(), kShape},
                                   kOptions);
            });
    }
}

TEST_F(PlanGraph, DistancesOfItemMajorSets) {
    const Device gpu = Device::cuda().value();
    constexpr std::int64_t kItems = 700, kDims = 24;
    Array<float> q(kItems * kDims), p(kItems * kDims), result(kItems * kItems);
    std::vector<AttributeType> types(kDims, AttributeType::numeric);
    types[3] = AttributeType::nominal;
    const Items queries{q.data(), kItems, kDims}, points{p.data(), kItems, kDims};
    for (const DistanceRule& rule : {DistanceRule{}, DistanceRule{.metric = Metric::mixed_euclidean, .types = types}}) {
        const auto plan = value_of(plan_pairwise_distances(gpu, queries, points, rule, {}, kOptions));
        expect_replayed<float>(
            plan, result, [&](int seed) { q.set(seed), p.set(seed + 10); },
            [&](Stream s, auto w) { return plan.run(queries, points, result.data(), s, w); },
            [&] { return pairwise_distances(gpu, queries, points, rule, result.data(), kOptions); });
    }
}

TEST_F(PlanGraph, ASelection) {
    const Device gpu = Device::cuda().value();
    for (const SelectionShape shape : {SelectionShape{1000, 1000, 10, MatrixLayout::transposed},
                                       SelectionShape{20, 100000, 500, MatrixLayout::transposed},
                                       SelectionShape{1000, 1024, 512, MatrixLayout::row_major, ListOrder::any}}) {
        Array<float> distances(static_cast<std::size_t>(shape.rows * shape.columns)),
            values(static_cast<std::size_t>(shape.rows * shape.k));
        Array<std::int32_t> indices(static_cast<std::size_t>(shape.rows * shape.k));
        const auto plan = value_of(plan_select_smallest_k(gpu, shape, kOptions));
        expect_replayed<std::int32_t>(
            plan, indices, [&](int seed) { distances.set(seed); },
            [&](Stream s, auto w) { return plan.run(distances.span(), values.span(), indices.span(), s, w); },
            [&] { return select_smallest_k(gpu, shape, distances.data(), values.data(), indices.data(), kOptions); });
    }
}

TEST_F(PlanGraph, ACoherentSumOfInterpolatedTraces) {
    const Device gpu = Device::cuda().value();
    const InterpolationShape copied{.receivers = 16, .samples = 600, .padding = 0, .phases = 4};
    const CoherentSumShape shape{.receivers = 16, .samples = 500, .sources = 100, .span = 1900};
    Array<float> traces(16 * 600), copies(16 * 600 * 4), maximum(100);
    Array<std::int32_t> delays(16 * 100), sample(100);
    const auto interpolation = value_of(plan_interpolate_traces(gpu, copied, kOptions));
    const auto sum = value_of(plan_coherent_sum(gpu, shape, Coherence::maximum, kOptions));
    const device::Buffer of_interpolation(interpolation.workspace_bytes());
    expect_replayed<std::int32_t>(
        sum, sample, [&](int seed) { traces.set(seed), delays.set(seed + 10); },
        [&](Stream s, auto w) {
            if (auto done = interpolation.run(traces.span(), copies.span(), s,
                                              {of_interpolation.data(), of_interpolation.size()});
                !done)
                return done;
            return sum.run(copies.span(), delays.span(), maximum.span(), sample.span(), s, w);
        },
        [&] {
            if (auto done = interpolate_traces(gpu, copied, traces.data(), copies.data(), kOptions); !done) return done;
            return maximum_coherence(gpu, shape, copies.data(), delays.data(), maximum.data(), sample.data(), kOptions);
        });
}

TEST_F(PlanGraph, APrediction) {
    const Device gpu = Device::cuda().value();
    constexpr std::int64_t kPoints = 3000, kQueries = 900, kDims = 20;
    Array<float> points(kPoints * kDims), queries(kQueries * kDims);
    points.set(3);
    std::vector<std::int32_t> labels(kPoints);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 7);
    Array<std::int32_t> on_device(kPoints), classes(kQueries);
    device::copy_to_device(on_device.data(), labels.data(), labels.size() * sizeof(std::int32_t));
    device::synchronize();
    const auto model = value_of(KnnClassifier::fit(gpu, {points.data(), kPoints, kDims}, on_device.span(), {.k = 5},
                                                   {.memory = Memory::device}));
    const Items items{queries.data(), kQueries, kDims};
    const auto plan = value_of(model.plan_predict(kQueries, Layout::item_major, {}, kOptions));
    expect_replayed<std::int32_t>(
        plan, classes, [&](int seed) { queries.set(seed); },
        [&](Stream s, auto w) { return plan.run(items, classes.data(), {}, s, w); },
        [&] { return model.predict(items, classes.data(), kOptions); });
}

TEST_F(PlanGraph, CopiesFromPageLockedMemory) {
    const Device gpu = Device::cuda().value();
    constexpr std::int64_t kElements = 100000;
    const device::PinnedBuffer a(kElements * sizeof(float)), result(sizeof(float));
    auto* const values = reinterpret_cast<float*>(a.data());
    auto* const sum = reinterpret_cast<float*>(result.data());
    const auto plan = value_of(plan_dot_product(gpu, kElements, {.deterministic = true}));
    const device::OwnedStream stream;
    const device::Buffer workspace(plan.workspace_bytes());
    const std::span<const float> span(values, kElements);
    std::fill_n(values, kElements, 0.F);
    Graph graph(stream.get(), [&] {
        return plan.run(span, span, sum, stream.get(), {workspace.data(), workspace.size()});
    });
    for (const float value : {1.F, 2.F}) {
        std::fill_n(values, kElements, value);
        graph.replay();
        EXPECT_EQ(*sum, value * value * kElements);
    }
}

/// The last test of the program: what it did before is gone then.
TEST(PlanAfterReset, TellsThatItsArraysAreGone) {
    const auto gpu = Device::cuda();
    if (!gpu) GTEST_SKIP() << gpu.error().message;
    constexpr std::int64_t kElements = 1000;
    const auto plan = value_of(plan_dot_product(gpu.value(), kElements, {.memory = Memory::device}));
    Array<float> a(kElements), result(1);
    const device::Buffer workspace(plan.workspace_bytes());
    const std::span<std::byte> memory{workspace.data(), workspace.size()};
    expect_ok(plan.run(a.span(), a.span(), result.data(), nullptr, memory));
    device::synchronize();
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    if (device::place_of(a.data()).on_device) GTEST_SKIP() << "this GPU reaches all memory of its host";
    expect_invalid(plan.run(a.span(), a.span(), result.data(), nullptr, memory), "a is in host memory, or in none");
}

}  // namespace
}  // namespace espalier
