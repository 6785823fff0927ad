// The library as a user calls it, by convolve_2d: results against the oracle, devices, options, explanations
// and every error.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "api_helpers.hpp"
#include "reference_cpu/convolution_2d.hpp"

namespace espalier {
namespace {

std::vector<std::uint8_t> noise(std::size_t size) {
    std::mt19937 random(1);
    std::vector<std::uint8_t> values(size);
    for (auto& value : values) value = static_cast<std::uint8_t>(random());
    return values;
}

Filter5x5 laplace() {
    Filter5x5 filter;
    filter.fill(-1);
    filter[12] = 24;
    return filter;
}

TEST(Version, OfHeadersAndLibraryAgree) { EXPECT_STREQ(library_version(), kVersion); }

TEST(Devices, DescribeThemselves) {
    for (const Device& device : usable_devices()) {
        EXPECT_FALSE(device.key().empty());
        EXPECT_NE(device.description().find(device.key()), std::string::npos);
        EXPECT_EQ(device.ordinal(), device.is_cuda() ? 0 : -1);
    }
    EXPECT_EQ(Device::cpu(), Device::cpu());
}

TEST(Devices, AreAtLeastThoseThatTheProgramWasLinkedFor) { EXPECT_GE(usable_devices().size(), ESPALIER_TEST_DEVICES); }

TEST(Devices, TheBestIsNeverTheHostExecutor) { EXPECT_NE(Device::best().key(), "host-executor"); }

TEST(Devices, ThatAreNotThereAreErrors) {
    for (const int ordinal : {-1, 1000}) {
        const auto device = Device::cuda(ordinal);
        ASSERT_FALSE(device);
        EXPECT_EQ(device.error().code, ErrorCode::no_device);
        EXPECT_FALSE(device.error().message.empty());
    }
}

TEST(Convolution, EqualsTheOracleOnEveryDeviceAndBorder) {
    for (const Device& device : usable_devices())
        for (const Border border : {Border::zero, Border::replicate, Border::mirror})
            for (const ImageShape shape : {ImageShape{1, 1, 1}, {37, 23, 3}, {64, 5, 4}, {0, 7, 3}, {7, 0, 1}}) {
                const auto size = static_cast<std::size_t>(shape.width * shape.height * shape.channels);
                const auto pixels = noise(size);
                std::vector<std::uint8_t> result(size, 0xAA);
                const auto done =
                    convolve_2d(device, {pixels.data(), shape}, laplace(), border, {result.data(), shape});
                ASSERT_TRUE(done) << done.error().message;
                EXPECT_EQ(result, reference::convolution_2d(pixels, shape.width, shape.height, shape.channels,
                                                            laplace(), border))
                    << device.key();
            }
}

TEST(Convolution, AcceptsImagesAtAnyAddress) {
    constexpr ImageShape shape{33, 17, 3};
    constexpr std::size_t size = 33 * 17 * 3;
    const auto pixels = noise(size);
    for (const Device& device : usable_devices())
        for (std::size_t offset = 0; offset < 5; ++offset) {
            std::vector<std::uint8_t> from(size + offset), to(size + offset);
            std::copy(pixels.begin(), pixels.end(), from.begin() + static_cast<std::ptrdiff_t>(offset));
            const auto done = convolve_2d(device, {from.data() + offset, shape}, laplace(), Border::mirror,
                                          {to.data() + offset, shape});
            ASSERT_TRUE(done) << done.error().message;
            to.erase(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(offset));
            EXPECT_EQ(to, reference::convolution_2d(pixels, 33, 17, 3, laplace(), Border::mirror));
        }
}

TEST(Convolution, MayRunOnManyThreadsAtOnce) {
    constexpr ImageShape shape{40, 30, 3};
    const auto pixels = noise(40 * 30 * 3);
    const auto expected = reference::convolution_2d(pixels, 40, 30, 3, laplace(), Border::zero);
    for (const Device& device : usable_devices()) {
        std::vector<std::vector<std::uint8_t>> results(4, std::vector<std::uint8_t>(pixels.size()));
        std::vector<std::thread> threads;
        for (auto& result : results)
            threads.emplace_back([&] {
                for (int i = 0; i < 3; ++i)
                    EXPECT_TRUE(
                        convolve_2d(device, {pixels.data(), shape}, laplace(), Border::zero, {result.data(), shape}));
            });
        for (auto& thread : threads) thread.join();
        for (const auto& result : results) EXPECT_EQ(result, expected);
    }
}

class ConvolutionErrors : public testing::Test {
protected:
    Result<void> convolve(ImageShape shape, ImageShape result_shape, const Options& options = {}) {
        return convolve_2d(Device::cpu(), {pixels_.data(), shape}, laplace(), border_, {result_.data(), result_shape},
                           options);
    }
    std::vector<std::uint8_t> pixels_ = noise(12), result_ = std::vector<std::uint8_t>(12, 7);
    Border border_ = Border::zero;
};

TEST_F(ConvolutionErrors, Shapes) {
    expect_error(convolve({-2, 2, 3}, {-2, 2, 3}), ErrorCode::invalid_argument, "negative");
    expect_error(convolve({2, -2, 3}, {2, -2, 3}), ErrorCode::invalid_argument, "negative");
    expect_error(convolve({2, 2, 2}, {2, 2, 2}), ErrorCode::invalid_argument, "channels");
    expect_error(convolve({2, 2, 3}, {2, 1, 3}), ErrorCode::invalid_argument, "one shape");
    constexpr auto huge = std::numeric_limits<std::int64_t>::max();
    expect_error(convolve({huge, huge, 4}, {huge, huge, 4}), ErrorCode::invalid_argument, "more than memory");
    expect_error(convolve({huge / 4, 1, 4}, {huge / 4, 1, 4}), ErrorCode::invalid_argument, "more than memory");
    border_ = static_cast<Border>(3);
    expect_error(convolve({2, 2, 3}, {2, 2, 3}), ErrorCode::invalid_argument, "border");
    EXPECT_EQ(result_, std::vector<std::uint8_t>(12, 7));  // an error leaves the result alone
}

TEST_F(ConvolutionErrors, Pointers) {
    constexpr ImageShape shape{2, 2, 3};
    const auto filter = laplace();
    const auto cpu = Device::cpu();
    const auto zero = Border::zero;
    expect_error(convolve_2d(cpu, {nullptr, shape}, filter, zero, {result_.data(), shape}), ErrorCode::invalid_argument,
                 "image.data");
    expect_error(convolve_2d(cpu, {pixels_.data(), shape}, filter, zero, {nullptr, shape}), ErrorCode::invalid_argument,
                 "result.data");
    expect_error(convolve_2d(cpu, {pixels_.data(), shape}, filter, zero, {pixels_.data(), shape}),
                 ErrorCode::invalid_argument, "overlap");
    std::vector<std::uint8_t> both(23);
    expect_error(convolve_2d(cpu, {both.data(), shape}, filter, zero, {both.data() + 11, shape}),
                 ErrorCode::invalid_argument, "overlap");
    expect_error(convolve_2d(cpu, {both.data() + 11, shape}, filter, zero, {both.data(), shape}),
                 ErrorCode::invalid_argument, "overlap");
    both.resize(24);
    EXPECT_TRUE(convolve_2d(cpu, {both.data(), shape}, filter, zero, {both.data() + 12, shape}));
    EXPECT_TRUE(convolve_2d(cpu, {nullptr, {0, 2, 3}}, filter, zero, {nullptr, {0, 2, 3}}));
}

TEST_F(ConvolutionErrors, OptionsThatTheCpuHasNot) {
    int anything = 0;
    expect_error(convolve({2, 2, 3}, {2, 2, 3}, {.memory = Memory::device}), ErrorCode::invalid_argument, "memory");
    expect_error(convolve({2, 2, 3}, {2, 2, 3}, {.stream = reinterpret_cast<Stream>(&anything)}),
                 ErrorCode::invalid_argument, "stream");
}

TEST_F(ConvolutionErrors, ForcedVariants) {
    EXPECT_TRUE(convolve({2, 2, 3}, {2, 2, 3}, {.variant = "cpu_scalar"}));
    expect_error(convolve({2, 2, 3}, {2, 2, 3}, {.variant = "no_such_variant"}), ErrorCode::unknown_variant,
                 "cpu_scalar");
    expect_error(convolve({2, 2, 3}, {2, 2, 3}, {.variant = "cpu_scalar:block=1"}), ErrorCode::unknown_variant,
                 "configuration");
}

TEST(Explain, SaysWhatWouldRun) {
    for (const Device& device : usable_devices()) {
        const auto why = explain_convolve_2d(device, {640, 480, 3}, laplace(), Border::mirror);
        ASSERT_TRUE(why) << why.error().message;
        EXPECT_EQ(why.value().family, "convolution_2d");
        EXPECT_EQ(why.value().device, device.key());
        EXPECT_FALSE(why.value().variant.empty());
        EXPECT_FALSE(why.value().reason.empty());
        const auto same = explain(device, "convolution_2d", why.value().problem);
        ASSERT_TRUE(same) << same.error().message;
        EXPECT_EQ(same.value().text(), why.value().text());
    }
}

TEST(Explain, ErrorsAreThoseOfTheCall) {
    const auto cpu = Device::cpu();
    EXPECT_EQ(explain_convolve_2d(cpu, {1, 1, 2}, laplace(), Border::zero).error().code, ErrorCode::invalid_argument);
    for (const float bad : {std::nanf(""), INFINITY, -INFINITY, 1e36F}) {
        Filter5x5 filter = laplace();
        filter[7] = bad;
        EXPECT_EQ(explain_convolve_2d(cpu, {1, 1, 1}, filter, Border::zero).error().code, ErrorCode::invalid_argument);
        std::uint8_t from = 1, to = 77;
        const auto done = convolve_2d(cpu, {&from, {1, 1, 1}}, filter, Border::zero, {&to, {1, 1, 1}});
        EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
        EXPECT_NE(done.error().message.find("finite"), std::string::npos);
        EXPECT_EQ(to, 77);
    }
    EXPECT_EQ(explain_convolve_2d(cpu, {1, 1, 1}, laplace(), Border::zero, {.variant = "x"}).error().code,
              ErrorCode::unknown_variant);
    EXPECT_EQ(explain(cpu, "no_such_family", "").error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(explain(cpu, "convolution_2d", "colour=3").error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(explain(cpu, "convolution_2d", "", {.variant = "x"}).error().code, ErrorCode::unknown_variant);
}

}  // namespace
}  // namespace espalier
