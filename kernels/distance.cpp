#include "espalier/distance.hpp"

#include <algorithm>
#include <vector>

#include "kernels/checks.hpp"
#include "kernels/explain.hpp"
#include "kernels/run.hpp"
#include "variants/distance/problem.hpp"

namespace espalier {
namespace {

using distance::Buffers;
using distance::Problem;

template <class Enum>
bool is_enumerator(Enum value, Enum last) {
    return static_cast<int>(value) >= 0 && value <= last;
}

std::optional<Error> invalid_rule(const DistanceRule& rule, std::int64_t dims) {
    if (!is_enumerator(rule.metric, Metric::cosine))
        return invalid("metric is none of the enumerators of espalier::Metric");
    if (!is_enumerator(rule.missing, Missing::allowed))
        return invalid("missing is none of the enumerators of espalier::Missing");
    if (rule.metric != Metric::mixed_euclidean) return std::nullopt;
    if (static_cast<std::int64_t>(rule.types.size()) != dims)
        return invalid("mixed_euclidean needs the type of each of the " + std::to_string(dims) + " attributes, got " +
                       std::to_string(rule.types.size()));
    if (!std::ranges::all_of(rule.types, [](AttributeType t) { return is_enumerator(t, AttributeType::nominal); }))
        return invalid("types holds a value that is none of the enumerators of espalier::AttributeType");
    return std::nullopt;
}

std::optional<Error> invalid_problem(const Items& queries, const Items& points, const DistanceRule& rule) {
    if (queries.dims != points.dims)
        return invalid("the queries have " + std::to_string(queries.dims) + " attributes, the points " +
                       std::to_string(points.dims));
    if (auto error =
            invalid_sizes({{"queries.count", queries.count}, {"points.count", points.count}, {"dims", queries.dims}}))
        return error;
    for (const Items* items : {&queries, &points})
        if (!is_enumerator(items->layout, Layout::item_major))
            return invalid("layout is none of the enumerators of espalier::Layout");
    return invalid_rule(rule, queries.dims);
}

std::optional<Error> invalid_layout(const Items& items, std::string_view name, const Options& options) {
    if (items.layout == Layout::attribute_major || options.memory == Memory::host) return std::nullopt;
    return invalid(std::string(name) + " are item_major in device memory: only attribute_major can be read there");
}

Problem problem_of(const Items& queries, const Items& points, const DistanceRule& rule) {
    return {.queries = queries.count,
            .points = points.count,
            .dims = queries.dims,
            .metric = rule.metric,
            .missing = rule.missing,
            .item_major = false};
}

/// A set of items in the kernels' layout: the caller's own array, or a transposed copy.
class AttributeMajor {
public:
    explicit AttributeMajor(const Items& items) : values_(items.values) {
        const auto count = static_cast<std::size_t>(items.count), dims = static_cast<std::size_t>(items.dims);
        if (items.layout == Layout::attribute_major || count <= 1 || dims <= 1) return;  // nothing to move
        copy_.resize(count * dims);
        // Blocks of both sides stay in the first-level cache.
        constexpr std::size_t kBlock = 32;
        for (std::size_t i0 = 0; i0 < count; i0 += kBlock)
            for (std::size_t a0 = 0; a0 < dims; a0 += kBlock)
                for (std::size_t a = a0; a < std::min(a0 + kBlock, dims); ++a)
                    for (std::size_t i = i0; i < std::min(i0 + kBlock, count); ++i)
                        copy_[a * count + i] = items.values[i * dims + a];
        values_ = copy_.data();
    }
    AttributeMajor(const AttributeMajor&) = delete;
    AttributeMajor& operator=(const AttributeMajor&) = delete;

    [[nodiscard]] const float* values() const { return values_; }

private:
    const float* values_;
    std::vector<float> copy_;
};

}  // namespace

Result<void> pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                const DistanceRule& rule, float* result, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_problem(queries, points, rule)) return *error;
        if (auto error = invalid_layout(queries, "the queries", options)) return *error;
        if (auto error = invalid_layout(points, "the points", options)) return *error;
        const Problem problem = problem_of(queries, points, rule);
        const std::int64_t query_values = problem.queries * problem.dims, point_values = problem.points * problem.dims;
        if (auto error = invalid_arrays({input_array("queries.values", queries.values, query_values),
                                         input_array("points.values", points.values, point_values),
                                         output_array("result", result, problem.distances())}))
            return *error;
        const AttributeMajor ordered_queries(queries), ordered_points(points);
        const bool mixed = rule.metric == Metric::mixed_euclidean;
        return run(device, problem, options, [&](Arrays& arrays) -> Buffers {
            Buffers buffers;
            buffers.query_values = arrays.input(ordered_queries.values(), query_values);
            buffers.point_values = arrays.input(ordered_points.values(), point_values);
            buffers.result = arrays.output(result, problem.distances());
            buffers.types = mixed ? arrays.host_input(rule.types.data(), problem.dims) : nullptr;
            buffers.types_on_host = mixed ? rule.types.data() : nullptr;
            return buffers;
        });
    });
}

Result<Explanation> explain_pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                               const DistanceRule& rule, std::string_view variant) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_problem(queries, points, rule)) return *error;
        return explain(problem_of(queries, points, rule), state_of(device).info, variant);
    });
}

}  // namespace espalier
