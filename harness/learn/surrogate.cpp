#include "harness/learn/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace espalier::bench::learn {
namespace {

/// Two categories are as far from each other as an axis is long.
constexpr double kCategory = 0.7;

/// Solves the symmetric positive definite system in place by Cholesky's decomposition; the solution is in `b`.
void solve(std::vector<double>& a, std::vector<double>& b) {
    const std::size_t n = b.size();
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < j; ++k) a[j * n + j] -= a[j * n + k] * a[j * n + k];
        a[j * n + j] = std::sqrt(a[j * n + j]);
        for (std::size_t i = j + 1; i < n; ++i) {
            for (std::size_t k = 0; k < j; ++k) a[i * n + j] -= a[i * n + k] * a[j * n + k];
            a[i * n + j] /= a[j * n + j];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
}

/// The column's positions, from 0 to 1. Empty if it has one value.
std::vector<double> scaled(const Matrix& matrix, std::size_t column) {
    std::vector<double> axis;
    for (std::size_t p = 0; p < matrix.rows(); ++p) axis.push_back(position(matrix.value(p, column)));
    if (axis.empty()) return {};
    const auto [least, most] = std::minmax_element(axis.begin(), axis.end());
    const double low = *least, length = *most - *least;
    if (length == 0) return {};
    for (double& x : axis) x = (x - low) / length;
    return axis;
}

/// Whether an axis follows from others but for a twentieth of its length.
bool follows(const std::vector<double>& axis, const std::vector<std::vector<double>>& others) {
    constexpr double kRest = 0.05;
    std::vector<double> at;  // problems x axes
    for (std::size_t p = 0; p < axis.size(); ++p)
        for (const auto& other : others) at.push_back(other[p]);
    const auto position = [&](std::size_t p) { return std::span(at).subspan(p * others.size(), others.size()); };
    std::vector<Sample> samples;
    for (std::size_t p = 0; p < axis.size(); ++p) samples.push_back({position(p), axis[p]});
    const PowerLaw law(samples, 1e-6);
    for (std::size_t p = 0; p < axis.size(); ++p)
        if (std::abs(axis[p] - law.at(position(p))) > kRest) return false;
    return true;
}

/// Matern's covariance of smoothness 3/2, which suits times: they bend where another limit binds.
double matern(double distance) {
    constexpr double kLength = 0.6;  // of an axis
    const double r = std::sqrt(3.0) * distance / kLength;
    return (1 + r) * std::exp(-r);
}

double covariance(std::span<const double> a, std::span<const double> b) {
    double sum = matern(distance(a, b));
    for (std::size_t i = 0; i < a.size(); ++i) sum += matern(std::abs(a[i] - b[i]));
    return sum;
}

}  // namespace

double position(double value) { return std::log2(1 + std::max(0.0, value)); }

Positions::Positions(const Matrix& matrix) : axes_of_(matrix.columns.size()) {
    std::vector<std::vector<double>> axes;
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
        const Column& c = matrix.columns[column];
        if (c.derived || c.absent) continue;
        axes_of_[column] = {axes.size(), static_cast<std::size_t>(c.categories)};
        for (int category = 0; category < c.categories; ++category) {
            std::vector<double>& is = axes.emplace_back();
            for (std::size_t p = 0; p < matrix.rows(); ++p)
                is.push_back(matrix.value(p, column) == category ? kCategory : 0);
        }
        if (c.categories > 0) continue;
        if (auto axis = scaled(matrix, column); !axis.empty()) {
            axes_of_[column].count = 1;
            axes.push_back(std::move(axis));
        }
    }
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
        const Column& c = matrix.columns[column];
        if (!c.derived || c.is_pair() || c.categories > 0) continue;
        if (auto axis = scaled(matrix, column); !axis.empty() && !follows(axis, axes)) axes.push_back(std::move(axis));
    }
    axes_ = axes.size();
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        for (const auto& axis : axes) values_.push_back(axis[p]);
}

double distance(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
}

PowerLaw::PowerLaw(std::span<const Sample> samples, double ridge) {
    const std::size_t n = samples.front().at.size();
    const auto count = static_cast<double>(samples.size());
    centre_.assign(n, 0);
    for (const Sample& s : samples) {
        mean_ += s.log / count;
        for (std::size_t i = 0; i < n; ++i) centre_[i] += s.at[i] / count;
    }
    std::vector<double> normal(n * n);
    slopes_.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) normal[i * n + i] = ridge;
    for (const Sample& s : samples)
        for (std::size_t i = 0; i < n; ++i) {
            slopes_[i] += (s.at[i] - centre_[i]) * (s.log - mean_);
            for (std::size_t j = 0; j < n; ++j) normal[i * n + j] += (s.at[i] - centre_[i]) * (s.at[j] - centre_[j]);
        }
    solve(normal, slopes_);
}

double PowerLaw::at(std::span<const double> position) const {
    double log = mean_;
    for (std::size_t i = 0; i < slopes_.size(); ++i) log += slopes_[i] * (position[i] - centre_[i]);
    return log;
}

Surrogate::Surrogate(std::vector<Sample> samples) : samples_(std::move(samples)) {
    if (samples_.empty()) return;
    constexpr double kNoise = 0.01;  // of the variance along one axis
    law_ = PowerLaw(samples_);
    const std::size_t n = samples_.size();
    std::vector<double> covariances(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        weights_.push_back(samples_[i].log - law_.at(samples_[i].at));
        for (std::size_t j = 0; j <= i; ++j)
            covariances[i * n + j] = covariances[j * n + i] = covariance(samples_[i].at, samples_[j].at);
        covariances[i * n + i] += kNoise;
    }
    solve(covariances, weights_);
}

double Surrogate::at(std::span<const double> position) const {
    double log = law_.at(position);
    for (std::size_t i = 0; i < samples_.size(); ++i) log += weights_[i] * covariance(position, samples_[i].at);
    return log;
}

double Surrogate::nearest(std::span<const double> position) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Sample& s : samples_) least = std::min(least, distance(position, s.at));
    return least;
}

}  // namespace espalier::bench::learn
