#include <utility>

#include "espalier/c/neighbours.h"
#include "kernels/api/c/call.hpp"

using namespace espalier;
using c::call;

namespace {

DistanceRule rule_of(const espalier_distance_rule* given) {
    if (!given) return {};
    const auto rule = c::known(given, "rule");
    return c::distance_rule(rule.metric, rule.missing, rule.types, rule.type_count);
}

/// A plan with the matrix that its runs write.
struct PlannedMatrix : DistancesPlan {
    PlannedMatrix(DistancesPlan plan, const DistanceMatrix& result) : DistancesPlan(std::move(plan)), matrix(result) {}

    DistanceMatrix matrix;
};

}  // namespace

espalier_status espalier_pairwise_distances(const espalier_device* device, const espalier_items* queries,
                                            const espalier_items* points, const espalier_distance_rule* rule,
                                            float* result, std::int64_t stride, std::int32_t layout,
                                            const espalier_options* options) noexcept {
    return call([&] {
        return pairwise_distances(c::device_of(device), c::items_of(queries, "queries"), c::items_of(points, "points"),
                                  rule_of(rule), {result, c::matrix_layout(layout, "layout"), stride},
                                  c::options_of(options));
    });
}

espalier_status espalier_plan_pairwise_distances(const espalier_device* device, const espalier_items* queries,
                                                 const espalier_items* points, const espalier_distance_rule* rule,
                                                 std::int64_t stride, std::int32_t layout,
                                                 const espalier_options* options, espalier_plan** plan) noexcept {
    return call([&]() -> Result<void> {
        c::take_place(plan, "plan");
        const DistanceMatrix result{nullptr, c::matrix_layout(layout, "layout"), stride};
        auto made = plan_pairwise_distances(c::device_of(device), c::items_of(queries, "queries"),
                                            c::items_of(points, "points"), rule_of(rule), result,
                                            c::options_of(options), c::plan_options_of(options));
        if (!made) return made.error();
        return c::give_plan(Result<PlannedMatrix>(PlannedMatrix(std::move(made).value(), result)), plan);
    });
}

espalier_status espalier_pairwise_distances_run(const espalier_plan* plan, const espalier_items* queries,
                                                const espalier_items* points, float* result, void* stream,
                                                void* workspace, std::size_t workspace_bytes) noexcept {
    return call([&] {
        const auto& planned = c::plan_of<PlannedMatrix>(plan, "espalier_plan_pairwise_distances()");
        return planned.run(c::items_of(queries, "queries"), c::items_of(points, "points"),
                           {result, planned.matrix.layout, planned.matrix.stride}, c::stream_of(stream),
                           c::workspace_of(workspace, workspace_bytes));
    });
}

espalier_status espalier_explain_pairwise_distances(const espalier_device* device, const espalier_items* queries,
                                                    const espalier_items* points, const espalier_distance_rule* rule,
                                                    std::int64_t stride, std::int32_t layout,
                                                    const espalier_options* options, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        const DistanceMatrix result{nullptr, c::matrix_layout(layout, "layout"), stride};
        return c::give_text(
            explain_pairwise_distances(c::device_of(device), c::items_of(queries, "queries"),
                                       c::items_of(points, "points"), rule_of(rule), result, c::options_of(options)),
            text);
    });
}
