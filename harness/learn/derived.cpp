#include "harness/learn/derived.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::bench::learn {
namespace {

double log_of(double value) { return std::log2(std::max(value, 0.5)); }

}  // namespace

DerivedColumns::DerivedColumns(const Matrix& matrix) : laws_(matrix.columns.size()) {
    const auto is_number = [&](std::size_t c) {
        return matrix.columns[c].categories == 0 && !matrix.columns[c].is_pair();
    };
    for (std::size_t c = 0; c < matrix.columns.size(); ++c)
        if (is_number(c) && !matrix.columns[c].derived) sizes_.push_back(c);
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        for (const std::size_t c : sizes_) logs_.push_back(log_of(matrix.value(p, c)));
    if (matrix.rows() == 0) return;
    for (std::size_t c = 0; c < matrix.columns.size(); ++c)
        if (is_number(c) && matrix.columns[c].derived) fit(matrix, c);
}

std::span<const double> DerivedColumns::of(std::size_t problem) const {
    return std::span(logs_).subspan(problem * sizes_.size(), sizes_.size());
}

void DerivedColumns::fit(const Matrix& matrix, std::size_t column) {
    constexpr double kFits = 0.2;  // binary orders of magnitude
    constexpr double kRidge = 1e-6;
    std::vector<Sample> samples;
    for (std::size_t p = 0; p < matrix.rows(); ++p) samples.push_back({of(p), log_of(matrix.value(p, column))});
    const PowerLaw law(samples, kRidge);
    if (std::ranges::any_of(samples, [&](const Sample& s) { return std::abs(law.at(s.at) - s.log) > kFits; }))
        complete_ = false;
    else
        laws_[column] = law;
}

void DerivedColumns::adapt(std::size_t problem, std::vector<double>& values) const {
    std::vector<double> logs;
    for (const std::size_t c : sizes_) logs.push_back(log_of(values[c]));
    for (std::size_t c = 0; c < values.size(); ++c)
        if (laws_[c]) values[c] = std::round(values[c] * std::exp2(laws_[c]->at(logs) - laws_[c]->at(of(problem))));
}

}  // namespace espalier::bench::learn
