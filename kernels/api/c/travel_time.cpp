#include <span>

#include "espalier/c/traces.h"
#include "kernels/api/c/call.hpp"

using namespace espalier;
using c::call;

namespace {

Point point_of(const double (&xyz)[3]) { return {xyz[0], xyz[1], xyz[2]}; }

SourceGrid grid_of(const espalier_source_grid* given) {
    const auto grid = c::known(given, "grid");
    return {point_of(grid.origin), point_of(grid.spacing), grid.columns, grid.rows, grid.layers};
}

DelayRule rule_of(const espalier_delay_rule* given) {
    const auto rule = c::known(given, "rule");
    return {rule.samples_per_metre, rule.phases == 0 ? 1 : rule.phases, rule.phase_samples};
}

/// The caller's coordinates: a point is three of them.
std::span<const Point> points_of(const double* positions, std::int64_t receivers) {
    static_assert(sizeof(Point) == 3 * sizeof(double) && alignof(Point) == alignof(double));
    c::check_array(positions, "positions", receivers);
    const std::int64_t coordinates = c::count_of({{"receivers", receivers}, {"coordinates", 3}});
    return {reinterpret_cast<const Point*>(positions), static_cast<std::size_t>(coordinates / 3)};
}

}  // namespace

espalier_status espalier_compute_delays(const espalier_device* device, std::int64_t receivers, const double* positions,
                                        const espalier_source_grid* grid, const espalier_delay_rule* rule,
                                        std::int32_t* delays, const espalier_options* options) noexcept {
    return call([&] {
        return compute_delays(c::device_of(device), points_of(positions, receivers), grid_of(grid), rule_of(rule),
                              delays, c::options_of(options));
    });
}

espalier_status espalier_explain_compute_delays(const espalier_device* device, std::int64_t receivers,
                                                const espalier_source_grid* grid, const espalier_delay_rule* rule,
                                                const espalier_options* options, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return c::give_text(explain_compute_delays(c::device_of(device), receivers, grid_of(grid), rule_of(rule),
                                                   c::options_of(options)),
                            text);
    });
}
