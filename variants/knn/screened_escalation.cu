// `screened_threshold`, but where it has many candidates for a query it looks at the query's surroundings once more.
// Half precision is blind to points that are near each other beside their distance from the common centre: then each
// is a candidate, and the distances of candidates one by one are what the search takes its time for. Such queries are
// put into cells, whose centres are some of them. A cell has every point that may matter to its queries (the triangle
// inequality says which), queries and points are centred there, and what halves are blind to is as much less as a cell
// is smaller than the data. Within its cell a query has a sample, a threshold and candidates as before. The direct
// search is left what has no bounds: what is far out or not finite, and of points at one place more than find room.
//
// Counts are kept on the device, and whatever a stage has nothing to do for costs its launch. The list is what the
// direct search finds, to the bit.

#include "kernels/core/variant.hpp"
#include "variants/knn/chunk.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/escalation_search.cuh"

namespace espalier::knn {
namespace {

using escalation::EscalationLayout, escalation::EscalationSearch;

constexpr std::int64_t kMostAttributes = 16'384;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (device.sm < 80)
        return Support::no("needs compute capability 8.0 for matrices of halves, this is " + std::to_string(device.sm));
    if ((problem.metric != Metric::euclidean && problem.metric != Metric::cosine) || problem.missing != Missing::none)
        return Support::no("bounds euclidean and cosine distances without missing values only");
    if (problem.dims > kMostAttributes) return Support::no("more than 16,384 attributes");
    if (problem.queries > std::numeric_limits<std::int32_t>::max())
        return Support::no("more than 2,147,483,647 queries: it lists them in 32 bits");
    if (problem.queries <= escalation::few_queries(problem, device))
        return Support::no("too few queries for cells: screened_threshold does the same");
    if (const Support products = threshold::supports_products(device); !products) return products;
    return pipeline_supports(problem);
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return EscalationLayout(problem, device, configuration["every"]).bytes;
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    const EscalationLayout layout(problem, context.device, configuration["every"]);
    check_workspace(context, layout.bytes);
    const float* queries = buffers.query_values;
    if (problem.queries_in == QueriesIn::host) {
        std::byte* const copy = context.workspace.data() + EscalationLayout::kScreening + layout.screening.queries;
        device::copy_to_device(copy, buffers.on_host.query_values,
                               static_cast<std::size_t>(problem.queries * problem.dims) * sizeof(float),
                               context.stream);
        queries = reinterpret_cast<const float*>(copy);
    }
    const EscalationSearch search{context, problem, buffers, layout, context.workspace.data(), queries};
    const FoundLists found{search.of_screening<float>(layout.screening.distances),
                           search.of_screening<std::int32_t>(layout.screening.indices)};
    if (problem.k > 0) search.prepare_sets();
    for (std::int64_t first = 0; first < problem.queries; first += layout.screening.chunk()) {
        const std::int64_t count = std::min(layout.screening.chunk(), problem.queries - first);
        if (problem.k > 0 && problem.metric == Metric::cosine)
            search.search<Metric::cosine>(first, count, found);
        else if (problem.k > 0)
            search.search<Metric::euclidean>(first, count, found);
        vote_per_query(problem, buffers, {found.distances, found.indices, count, 0, problem.k, problem.vote}, first,
                       context.stream);
    }
    if (problem.queries_in == QueriesIn::host)
        device::copy_to_host(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries),
                             context.stream);
}

}  // namespace

Variant<Problem> screened_escalation() {
    return {
        .role = Role::modern,
        .summary = "screened_threshold; queries with many candidates once more, centred by cell",
        .source = "modern; cells as in inverted files, tested by the triangle inequality",
        .limits =
            "compute capability 9.0; 10^10 terms or more; euclidean or cosine without missing values; dims <= 16,384",
        .tolerance = kPipeline,
        .space = {{"every", {4, 16}}},
        .supports = supports,
        .workspace = workspace,
        .run = run};
}

}  // namespace espalier::knn
