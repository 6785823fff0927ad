// The plain loops: one distance after the other, its attributes one by one (sources K 2.3, P 3).
// Any problem: the baseline of the CPU.

#include "kernels/core/variant.hpp"
#include "variants/distance/accumulator.hpp"

namespace espalier::distance {
namespace {

template <Metric metric, Missing missing>
void all_distances(const Problem& problem, const Buffers& buffers) {
    for (std::int64_t p = 0; p < problem.points; ++p)
        for (std::int64_t q = 0; q < problem.queries; ++q) {
            Accumulator<metric, missing> distance{};
            for (std::int64_t a = 0; a < problem.dims; ++a) {
                const auto type = metric == Metric::mixed_euclidean ? buffers.types[a] : AttributeType::numeric;
                distance.add(buffers.query_values[a * problem.queries + q],
                             buffers.point_values[a * problem.points + p], type);
            }
            buffers.result[p * problem.queries + q] = distance.result(problem.dims);
        }
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    with_metric(problem, [&](auto metric, auto missing) { all_distances<metric(), missing()>(problem, buffers); });
}

}  // namespace

Variant<Problem> cpu_scalar() {
    return {.role = Role::baseline,
            .summary = "the plain loops",
            .source = "K12, P",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
