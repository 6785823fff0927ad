// convolve_2d with filters of 3x3 and 7x7, as a program calls it: at once and by plans.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "espalier/convolution_2d.hpp"
#include "tests/kernels/api/api_helpers.hpp"

namespace espalier {
namespace {

constexpr ImageShape kShape{37, 21, 3};

std::vector<std::uint8_t> pixels() {
    std::vector<std::uint8_t> values(37 * 21 * 3);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * i * 31 % 249);
    return values;
}

TEST(LargeFilter, ThreeByThreeIsTheMiddleOfFiveByFive) {
    const Filter3x3 sobel{-1, 0, 1, -2, 0, 2, -1, 0, 1};
    constexpr Filter5x5 kSame{0, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, -2, 0, 2, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, 0};
    EXPECT_EQ(as_5x5(sobel), kSame);
    const auto from = pixels();
    std::vector<std::uint8_t> small(from.size()), large(from.size());
    const Device device = Device::cpu();
    ASSERT_TRUE(convolve_2d(device, {from.data(), kShape}, sobel, Border::mirror, {small.data(), kShape}));
    ASSERT_TRUE(convolve_2d(device, {from.data(), kShape}, kSame, Border::mirror, {large.data(), kShape}));
    EXPECT_EQ(small, large);
    const auto plan = plan_convolve_2d(device, kShape, sobel, Border::mirror);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(explain_convolve_2d(device, kShape, sobel, Border::mirror));
}

TEST(LargeFilter, SevenBySevenEqualsAPaddedFiveByFive) {
    // Laplace in the middle of zeros, which is no product of a column and a row.
    Filter5x5 five;
    five.fill(-1);
    five[12] = 24;
    Filter7x7 seven{};
    for (std::size_t i = 0; i < 25; ++i) seven[(i / 5 + 1) * 7 + i % 5 + 1] = five[i];
    const auto from = pixels();
    const Device device = Device::cpu();
    for (const Border border : {Border::zero, Border::replicate, Border::mirror}) {
        std::vector<std::uint8_t> a(from.size()), b(from.size());
        ASSERT_TRUE(convolve_2d(device, {from.data(), kShape}, five, border, {a.data(), kShape}));
        ASSERT_TRUE(convolve_2d(device, {from.data(), kShape}, seven, border, {b.data(), kShape}));
        EXPECT_EQ(a, b);
    }
    EXPECT_EQ(explain_convolve_2d(device, kShape, seven, Border::zero).value().variant, "rows_7x7");
}

TEST(LargeFilter, ProductsOfAColumnAndARowAreFound) {
    Filter7x7 product;
    const std::array<float, 7> column{1, 6, 15, 20, 15, 6, 1}, row{-3, -2, -1, 0, 1, 2, 3};
    for (std::size_t i = 0; i < 49; ++i) product[i] = column[i / 7] * row[i % 7];
    const auto variant = [](const Filter7x7& filter) {
        return explain_convolve_2d(Device::cpu(), kShape, filter, Border::zero).value().variant;
    };
    EXPECT_EQ(variant(product), "rows_7x7_separable");
    Filter7x7 other = product;
    other[48] += 1;
    EXPECT_EQ(variant(other), "rows_7x7");
    EXPECT_EQ(variant(Filter7x7{}), "rows_7x7");
    // A product in which the other one's smallest coefficient would be lost is none.
    Filter7x7 fractions;
    for (std::size_t i = 0; i < 49; ++i) fractions[i] = std::exp(-static_cast<float>(i / 7 + i % 7)) / 3;
    EXPECT_EQ(variant(fractions), "rows_7x7_separable");
    fractions[48] = 0;
    EXPECT_EQ(variant(fractions), "rows_7x7");
}

TEST(LargeFilter, WhatCannotBeIsAnErrorThatNamesTheFix) {
    const auto from = pixels();
    std::vector<std::uint8_t> to(from.size());
    const Device cpu = Device::cpu();
    Filter7x7 filter{};
    const auto message = [&](const ConstImage& image, const Image& result, const Options& options = {}) {
        const auto done = convolve_2d(cpu, image, filter, Border::zero, result, options);
        return done ? std::string() : done.error().message;
    };
    const ConstImage image{from.data(), kShape};
    EXPECT_EQ(message(image, {to.data(), kShape}), "");
    EXPECT_EQ(to, std::vector<std::uint8_t>(to.size()));
    EXPECT_EQ(message({nullptr, {0, 5, 3}}, {nullptr, {0, 5, 3}}), "");
    EXPECT_NE(message(image, {to.data(), {37, 20, 3}}).find("one shape"), std::string::npos);
    EXPECT_NE(message({nullptr, kShape}, {to.data(), kShape}).find("image.data is null"), std::string::npos);
    EXPECT_NE(message(image, {const_cast<std::uint8_t*>(from.data()), kShape}).find("overlap"), std::string::npos);
    EXPECT_NE(message(image, {to.data(), kShape}, {.variant = "cpu_scalar"}).find("leave Options::variant empty"),
              std::string::npos);
    filter[3] = std::numeric_limits<float>::infinity();
    EXPECT_NE(message(image, {to.data(), kShape}).find("finite"), std::string::npos);
    filter[3] = 1;
    if (const auto gpu = Device::cuda(0)) {
        const auto done = convolve_2d(gpu.value(), image, filter, Border::zero, {to.data(), kShape});
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, ErrorCode::unsupported);
    }
}

