#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "harness/learn/matrix.hpp"

namespace espalier::bench::learn {

/// Where a number lies on its axis: sizes count by their ratio.
double position(double value);

/// Consecutive axes.
struct AxisRange {
    std::size_t first = 0, count = 0;
};

/// Where problems lie for models of their times: sizes by their logarithm, every axis by its range in the matrix, a
/// category as an axis of its own for each of its values. Pairs are left out, and so are derived columns that follow
/// from the others' logarithms: those are sums here. What does not, like the alignment of a row, is an axis.
class Positions {
public:
    explicit Positions(const Matrix& matrix);

    [[nodiscard]] std::size_t axes() const { return axes_; }
    [[nodiscard]] std::span<const double> of(std::size_t problem) const {
        return {values_.data() + problem * axes_, axes_};
    }
    /// The axes of a column of the key: one of a size, one for each value of a category. None if it has one value, or
    /// the column is something else.
    [[nodiscard]] AxisRange axes_of(std::size_t column) const { return axes_of_[column]; }

private:
    std::size_t axes_ = 0;
    std::vector<AxisRange> axes_of_;  ///< by column
    std::vector<double> values_;      ///< problems x axes
};

double distance(std::span<const double> a, std::span<const double> b);

/// One measured point of the surface that a surrogate models.
struct Sample {
    std::span<const double> at;
    double log = 0;
};

/// A logarithm that is a sum of multiples of the axes, by least squares: sizes make powers, categories factors.
class PowerLaw {
public:
    PowerLaw() = default;
    /// Of one or more samples. The ridge keeps directions in which nothing was measured flat.
    explicit PowerLaw(std::span<const Sample> samples, double ridge = 0.05);
    [[nodiscard]] double at(std::span<const double> position) const;

private:
    std::vector<double> centre_, slopes_;
    double mean_ = 0;
};

/// A model of a logarithm over `Positions`: a power law, and what that leaves unexplained where it was measured,
/// carried on by a Gaussian process: as smooth as times are in the logarithms of sizes, and as the sum of what each
/// axis does and what they do together, so that what was seen along an axis elsewhere counts here.
class Surrogate {
public:
    explicit Surrogate(std::vector<Sample> samples);

    [[nodiscard]] bool empty() const { return samples_.empty(); }
    [[nodiscard]] std::size_t samples() const { return samples_.size(); }
    [[nodiscard]] double at(std::span<const double> position) const;
    /// How far the nearest sample is.
    [[nodiscard]] double nearest(std::span<const double> position) const;

private:
    std::vector<Sample> samples_;
    PowerLaw law_;
    std::vector<double> weights_;  ///< of the samples
};

}  // namespace espalier::bench::learn
