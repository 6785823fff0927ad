#include "espalier/travel_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "kernels/api/planned.hpp"
#include "kernels/problems/travel_time.hpp"

namespace espalier::inline v1 {
namespace {

using travel_time::Buffers;
using travel_time::Problem;

static_assert(sizeof(Point) == 3 * sizeof(double));  // the kernels read coordinates

std::optional<Error> invalid_shape(std::int64_t receivers, const SourceGrid& grid, const DelayRule& rule) {
    if (rule.phases < 1) return invalid("phases is " + std::to_string(rule.phases) + ": there is at least one");
    if (rule.phases > 1 && rule.phase_samples < 1)
        return invalid("phase_samples is " + std::to_string(rule.phase_samples) +
                       ": with several phases it is the distance between copies of a trace");
    if (!(rule.samples_per_metre > 0) || !std::isfinite(rule.samples_per_metre))
        return invalid("samples_per_metre is not a positive number");
    return invalid_sizes(
        {{"receivers", receivers}, {"columns", grid.columns}, {"rows", grid.rows}, {"layers", grid.layers}});
}

bool finite(const Point& point) { return std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.z); }

/// How far one coordinate of a receiver may be from a node's.
double farthest(double receiver, double origin, double spacing, std::int64_t nodes) {
    const double last = origin + spacing * static_cast<double>(nodes - 1);
    return std::max(std::abs(receiver - origin), std::abs(receiver - last));
}

/// The longest delay must fit its 32 bits.
std::optional<Error> invalid_positions(std::span<const Point> receivers, const SourceGrid& grid,
                                       const DelayRule& rule) {
    if (!finite(grid.origin) || !finite(grid.spacing)) return invalid("the grid's origin or spacing is not finite");
    if (grid.nodes() == 0) return std::nullopt;
    double longest = 0;
    for (std::size_t r = 0; r < receivers.size(); ++r) {
        const auto& [x, y, z] = receivers[r];
        if (!finite(receivers[r])) return invalid("the position of receiver " + std::to_string(r) + " is not finite");
        longest = std::max(longest, std::hypot(farthest(x, grid.origin.x, grid.spacing.x, grid.columns),
                                               farthest(y, grid.origin.y, grid.spacing.y, grid.rows),
                                               farthest(z, grid.origin.z, grid.spacing.z, grid.layers)));
    }
    const double samples = longest * rule.samples_per_metre + 1 +
                           static_cast<double>(rule.phases - 1) * static_cast<double>(rule.phase_samples);
    if (samples < std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    return invalid("the longest delay does not fit 32 bits: are grid, receivers and samples_per_metre in metres?");
}

struct DelayCall {
    Problem problem;
    travel_time::Model model;
    std::span<const Point> receivers;

    [[nodiscard]] std::array<ArraySpec, 2> arrays() const {
        ArraySpec positions = input_of<double>("receivers", 3 * problem.receivers);
        positions.on_host = true;
        return {positions, output_of<std::int32_t>("delays", problem.delays())};
    }
    [[nodiscard]] Buffers bind(const Pointers<2>& at) const {
        return {.receivers = static_cast<const double*>(at[0]),
                .receivers_on_host = reinterpret_cast<const double*>(receivers.data()),
                .delays = static_cast<std::int32_t*>(at[1]),
                .model = model};
    }
};

Problem problem_of(std::int64_t receivers, const SourceGrid& grid, const DelayRule& rule) {
    return {receivers, grid.columns, grid.rows, grid.layers, rule.phases};
}

}  // namespace

Result<void> compute_delays(const Device& device, std::span<const Point> receivers, const SourceGrid& grid,
                            const DelayRule& rule, std::int32_t* delays, const Options& options) {
    return guarded([&]() -> Result<void> {
        const auto count = std::ssize(receivers);
        if (auto error = invalid_shape(count, grid, rule)) return *error;
        if (auto error = invalid_positions(receivers, grid, rule)) return *error;
        const travel_time::Model model{.origin = {grid.origin.x, grid.origin.y, grid.origin.z},
                                       .spacing = {grid.spacing.x, grid.spacing.y, grid.spacing.z},
                                       .samples_per_metre = rule.samples_per_metre,
                                       .phase_samples = rule.phase_samples};
        // Some variants keep the receivers in constant memory, of which a process has one.
        static std::mutex one_at_a_time;
        const std::lock_guard lock(one_at_a_time);
        Options waiting = options;
        waiting.wait = true;
        const Pointers<2> pointers{const_cast<Point*>(receivers.data()), delays};
        return call_once(device, DelayCall{problem_of(count, grid, rule), model, receivers}, pointers, waiting);
    });
}

Result<Explanation> explain_compute_delays(const Device& device, std::int64_t receivers, const SourceGrid& grid,
                                           const DelayRule& rule, const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_shape(receivers, grid, rule)) return *error;
        return explain(problem_of(receivers, grid, rule), state_of(device), options);
    });
}

}  // namespace espalier::inline v1
