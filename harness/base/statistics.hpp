#pragma once

#include <span>
#include <vector>

namespace espalier::bench {

/// A median with an interval that holds the true one with 95% (or the asked) confidence, whatever the distribution.
struct MedianInterval {
    double median = 0, lo = 0, hi = 0;

    /// Half the interval's width in units of the median.
    [[nodiscard]] double relative_half_width() const { return median > 0 ? (hi - lo) / (2 * median) : 1; }
};

/// From order statistics: the number of samples below the true median is Binomial(n, 1/2).
/// Fewer than 6 samples allow no 95% interval; theirs is from the least to the greatest.
/// No samples give zeros.
MedianInterval median_interval(std::span<const double> samples, double confidence = 0.95);

/// Element by element, as far as both go: paired ratios of two candidates.
std::vector<double> ratios(std::span<const double> numerators, std::span<const double> denominators);

/// The nearest value of so many significant digits (1 to 17): 1234.6 of three digits is 1230.
double to_significant_digits(double value, int digits);

}  // namespace espalier::bench
