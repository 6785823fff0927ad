// Distances, selection and their lists in one kernel: the matrix is never written. A block holds a tile of 128 queries
// (or 64) and walks over tiles of as many points. A tile's distances are computed in registers as
// `distance/register_tile` does, with the same roundings, and are held against the k-th best so far of their query: 64
// comparisons to 128 instructions per attribute. What is nearer goes to a buffer of its query in shared memory; when
// one is full, warps sort what waits and merge it into the queries' lists (after Johnson, Douze and Jegou 2017).
//
// The tiles are visited in steps of the golden section, so that it does not matter what the points are sorted by, and
// a list that is disturbed costs 32 candidates' sort, not one's insertion.
//
// Results are those of the two stages to the bit, ties by the lower index included: sums of squares are compared, but
// with limits at which their roots change.

#include "kernels/core/variant.hpp"
#include "variants/knn/chunk.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/fused_kernels.cuh"

namespace espalier::knn {
namespace {

constexpr std::int64_t kMost = 128;

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (device.sm < 80)
        return Support::no("needs compute capability 8.0 for asynchronous copies, this is " +
                           std::to_string(device.sm));
    if (problem.k > kMost) return Support::no("k above 128: its lists would be merged for longer than they save");
    if (configuration["per_thread"] == 8 && (problem.metric == Metric::cosine || problem.missing == Missing::allowed))
        return Support::no("8 x 8 distances of several sums each do not fit a thread's registers");
    if (problem.dims > std::numeric_limits<std::int32_t>::max())
        return Support::no("more than 2,147,483,647 attributes: it counts them in 32 bits");
    return pipeline_supports(problem);
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return FusedLayout(problem, device, kSide * configuration["per_thread"]).bytes;
}

template <int per_thread>
void search(const Context& context, const Problem& problem, const Buffers& buffers) {
    const FusedLayout layout(problem, context.device, kSide * per_thread);
    check_workspace(context, layout.bytes);
    std::byte* const memory = context.workspace.data();
    const float* queries = buffers.query_values;
    if (problem.queries_in == QueriesIn::host) {
        device::copy_to_device(memory, buffers.on_host.query_values,
                               static_cast<std::size_t>(problem.queries * problem.dims) * sizeof(float),
                               context.stream);
        queries = reinterpret_cast<const float*>(memory);
    }
    for (std::int64_t first = 0; first < problem.queries; first += layout.chunk) {
        const std::int64_t count = std::min(layout.chunk, problem.queries - first);
        const FoundLists found = layout.found(memory);
        const Cut cut = layout.cut(count, context.device);
        const Search search{queries,
                            buffers.point_values,
                            problem.queries,
                            problem.points,
                            first,
                            count,
                            nullptr,
                            nullptr,
                            cut.slices,
                            static_cast<std::int32_t>(problem.dims),
                            static_cast<std::int32_t>(problem.k),
                            layout.length,
                            Walk(layout.point_tiles),
                            reinterpret_cast<std::uint64_t*>(memory + layout.lists)};
        if (problem.k > 0) {
            launch_search<per_thread>(context, problem, buffers, search, cut.items());
            launch_merge<per_thread>(context, search, found, count);
        }
        vote_per_query(problem, buffers, {found.distances, found.indices, count, 0, problem.k, problem.vote}, first,
                       context.stream);
    }
    if (problem.queries_in == QueriesIn::host)
        device::copy_to_host(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries),
                             context.stream);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    if (configuration["per_thread"] == 8)
        search<8>(context, problem, buffers);
    else
        search<4>(context, problem, buffers);
}

}  // namespace

Variant<Problem> fused_tile() {
    return {.role = Role::modern,
            .summary = "distances in registers, candidates below the k-th best into lists: no matrix is written",
            .source = "after Johnson, Douze and Jegou 2017",
            .limits = "compute capability 8.0; k <= 128; 8 x 8 per thread: no cosine, no missing values",
            .tolerance = kPipeline,
            .space = {{"per_thread", {8, 4}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
