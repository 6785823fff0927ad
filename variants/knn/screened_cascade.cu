// `screened_groups`, and for the queries that its bounds do not suffice for `screened_threshold`, whose sample bounds a
// query's k-th distance whatever halves are worth: a cascade, as detectors of objects reject most windows by a cheap
// test. On data without structure the second stage has nothing to do, and its kernels end at once; on clusters far
// apart it does nearly all of the work. The first gives a query up when that has cost about what the second will. The
// list is what the direct search finds, to the bit.

#include "kernels/core/variant.hpp"
#include "variants/knn/group_screening.cuh"
#include "variants/knn/threshold_search.cuh"

namespace espalier::knn {
namespace {

using threshold::ThresholdLayout, threshold::ThresholdSearch;

/// Points of which the first stage looks at one, at most: for the second a query takes as long as 1/128 of its points
/// do one by one.
constexpr int kShare = 128;

/// Queries that the direct search is done with while the second stage finds the neighbours of a single one, in 3 ms on
/// an H200: as many or fewer are left to it. On the host executor hardly any, so that the second stage is tested there.
std::int64_t few_queries(const Problem& problem, const DeviceInfo& device) {
    const std::int64_t terms = device.emulated ? 2'000 : 10'000'000'000;
    return terms / std::max<std::int64_t>(problem.points * problem.dims, 1);
}

/// Where the second stage's part of the workspace is, behind the first's. Its chunks are larger than when it is alone,
/// since each is launched whether there is something to do or not.
struct CascadeLayout {
    static constexpr std::int64_t kEvery = 16, kRoom = 8'192, kBudget = std::int64_t{2} << 30;

    GroupLayout groups;
    std::size_t second;
    ThresholdLayout threshold;

    CascadeLayout(const Problem& problem, const DeviceInfo& device, std::int64_t group)
        : groups(problem, device, group),
          second(divided_up(groups.bytes, threshold::kTileAlignment) * threshold::kTileAlignment),
          threshold(chunk_of(problem, groups.chunk), device, kEvery, kRoom, kBudget) {}

    [[nodiscard]] std::size_t bytes() const { return second + threshold.bytes; }

private:
    static Problem chunk_of(Problem problem, std::int64_t queries) {
        problem.queries = queries;
        problem.queries_in = QueriesIn::device;
        return problem;
    }
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (const Support groups = supports_groups(problem, device); !groups) return groups;
    if (problem.queries <= few_queries(problem, device))
        return Support::no("too few queries for a second stage: screened_groups does the same");
    return threshold::supports_products(device);
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return CascadeLayout(problem, device, configuration["group"]).bytes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    const CascadeLayout layout(problem, context.device, configuration["group"]);
    check_workspace(context, layout.bytes());
    std::byte* const memory = context.workspace.data();
    const threshold::Listed listed{
        reinterpret_cast<const std::int32_t*>(memory + layout.groups.listed),
        &reinterpret_cast<const Findings*>(memory)->uncertified,
        static_cast<std::int32_t>(std::min(few_queries(problem, context.device), layout.threshold.chunk()))};
    const auto search_listed = [&](const float* queries, std::int64_t first, std::int64_t count,
                                   const FoundLists& found) {
        const ThresholdSearch search{context, problem, buffers, layout.threshold, memory + layout.second,
                                     queries, listed};
        search.prepare_sets();
        for (std::int64_t place = 0; place < count; place += layout.threshold.chunk())
            search.search<Metric::euclidean>(place, std::min(layout.threshold.chunk(), count - place),
                                             {found, first, count});
    };
    search_by_groups<kShare>(context, problem, buffers, layout.groups, configuration["group"], search_listed);
}

}  // namespace

Variant<Problem> screened_cascade() {
    return {.role = Role::modern,
            .summary = "screened_groups, then screened_threshold for the queries that its bounds do not suffice for",
            .source = "modern; cascades as in Viola and Jones 2001",
            .limits =
                "compute capability 9.0; 10^10 terms or more; euclidean without missing values; k <= 128; dims <= 576 "
                "on an H200",
            .tolerance = kPipeline,
            .space = {{"group", {8, 32, 128}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
