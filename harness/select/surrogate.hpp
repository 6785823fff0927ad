#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "harness/select/matrix.hpp"

namespace espalier::select {

/// Where a number lies on its axis: sizes count by their ratio.
double position(double value);

/// Where problems lie for models of their times: sizes by their logarithm, every axis by its range in the matrix, a
/// category as an axis of its own for each of its values. Derived columns and pairs are left out: they are sums here.
class Positions {
public:
    explicit Positions(const Matrix& matrix);

    [[nodiscard]] std::size_t axes() const { return axes_; }
    [[nodiscard]] std::span<const double> of(std::size_t problem) const {
        return {values_.data() + problem * axes_, axes_};
    }

private:
    std::size_t axes_ = 0;
    std::vector<double> values_;  ///< problems x axes
};

double distance(std::span<const double> a, std::span<const double> b);

/// One measured point of the surface that a surrogate models.
struct Sample {
    std::span<const double> at;
    double log = 0;
};

/// A model of a logarithm over `Positions`: a power law fitted by least squares, and what that leaves unexplained where
/// it was measured, spread by nearness. Times are smooth in the logarithms of sizes, so the law carries what nearness
/// alone cannot, the trend between and beyond the measured sizes.
class Surrogate {
public:
    explicit Surrogate(std::vector<Sample> samples);

    [[nodiscard]] bool empty() const { return samples_.empty(); }
    [[nodiscard]] std::size_t samples() const { return samples_.size(); }
    [[nodiscard]] double at(std::span<const double> position) const;
    /// The power law alone.
    [[nodiscard]] double law(std::span<const double> position) const;
    /// How far the nearest sample is.
    [[nodiscard]] double nearest(std::span<const double> position) const;

private:
    std::vector<Sample> samples_;
    std::vector<double> residuals_;
    std::vector<double> centre_, slopes_;
    double mean_ = 0;
};

}  // namespace espalier::select
