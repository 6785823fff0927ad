// Most distances are ruled out without being computed. Tensor cores multiply the queries and the points, centred and
// rounded to half precision, and from each product follows a lower bound of the distance (screened_bound.hpp). Of every
// group of 8 or 32 neighbouring points only the least bound is kept (as Chern et al. 2022 reduce their products): the
// kernel that multiplies has no branch, and the order of the data does not matter to it. A warp per query then finds
// a bound that k groups reach, and computes the distances of the groups that reach it or come near, in single
// precision, term by term. A query is done if its k-th distance is below the bounds of all other groups: then the list
// is what the direct search finds, to the bit. The others are listed, and `fused_tile`'s kernel searches for them.
//
// Points far out cost themselves alone, and the attributes that vary most are held more exactly where there is room
// (screened_sets.cuh). Clusters far apart, beside which the distances within are small, are bounded badly all the same,
// and so are many points at the same place: that costs the direct search, and the screening in vain on top. So large
// problems of more than a few attributes are left to `screened_threshold`, which takes half as long again on even data,
// and not fifty times as long on other.

#include "kernels/core/variant.hpp"
#include "variants/knn/group_screening.cuh"

namespace espalier::knn {
namespace {

/// All terms of the direct search, 0.3 ps each on an H100, may come on top: beyond 3 ms that is many times what
/// screening takes. With few attributes a bound costs as much as a distance.
constexpr double kMostTerms = 1e10;
constexpr std::int64_t kFewAttributes = 16;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (problem.dims > kFewAttributes && static_cast<double>(problem.terms()) > kMostTerms)
        return Support::no("more than 10^10 terms: a search of all points would take too long");
    return supports_groups(problem, device);
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return GroupLayout(problem, device, configuration["group"]).bytes;
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    const GroupLayout layout(problem, context.device, configuration["group"]);
    check_workspace(context, layout.bytes);
    std::byte* const memory = context.workspace.data();
    const auto search_listed = [&](const float* queries, std::int64_t first, std::int64_t count,
                                   const FoundLists& found) {
        const Search direct{queries,
                            buffers.point_values,
                            problem.queries,
                            problem.points,
                            first,
                            count,
                            reinterpret_cast<const std::int32_t*>(memory + layout.listed),
                            &reinterpret_cast<const Findings*>(memory)->uncertified,
                            layout.direct_blocks,
                            static_cast<std::int32_t>(problem.dims),
                            static_cast<std::int32_t>(problem.k),
                            layout.direct.length,
                            Walk(layout.direct.point_tiles),
                            reinterpret_cast<std::uint64_t*>(memory + layout.lists)};
        launch_search<kDirect>(context, problem, buffers, direct, layout.direct_blocks);
        launch_merge<kDirect>(context, direct, found, count);
    };
    search_by_groups(context, problem, buffers, layout, configuration["group"], search_listed);
}

}  // namespace

Variant<Problem> screened_groups() {
    return {.role = Role::modern,
            .summary = "tensor cores bound groups of points; direct distances of the groups that may hold neighbours",
            .source = "after Chern et al. 2022",
            .limits =
                "compute capability 8.0; euclidean without missing values; k <= 128; dims <= 576 on an H200; "
                "10^10 terms, or 16 attributes",
            .tolerance = kPipeline,
            .space = {{"group", {8, 32, 128}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
