// Nearest neighbours of any data and any number of attributes, most of whose distances are never computed. Tensor cores
// multiply the queries and a sample of the points in halves; the k points of the sample that look nearest have their
// distances computed directly, and the farthest of them bounds each query's k-th distance, whatever halves are worth.
// Then all points are multiplied, and what is not surely beyond that bound (screened_bound.hpp) is listed. Of the
// candidates those that look nearest tighten the bound once more, and the rest that still matter have their distances
// computed, in single precision, term by term: the list is what the direct search finds, to the bit.
//
// Half precision is blind to points that are near each other beside their distance from the common centre: then each is
// a candidate, and distances one by one are what the search takes its time for. In large problems the queries with many
// candidates are put into cells, whose centres are some of them. A cell has every point that may matter to its queries
// (the triangle inequality says which), queries and points are centred there, and what halves are blind to is as much
// less as a cell is smaller than the data. Within its cell a query has a sample, a threshold and candidates as before.
// In the largest problems the distances between some queries say beforehand whether cells pay for all: then no query
// meets all points.
//
// `fused_tile`'s kernel searches for the queries whose candidates find no room: those that are far out or not finite,
// and those of more points at one place than find room. Counts are kept on the device, and whatever a stage has nothing
// to do for costs its launch.

#include "kernels/core/variant.hpp"
#include "variants/knn/chunk.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/escalation_search.cuh"
#include "variants/knn/threshold_search.cuh"

namespace espalier::knn {
namespace {

using escalation::EscalationLayout, escalation::EscalationSearch;
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

/// Whether queries with many candidates go on in cells.
bool has_cells(const Problem& problem, const DeviceInfo& device) {
    return problem.queries > escalation::few_queries(problem, device);
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    const std::int64_t every = configuration["every"];
    if (has_cells(problem, device)) return EscalationLayout(problem, device, every).bytes;
    return ThresholdLayout(problem, device, every).bytes;
}

/// The queries in the device's memory; those of the host are copied to `memory`.
const float* queries_on_device(Context& context, const Problem& problem, const Buffers& buffers, std::byte* memory) {
    if (problem.queries_in != QueriesIn::host) return buffers.query_values;
    device::copy_to_device(memory, buffers.on_host.query_values,
                           static_cast<std::size_t>(problem.queries * problem.dims) * sizeof(float), context.stream);
    return reinterpret_cast<const float*>(memory);
}

/// Searches chunk by chunk and votes on `found`, the lists of a chunk.
template <class Search>
void answer(Context& context, const Problem& problem, const Buffers& buffers, const Search& search,
            std::int64_t most_queries, const FoundLists& found) {
    if (problem.k > 0) search.prepare_sets();
    for (std::int64_t first = 0; first < problem.queries; first += most_queries) {
        const std::int64_t count = std::min(most_queries, problem.queries - first);
        if (problem.k > 0 && problem.metric == Metric::cosine)
            search.template search<Metric::cosine>(first, count, found);
        else if (problem.k > 0)
            search.template search<Metric::euclidean>(first, count, found);
        vote_per_query(problem, buffers, {found.distances, found.indices, count, 0, problem.k, problem.vote}, first,
                       context.stream);
    }
}

void run_with_cells(Context& context, const Problem& problem, const Buffers& buffers, std::int64_t every) {
    const EscalationLayout layout(problem, context.device, every);
    check_workspace(context, layout.bytes);
    std::byte* const memory = context.workspace.data();
    const float* queries =
        queries_on_device(context, problem, buffers, memory + EscalationLayout::kScreening + layout.screening.queries);
    const EscalationSearch search{context, problem, buffers, layout, memory, queries};
    const FoundLists found{search.of_screening<float>(layout.screening.distances),
                           search.of_screening<std::int32_t>(layout.screening.indices)};
    answer(context, problem, buffers, search, layout.screening.chunk(), found);
}

void run_without(Context& context, const Problem& problem, const Buffers& buffers, std::int64_t every) {
    const ThresholdLayout layout(problem, context.device, every);
    check_workspace(context, layout.bytes);
    std::byte* const memory = context.workspace.data();
    const float* queries = queries_on_device(context, problem, buffers, memory + layout.queries);
    const ThresholdSearch search{context, problem, buffers, layout, memory, queries};
    const FoundLists found{search.at<float>(layout.distances), search.at<std::int32_t>(layout.indices)};
    answer(context, problem, buffers, search, layout.chunk(), found);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    if (has_cells(problem, context.device))
        run_with_cells(context, problem, buffers, configuration["every"]);
    else
        run_without(context, problem, buffers, configuration["every"]);
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
