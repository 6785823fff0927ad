// The surrogate that leads adaptive sweeps.

#include "harness/learn/surrogate.hpp"

#include <gtest/gtest.h>

#include "tests/matrices.hpp"

namespace espalier::bench::learn {
namespace {

/// Two sizes, and a derived column; the second choice is behind by a power law of the sizes.
Matrix with_derived(double (*derived)(double n, double m)) {
    Rows rows = grid({kSizes, kSizes});
    for (auto& row : rows) row.push_back(derived(row[0], row[1]));
    return matrix_of({{"n"}, {"m"}, {"derived", 0, true}}, rows, 2, [](std::span<const double> row, std::size_t c) {
        return c == 0 ? 0.0 : 0.1 + 0.05 * std::log2(row[0] / 16);
    });
}

// A fold along one axis was seen at the least size of the other only.
TEST(Surrogate, CarriesWhatAnAxisDoesToOtherCombinations) {
    const auto log = [](double n, double m) { return 0.3 * std::abs(std::log2(n) - 8) + 0.1 * std::log2(m); };
    const Matrix matrix = matrix_of({{"n"}, {"m"}}, grid({kSizes, kSizes}), 1, [](auto, auto) { return 0.0; });
    const Positions positions(matrix);
    std::vector<Sample> samples;
    for (const std::size_t p : matrix.all())
        if (matrix.value(p, 0) == kSizes.front() || matrix.value(p, 1) == kSizes.front())
            samples.push_back({positions.of(p), log(matrix.value(p, 0), matrix.value(p, 1))});
    const Surrogate surrogate(std::move(samples));
    const auto at = [&](std::size_t n, std::size_t m) { return surrogate.at(positions.of(n * kSizes.size() + m)); };
    for (std::size_t m = 0; m < kSizes.size(); ++m)
        EXPECT_GT((at(0, m) + at(8, m)) / 2 - at(4, m), 0.6) << "of 1.2; 256 of 16 and 4096, at " << kSizes[m];
}

TEST(Positions, HaveAnAxisForADerivedColumnThatDoesNotFollow) {
    EXPECT_EQ(Positions(with_derived([](double n, double m) { return n * m; })).axes(), 2U);
    EXPECT_EQ(Positions(with_derived([](double n, double m) { return std::fmod(n * 7 + m * 3, 64); })).axes(), 3U);
}

}  // namespace
}  // namespace espalier::bench::learn
