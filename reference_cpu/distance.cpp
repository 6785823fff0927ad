#include "reference_cpu/distance.hpp"

#include <cmath>
#include <limits>

namespace espalier::reference {
namespace {

double root_or_zero(double sum_of_squares) {
    // A norm whose square is 0 in single precision counts as 0.
    return static_cast<float>(sum_of_squares) == 0 ? 0 : std::sqrt(sum_of_squares);
}

}  // namespace

double distance(std::span<const float> x, std::span<const float> y, Metric metric, Missing missing,
                std::span<const AttributeType> types) {
    double absolute = 0, squares = 0, mixed = 0, largest = 0, dot = 0, xx = 0, yy = 0;
    double present = 0;
    for (std::size_t a = 0; a < x.size(); ++a) {
        const double u = x[a], v = y[a], difference = std::abs(u - v);
        if (missing == Missing::allowed && (std::isnan(u) || std::isnan(v))) continue;
        ++present;
        absolute += difference;
        squares += difference * difference;
        const bool nominal = !types.empty() && types[a] == AttributeType::nominal;
        mixed += !nominal ? difference * difference : u == v ? 0 : 1;
        if (std::isnan(difference) || difference > largest) largest = difference;
        dot += u * v, xx += u * u, yy += v * v;
    }
    if (missing == Missing::allowed && present == 0) return std::numeric_limits<double>::quiet_NaN();
    const double scale = missing == Missing::allowed ? static_cast<double>(x.size()) / present : 1;
    switch (metric) {
        case Metric::euclidean: return std::sqrt(scale * squares);
        case Metric::mixed_euclidean: return std::sqrt(scale * mixed);
        case Metric::manhattan: return scale * absolute;
        case Metric::chebyshev: return largest;
        case Metric::cosine: break;
    }
    const double norms = root_or_zero(xx) * root_or_zero(yy);
    if (norms == 0) return 1;
    const double cosine = 1 - dot / norms;
    return cosine < 0 ? 0 : cosine;
}

}  // namespace espalier::reference
