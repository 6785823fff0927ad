#include "harness/select/surrogate.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::select {
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

}  // namespace

double position(double value) { return std::log2(1 + std::max(0.0, value)); }

Positions::Positions(const Matrix& matrix) {
    std::vector<std::vector<double>> axes;
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
        const Column& c = matrix.columns[column];
        if (c.derived) continue;
        for (int category = 0; category < c.categories; ++category) {
            std::vector<double>& is = axes.emplace_back();
            for (std::size_t p = 0; p < matrix.rows(); ++p)
                is.push_back(matrix.value(p, column) == category ? kCategory : 0);
        }
        if (c.categories > 0) continue;
        std::vector<double> axis;
        for (std::size_t p = 0; p < matrix.rows(); ++p) axis.push_back(position(matrix.value(p, column)));
        const auto [least, most] = std::minmax_element(axis.begin(), axis.end());
        const double low = *least, length = *most - *least;
        if (length == 0) continue;
        for (double& x : axis) x = (x - low) / length;
        axes.push_back(std::move(axis));
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

Surrogate::Surrogate(std::vector<Sample> samples) : samples_(std::move(samples)) {
    if (samples_.empty()) return;
    constexpr double kRidge = 0.05;  // keeps directions in which nothing was measured flat
    const std::size_t n = samples_.front().at.size();
    const auto count = static_cast<double>(samples_.size());
    centre_.assign(n, 0);
    for (const Sample& s : samples_) {
        mean_ += s.log / count;
        for (std::size_t i = 0; i < n; ++i) centre_[i] += s.at[i] / count;
    }
    std::vector<double> normal(n * n);
    slopes_.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) normal[i * n + i] = kRidge;
    for (const Sample& s : samples_)
        for (std::size_t i = 0; i < n; ++i) {
            slopes_[i] += (s.at[i] - centre_[i]) * (s.log - mean_);
            for (std::size_t j = 0; j < n; ++j) normal[i * n + j] += (s.at[i] - centre_[i]) * (s.at[j] - centre_[j]);
        }
    solve(normal, slopes_);
    for (const Sample& s : samples_) residuals_.push_back(s.log - law(s.at));
}

double Surrogate::law(std::span<const double> position) const {
    double log = mean_;
    for (std::size_t i = 0; i < slopes_.size(); ++i) log += slopes_[i] * (position[i] - centre_[i]);
    return log;
}

double Surrogate::at(std::span<const double> position) const {
    double weights = 0, sum = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        const double d = distance(position, samples_[i].at);
        const double weight = 1 / (1e-4 + d * d * d);
        weights += weight, sum += weight * residuals_[i];
    }
    return law(position) + sum / weights;
}

double Surrogate::nearest(std::span<const double> position) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Sample& s : samples_) least = std::min(least, distance(position, s.at));
    return least;
}

}  // namespace espalier::select