// --- plans

/// Memory for a run, aligned as the CPU needs it.
class Room {
public:
    explicit Room(const Plan& plan) : bytes_(plan.workspace_bytes()), memory_(bytes_ + 64, std::byte{0x5A}) {}
    [[nodiscard]] std::span<std::byte> span() {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        return {memory_.data() + (64 - address % 64) % 64, bytes_};
    }

private:
    std::size_t bytes_;
    std::vector<std::byte> memory_;
};

std::vector<std::uint8_t> noise(std::size_t count) {
    std::mt19937 random(7);
    std::vector<std::uint8_t> values(count);
    for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random());
    return values;
}

/// One of each way in which 7x7 filters are computed: products of a column and a row or not, with sums in single
/// precision or, of large whole coefficients, in double.
std::vector<Filter7x7> filters() {
    std::vector<Filter7x7> all(4);
    const std::array<float, 7> column{1, 6, 15, 20, 15, 6, 1}, row{-3, -2, -1, 0, 1, 2, 3};
    for (std::size_t i = 0; i < 49; ++i) {
        all[0][i] = column[i / 7] * row[i % 7];
        all[1][i] = static_cast<float>(i % 5) / 50;
        all[2][i] = 1e6F * column[i / 7] * row[i % 7];
        all[3][i] = static_cast<float>(i * 7919 % 1009) * (i % 2 ? -1e6F : 1e6F);
    }
    return all;
}

TEST(LargeFilterPlan, EqualsACall) {
    const Device cpu = Device::cpu();
    for (const ImageShape& shape : {ImageShape{37, 21, 3}, {1, 1, 1}, {3, 200, 4}, {421, 333, 1}}) {
        const auto from = noise(static_cast<std::size_t>(shape.width * shape.height * shape.channels));
        for (const Filter7x7& filter : filters())
            for (const Border border : {Border::zero, Border::replicate, Border::mirror})
                for (const int threads : {1, 3}) {
                    std::vector<std::uint8_t> right(from.size()), to(from.size());
                    expect_ok(convolve_2d(cpu, {from.data(), shape}, filter, border, {right.data(), shape}));
                    const auto plan = value_of(plan_convolve_2d(cpu, shape, filter, border, {.threads = threads}));
                    Room room(plan);
                    expect_ok(plan.run({from.data(), shape}, {to.data(), shape}, nullptr, room.span()));
                    ASSERT_EQ(to, right) << shape.width << " x " << shape.height << ", threads " << threads;
                    std::ranges::fill(to, 0);  // and again, in memory that was used
                    expect_ok(plan.run({from.data(), shape}, {to.data(), shape}, nullptr, room.span()));
                    ASSERT_EQ(to, right);
                    EXPECT_TRUE(plan.deterministic());
                    const auto why = value_of(explain_convolve_2d(cpu, shape, filter, border));
                    EXPECT_EQ(value_of(plan.explain()).variant, why.variant);
                    EXPECT_EQ(value_of(plan.explain()).problem, why.problem);
                }
    }
}

TEST(LargeFilterPlan, IsForItsPitches) {
    constexpr ImageShape kPart{30, 20, 3};
    constexpr std::int64_t kPitch = 37 * 3, kResultPitch = 100;
    const auto from = noise(37 * 21 * 3);
    const Device cpu = Device::cpu();
    for (const Filter7x7& filter : filters()) {
        std::vector<std::uint8_t> right(kResultPitch * 20, 9), to(kResultPitch * 20, 9);
        const ConstImage image{from.data() + 6, kPart, kPitch};
        expect_ok(convolve_2d(cpu, image, filter, Border::mirror, {right.data(), kPart, kResultPitch}));
        const auto plan =
            value_of(plan_convolve_2d(cpu, image, filter, Border::mirror, Image{nullptr, kPart, kResultPitch}));
        Room room(plan);
        expect_ok(plan.run(image, {to.data(), kPart, kResultPitch}, nullptr, room.span()));
        EXPECT_EQ(to, right);
        expect_invalid(plan.run(image, {to.data(), kPart}, nullptr, room.span()), "result.pitch is 90");
        expect_invalid(plan.run({from.data(), kPart}, {to.data(), kPart, kResultPitch}, nullptr, room.span()),
                       "image.pitch is 90");
    }
}

