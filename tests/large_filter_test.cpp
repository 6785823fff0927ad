// convolve_2d with filters of 3x3 and 7x7, as a program calls it.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "espalier/convolution_2d.hpp"
#include "tests/api_helpers.hpp"

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

}  // namespace
}  // namespace espalier
