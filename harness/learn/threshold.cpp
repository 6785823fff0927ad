#include "harness/learn/threshold.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::bench::learn {
namespace {

/// Sizes are compared by their ratio. A zero has none: it stands for the smallest size, or half the gap.
double centre(double a, double b) {
    if (a < 0) return a + (b - a) / 2;
    if (a == 0) return b > 1 ? std::sqrt(b) : b / 2;
    return std::sqrt(a) * std::sqrt(b);
}

double significant(double value, int digits) {
    if (value == 0) return 0;
    const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

}  // namespace

double readable_threshold(double a, double b) {
    const double middle = centre(a, b);
    // Keep clear of both ends: what lies between the data is equally likely to belong to either.
    const double low = middle - (middle - a) / 2, high = middle + (b - middle) / 2;
    const bool whole = a == std::floor(a) && b == std::floor(b);
    constexpr int kMostDigits = 6;
    for (int digits = 1; digits <= kMostDigits; ++digits) {
        const double t = significant(middle, digits);
        if (t >= low && t <= high && (!whole || t == std::floor(t))) return t;
    }
    if (whole) return std::max(a, std::floor(middle));
    return middle >= a && middle < b ? middle : a;
}

}  // namespace espalier::bench::learn
