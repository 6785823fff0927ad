// Nearest neighbours of any data and any number of attributes, most of whose distances are never computed. Tensor cores
// multiply the queries and a sample of the points in halves; the k points of the sample that look nearest have their
// distances computed directly, and the farthest of them bounds each query's k-th distance, whatever halves are worth.
// Then all points are multiplied, and what is not surely beyond that bound (screened_bound.hpp) is listed. Of the
// candidates those that look nearest tighten the bound once more, and the rest that still matter have their distances
// computed, in single precision, term by term: the list is what the direct search finds, to the bit.
//
// Clusters cost more candidates and no search of everything. `fused_tile`'s kernel searches for the queries whose
// candidates find no room: those that are far out or not finite, and those of points that halves cannot tell apart.

#include "kernels/core/variant.hpp"
#include "variants/knn/chunk.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/threshold_search.cuh"

namespace espalier::knn {
namespace {

using threshold::ThresholdLayout, threshold::ThresholdSearch;

constexpr std::int64_t kMostAttributes = 16'384;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (device.sm < 80)
        return Support::no("needs compute capability 8.0 for matrices of halves, this is " + std::to_string(device.sm));
    if ((problem.metric != Metric::euclidean && problem.metric != Metric::cosine) || problem.missing != Missing::none)
        return Support::no("bounds euclidean and cosine distances without missing values only");
    if (problem.dims > kMostAttributes) return Support::no("more than 16,384 attributes");
    if (problem.queries > std::numeric_limits<std::int32_t>::max())
        return Support::no("more than 2,147,483,647 queries: it lists them in 32 bits");
    if (const Support products = threshold::supports_products(device); !products) return products;
    return pipeline_supports(problem);
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return ThresholdLayout(problem, device, configuration["every"]).bytes;
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    const ThresholdLayout layout(problem, context.device, configuration["every"]);
    check_workspace(context, layout.bytes);
    const float* queries = buffers.query_values;
    if (problem.queries_in == QueriesIn::host) {
        std::byte* const copy = context.workspace.data() + layout.queries;
        device::copy_to_device(copy, buffers.on_host.query_values,
                               static_cast<std::size_t>(problem.queries * problem.dims) * sizeof(float),
                               context.stream);
        queries = reinterpret_cast<const float*>(copy);
    }
    const ThresholdSearch search{context, problem, buffers, layout, context.workspace.data(), queries};
    const FoundLists lists{search.at<float>(layout.distances), search.at<std::int32_t>(layout.indices)};
    if (problem.k > 0) search.prepare_sets();
    for (std::int64_t first = 0; first < problem.queries; first += layout.chunk()) {
        const std::int64_t count = std::min(layout.chunk(), problem.queries - first);
        if (problem.k > 0 && problem.metric == Metric::cosine)
            search.search<Metric::cosine>(first, count, {lists, first, count});
        else if (problem.k > 0)
            search.search<Metric::euclidean>(first, count, {lists, first, count});
        vote_per_query(problem, buffers, {lists.distances, lists.indices, count, 0, problem.k, problem.vote}, first,
                       context.stream);
    }
    if (problem.queries_in == QueriesIn::host)
        device::copy_to_host(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries),
                             context.stream);
}

}  // namespace

Variant<Problem> screened_threshold() {
    return {.role = Role::modern,
            .summary = "a sample bounds each query's k-th distance; tensor cores list what may be nearer",
            .source = "modern; samples as in filtered selection, bounds as screened_groups",
            .limits = "compute capability 9.0; euclidean or cosine without missing values; dims <= 16,384",
            .tolerance = kPipeline,
            .space = {{"every", {4, 16}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
