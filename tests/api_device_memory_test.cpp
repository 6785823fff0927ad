// Calls on arrays that are in a GPU's memory already: the host executor's, or a real one's.

#include <cstring>
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
        device::synchronize(static_cast<Stream>(options.stream));
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

TEST_F(DeviceMemory, ServesDistancesThatNeedTypesFromTheHost) {
    const float queries[] = {1, 2, 3, 4}, points[] = {1, 1, 1, 5};  // attribute-major: 2 items of 2 attributes
    const AttributeType types[] = {AttributeType::numeric, AttributeType::nominal};
    const device::Buffer q(sizeof queries), p(sizeof points), result(4 * sizeof(float));
    device::copy_to_device(q.data(), queries, sizeof queries);
    device::copy_to_device(p.data(), points, sizeof points);
    expect_ok(pairwise_distances(Device::cuda().value(), {q.as<float>(), 2, 2, Layout::attribute_major},
                                 {p.as<float>(), 2, 2, Layout::attribute_major},
                                 {Metric::mixed_euclidean, Missing::none, types}, result.as<float>(),
                                 {.memory = Memory::device, .wait = false}));
    float distances[4];
    device::copy_to_host(distances, result.data(), sizeof distances);
    device::synchronize();
    const float root2 = 1.41421356F;
    const float wanted[] = {1, root2, 1, root2};  // (1,3)(1,1) (2,4)(1,1) (1,3)(1,5) (2,4)(1,5)
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(distances[i], wanted[i], 1e-6) << i;
}

TEST_F(DeviceMemory, ThatIsNullIsRefused) {
    expect_invalid(convolve_2d(Device::cuda().value(), {nullptr, kShape}, filter_, Border::zero, {nullptr, kShape},
                               {.memory = Memory::device}),
                   "image.data is null");
}

}  // namespace
}  // namespace espalier
