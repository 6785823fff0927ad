#include "harness/apps/tables/scale.hpp"

#include <cmath>
#include <limits>
#include <span>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"

namespace espalier::bench::io {
namespace {

struct Moments {
    Number mean = 0, variance = 0;
    std::size_t count = 0;  ///< values that are known
};

/// Two passes; the second one's sum of deviations takes out what the mean is off by (Chan, Golub and LeVeque 1983).
Moments moments_of(std::span<const Number> values) {
    Moments moments;
    Number sum = 0;
    for (const Number value : values) {
        if (std::isnan(value)) continue;
        sum += value;
        ++moments.count;
    }
    if (moments.count == 0) return moments;
    const auto count = static_cast<Number>(moments.count);
    moments.mean = sum / count;
    Number squares = 0, deviations = 0;
    for (const Number value : values) {
        if (std::isnan(value)) continue;
        const Number deviation = value - moments.mean;
        deviations += deviation;
        squares += deviation * deviation;
    }
    moments.variance = (squares - deviations * deviations / count) / count;
    return moments;
}

/// Whether rounding alone may have made the variance: scikit-learn's bound, so that both scale the same columns.
bool is_constant(const Moments& moments) {
    constexpr Number kEpsilon = std::numeric_limits<Number>::epsilon();
    const auto count = static_cast<Number>(moments.count);
    const Number of_mean = count * moments.mean * kEpsilon;
    return moments.variance <= count * kEpsilon * moments.variance + of_mean * of_mean;
}

}  // namespace

StandardScale::StandardScale(const std::string& path, const Schema& schema, const Rows& train) {
    train.attributes.for_each_column([&](std::size_t a, std::span<const Number> values) {
        if (schema.attributes[a].kind != ColumnKind::numeric) return;
        const Moments moments = moments_of(values);
        if (!std::isfinite(moments.variance))
            throw BadFile(path, "column '" + printable(schema.attributes[a].name) +
                                    "' is too wide for --scale standard in double precision; scale the column down");
        columns_.push_back(
            {a, schema.attributes[a].name, moments.mean, is_constant(moments) ? 1 : std::sqrt(moments.variance)});
    });
}

void StandardScale::apply(const std::string& path, Rows& rows) const {
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const Column& column : columns_) {
            Number& value = rows.attributes.row(i)[column.attribute];
            value = (value - column.mean) / column.deviation;
            if (std::isinf(value))
                throw BadFile(path, "column '" + printable(column.name) +
                                        "' holds a value that --scale standard makes infinite; correct it");
        }
}

}  // namespace espalier::bench::io
