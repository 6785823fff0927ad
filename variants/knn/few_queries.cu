// Few queries against many points: a search that has to read the points and little else. Up to 32 queries' sums with
// one or four points are in a thread's registers, so that a block reads its slice of the points once, neighbouring
// threads neighbouring points, the next attributes while it adds the ones before. The queries' attributes come through
// shared memory, 64 at a time, and each is one read for all lanes of a warp.
//
// Distances of a tile go to shared memory, where a warp per query takes what comes before its k-th so far. Of a first
// tile all would, so that the k-th smallest of the lanes' minima bounds them beforehand: candidates are little more
// than k, whatever the points are sorted by. A second kernel merges the slices' lists, a block per query, and votes; of
// few points there is a single slice, and no second kernel.
//
// Sums are those of the direct form to the bit. A cosine's norms are added up once for each point and once for each
// query, which makes one multiply-add of its three.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>

#include "kernels/core/variant.hpp"
#include "variants/knn/chunk.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/few_kernels.cuh"

namespace espalier::knn {
namespace {

using few::FewCut, few::FewLayout, few::FewSearch;

/// Bytes of shared memory of a block, or little more: a tile's distances, lists, queries, and what waits.
std::size_t shared_by_block(const Problem& problem, const DeviceInfo& device, int wanted) {
    const FewLayout layout(problem, device, wanted);
    const auto each = static_cast<std::size_t>(layout.cut.each);
    const std::size_t tile = each * few::kThreads * static_cast<std::size_t>(layout.cut.per_thread) * sizeof(float);
    const std::size_t lists = each * static_cast<std::size_t>(layout.length) * sizeof(std::uint64_t);
    return std::max(tile, sizeof(few::VoteSpace) * few::kWarps) + lists + sizeof(few::BlockSpace<32>);
}

/// Whether the sums of so many queries fit a thread's registers. A cosine has the points' norms beside them: two blocks
/// of 16 queries would spill.
constexpr bool fits_registers(Metric metric, Missing missing, int each) {
    if (each <= 8) return true;
    if (missing == Missing::allowed) return false;
    return metric == Metric::euclidean || (metric == Metric::cosine && each == 32);
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (device.sm < 80)
        return Support::no("needs compute capability 8.0 for asynchronous copies, this is " +
                           std::to_string(device.sm));
    if (problem.queries > few::kMostQueries)
        return Support::no("more than 128 queries: tiles of both sets read the points less often");
    if (problem.k > few::kLongestList) return Support::no("k above 128: its lists would be merged for longer");
    if (problem.dims > std::numeric_limits<std::int32_t>::max() - few::kChunk)
        return Support::no("more than 2,147,483,583 attributes: it counts them in 32 bits");
    const auto each = static_cast<int>(configuration["each"]);
    if (!fits_registers(problem.metric, problem.missing, each))
        return Support::no(
            "the sums of " + std::to_string(each) + " queries with four points do not fit a thread's " +
            "registers: 32 do of euclidean and cosine distances without missing values, 16 of the first");
    const int fewer = problem.metric == Metric::cosine ? 8 : each / 2;
    if (each > 8 && problem.queries <= fewer)
        return Support::no("no more than " + std::to_string(fewer) + " queries: each=" + std::to_string(fewer) +
                           " reads the points once, too");
    const std::size_t shared = shared_by_block(problem, device, each);
    if (shared > device.shared_per_block_optin)
        return Support::no("a block needs " + std::to_string(shared) + " bytes of shared memory, the device has " +
                           std::to_string(device.shared_per_block_optin));
    return pipeline_supports(problem);
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return FewLayout(problem, device, configuration["each"]).bytes;
}

template <int each, int per_thread>
void launch_with(const Context& context, const Problem& problem, const Buffers& buffers, const FewSearch& search) {
    const distance::Problem distances{problem.queries, problem.points,  problem.dims,
                                      problem.metric,  problem.missing, false};
    const distance::Buffers types_of{.types = buffers.types, .types_on_host = buffers.types_on_host};
    distance::with_metric_and_types(distances, types_of, [&](auto metric, auto missing, auto types) {
        // One point a thread where its sums are several numbers, or types come from a texture.
        constexpr bool kTexture = std::is_same_v<decltype(types), distance::TypesInTexture>;
        if constexpr (fits_registers(metric(), missing(), each) &&
                      (per_thread == 1 || (missing() == Missing::none && !kTexture)))
            few::launch_search<metric(), missing(), each, per_thread>(context, problem, buffers, search, types);
    });
}

void launch_cut(const Context& context, const Problem& problem, const Buffers& buffers, const FewCut& cut,
                const FewSearch& search) {
    switch (cut.each * 10 + cut.per_thread) {
        case 11: return launch_with<1, 1>(context, problem, buffers, search);
        case 14: return launch_with<1, 4>(context, problem, buffers, search);
        case 81: return launch_with<8, 1>(context, problem, buffers, search);
        case 84: return launch_with<8, 4>(context, problem, buffers, search);
        case 164: return launch_with<16, 4>(context, problem, buffers, search);
        default: return launch_with<32, 4>(context, problem, buffers, search);
    }
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    const FewLayout layout(problem, context.device, configuration["each"]);
    check_workspace(context, layout.bytes);
    std::byte* const memory = context.workspace.data();
    const float* queries = buffers.query_values;
    if (problem.queries_in == QueriesIn::host) {
        device::copy_to_device(memory, buffers.on_host.query_values,
                               static_cast<std::size_t>(problem.queries * problem.dims) * sizeof(float),
                               context.stream);
        queries = reinterpret_cast<const float*>(memory);
    }
    const FewSearch search{queries,
                           buffers.point_values,
                           problem.queries,
                           problem.points,
                           layout.cut.share,
                           layout.cut.slices,
                           layout.cut.groups,
                           static_cast<std::int32_t>(problem.dims),
                           static_cast<std::int32_t>(problem.k),
                           layout.length,
                           reinterpret_cast<std::uint64_t*>(memory + layout.lists)};
    if (problem.k == 0) {
        vote_per_query(problem, buffers, {nullptr, nullptr, problem.queries, 0, 0, problem.vote}, 0, context.stream);
    } else {
        launch_cut(context, problem, buffers, layout.cut, search);
        if (search.slices > 1) few::launch_merge(context, problem, buffers, search);
    }
    if (problem.queries_in == QueriesIn::host)
        device::copy_to_host(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries),
                             context.stream);
}

}  // namespace

Variant<Problem> few_queries() {
    return {.role = Role::modern,
            .summary = "a pass over the points past up to 32 queries' sums in registers, lists per slice, one merge",
            .limits =
                "compute capability 8.0; 128 queries, k <= 128; more than 8 at once: euclidean or cosine, none missing",
            .tolerance = kPipeline,
            .space = {{"each", {8, 16, 32}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