TEST(LargeFilterPlan, RunsOnFewerThreadsInARegion) {
    constexpr ImageShape kLarge{400, 400, 1};
    const auto from = noise(400 * 400);
    const Filter7x7 filter = filters()[1];
    const auto plan = value_of(plan_convolve_2d(Device::cpu(), kLarge, filter, Border::zero, {.threads = 4}));
    std::vector<std::uint8_t> right(from.size());
    expect_ok(convolve_2d(Device::cpu(), {from.data(), kLarge}, filter, Border::zero, {right.data(), kLarge}));
    std::array<std::vector<std::uint8_t>, 2> results{right, right};
#pragma omp parallel for num_threads(2)
    for (std::size_t i = 0; i < 2; ++i) {
        std::ranges::fill(results[i], 0);
        Room room(plan);
        EXPECT_TRUE(plan.run({from.data(), kLarge}, {results[i].data(), kLarge}, nullptr, room.span()));
    }
    EXPECT_EQ(results[0], right);
    EXPECT_EQ(results[1], right);
}

TEST(LargeFilterPlan, WhatCannotBeIsAnErrorThatNamesTheFix) {
    const auto from = noise(37 * 21 * 3);
    std::vector<std::uint8_t> to(from.size());
    const Device cpu = Device::cpu();
    const Filter7x7 filter = filters()[1];
    const auto plan = value_of(plan_convolve_2d(cpu, kShape, filter, Border::zero));
    ASSERT_GT(plan.workspace_bytes(), 0U);
    Room room(plan);
    const ConstImage image{from.data(), kShape};
    const Image result{to.data(), kShape};
    const std::span<std::byte> all = room.span();
    expect_invalid(plan.run(image, result, nullptr, all.first(all.size() - 1)), "workspace_bytes()");
    expect_invalid(plan.run(image, result, nullptr, {}), "workspace");
    expect_invalid(plan.run(image, result, nullptr, {all.data() + 1, all.size()}), "aligned to 64");
    expect_invalid(plan.run(image, result, reinterpret_cast<Stream>(all.data()), all), "stream must be null");
    expect_invalid(plan.run({from.data(), {37, 20, 3}}, {to.data(), {37, 20, 3}}, nullptr, all), "the plan is for 21");
    expect_invalid(plan.run(image, {to.data(), {37, 20, 3}}, nullptr, all), "one shape");
    expect_invalid(plan.run({nullptr, kShape}, result, nullptr, all), "image.data is null");
    expect_invalid(plan.run(image, {const_cast<std::uint8_t*>(from.data()), kShape}, nullptr, all), "overlap");
    const auto* const inside = reinterpret_cast<const std::uint8_t*>(all.data());
    expect_invalid(plan.run({inside, kShape}, result, nullptr, all), "overlap");
    expect_ok(plan.run(image, result, nullptr, all));
    const auto refused = [&](const Options& options) {
        return plan_convolve_2d(cpu, kShape, filter, Border::zero, options);
    };
    EXPECT_NE(refused({.variant = "cpu_scalar"}).error().message.find("leave Options::variant empty"),
              std::string::npos);
    EXPECT_EQ(refused({.memory = Memory::device}).error().code, ErrorCode::invalid_argument);
    EXPECT_NE(refused({.progress = [](void*, double) { return true; }}).error().message.find("progress"),
              std::string::npos);
    EXPECT_EQ(refused({.threads = -1}).error().code, ErrorCode::invalid_argument);
    Filter7x7 infinite = filter;
    infinite[3] = std::numeric_limits<float>::infinity();
    EXPECT_EQ(plan_convolve_2d(cpu, kShape, infinite, Border::zero).error().code, ErrorCode::invalid_argument);
    const auto empty = value_of(plan_convolve_2d(cpu, {0, 5, 3}, filter, Border::zero));
    EXPECT_EQ(empty.workspace_bytes(), 0U);
    expect_ok(empty.run({nullptr, {0, 5, 3}}, {nullptr, {0, 5, 3}}));
    if (const auto gpu = Device::cuda(0)) {
        EXPECT_EQ(plan_convolve_2d(gpu.value(), kShape, filter, Border::zero).error().code, ErrorCode::unsupported);
    }
}

}  // namespace
}  // namespace espalier
