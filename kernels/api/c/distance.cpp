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

/// What the functions for distances are given.
struct Sets {
    Sets(const espalier_items* asked, const espalier_items* all, std::int64_t stride, std::int32_t wanted)
        : queries(c::items_of(asked, "queries")),
          points(c::items_of(all, "points")),
          layout(c::matrix_layout(wanted, "layout")) {
        c::check_stride(stride, layout == MatrixLayout::row_major ? points.count : queries.count, "stride");
    }

    Items queries, points;
    MatrixLayout layout;
};

}  // namespace

espalier_status espalier_pairwise_distances(const espalier_device* device, const espalier_items* queries,
                                            const espalier_items* points, const espalier_distance_rule* rule,
                                            float* result, std::int64_t stride, std::int32_t layout,
                                            const espalier_options* options) noexcept {
    return call([&] {
        const Sets sets(queries, points, stride, layout);
        return pairwise_distances(c::device_of(device), sets.queries, sets.points, rule_of(rule), result,
                                  c::options_of(options), sets.layout);
    });
}

espalier_status espalier_plan_pairwise_distances(const espalier_device* device, const espalier_items* queries,
                                                 const espalier_items* points, const espalier_distance_rule* rule,
                                                 std::int64_t stride, std::int32_t layout,
                                                 const espalier_options* options, espalier_plan** plan) noexcept {
    return call([&] {
        c::take_place(plan, "plan");
        const Sets sets(queries, points, stride, layout);
        return c::give_plan(plan_pairwise_distances(c::device_of(device), sets.queries, sets.points, rule_of(rule),
                                                    c::options_of(options), sets.layout),
                            plan);
    });
}

espalier_status espalier_pairwise_distances_run(const espalier_plan* plan, const espalier_items* queries,
                                                const espalier_items* points, float* result, void* stream,
                                                void* workspace, std::size_t workspace_bytes) noexcept {
    return call([&] {
        return c::plan_of<DistancesPlan>(plan, "espalier_plan_pairwise_distances()")
            .run(c::items_of(queries, "queries"), c::items_of(points, "points"), result, c::stream_of(stream),
                 c::workspace_of(workspace, workspace_bytes));
    });
}

espalier_status espalier_explain_pairwise_distances(const espalier_device* device, const espalier_items* queries,
                                                    const espalier_items* points, const espalier_distance_rule* rule,
                                                    std::int64_t stride, std::int32_t layout,
                                                    const espalier_options* options, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        const Sets sets(queries, points, stride, layout);
        return c::give_text(explain_pairwise_distances(c::device_of(device), sets.queries, sets.points, rule_of(rule),
                                                       c::options_of(options), sets.layout),
                            text);
    });
}
