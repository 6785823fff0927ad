#include "reference_cpu/distance.hpp"

#include <cmath>
#include <limits>

namespace espalier::reference {
namespace {

/// Calls `term(x, y, attribute)` for every attribute to compare; returns how many those are.
template <class Term>
double for_each_present(std::span<const float> x, std::span<const float> y, Missing missing, Term term) {
    double present = 0;
    for (std::size_t a = 0; a < x.size(); ++a) {
        const double u = x[a], v = y[a];
        if (missing == Missing::allowed && (std::isnan(u) || std::isnan(v))) continue;
        ++present;
        term(u, v, a);
    }
    return present;
}

/// The length of a vector; 0 if its square is in single precision.
double norm(double sum_of_squares) { return static_cast<float>(sum_of_squares) == 0 ? 0 : std::sqrt(sum_of_squares); }

}  // namespace

double distance(std::span<const float> x, std::span<const float> y, Metric metric, Missing missing,
                std::span<const AttributeType> types) {
    double sum = 0, xx = 0, yy = 0, present = 0;
    switch (metric) {
        case Metric::euclidean:
            present = for_each_present(x, y, missing, [&](double u, double v, auto) { sum += (u - v) * (u - v); });
            break;
        case Metric::mixed_euclidean:
            present = for_each_present(x, y, missing, [&](double u, double v, std::size_t a) {
                if (types[a] == AttributeType::nominal)
                    sum += u == v ? 0 : 1;
                else
                    sum += (u - v) * (u - v);
            });
            break;
        case Metric::manhattan:
            present = for_each_present(x, y, missing, [&](double u, double v, auto) { sum += std::abs(u - v); });
            break;
        case Metric::chebyshev:
            present = for_each_present(x, y, missing, [&](double u, double v, auto) {
                const double difference = std::abs(u - v);
                if (std::isnan(difference) || difference > sum) sum = difference;
            });
            break;
        case Metric::cosine:
            present = for_each_present(x, y, missing,
                                       [&](double u, double v, auto) { sum += u * v, xx += u * u, yy += v * v; });
            break;
    }
    if (missing == Missing::allowed && present == 0) return std::numeric_limits<double>::quiet_NaN();
    if (metric == Metric::chebyshev) return sum;
    if (metric == Metric::cosine) {
        const double norms = norm(xx) * norm(yy);
        const double distance = norms == 0 ? 1 : 1 - sum / norms;
        return distance < 0 ? 0 : distance;
    }
    if (missing == Missing::allowed) sum *= static_cast<double>(x.size()) / present;
    return metric == Metric::manhattan ? sum : std::sqrt(sum);
}

}  // namespace espalier::reference
