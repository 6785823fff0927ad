// Square tiles that fit the first cache: a line that is written is still there when its other numbers come. Bands of
// tiles are dealt to threads, or stay on the calling one.

#include <algorithm>

#include "transpose/problem.hpp"

namespace espalier::transpose {
namespace {

Support supports(const Problem&, const Configuration& configuration, const DeviceInfo& device) {
    if (configuration["parallel"] && device.threads == 1)
        return Support::no("one hardware thread: the same as parallel=0");
    return Support::yes();
}

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const std::int64_t tile = configuration["tile"], bands = (problem.columns + tile - 1) / tile;
#pragma omp parallel for schedule(static) if (configuration["parallel"])
    for (std::int64_t band = 0; band < bands; ++band)
        for (std::int64_t top = 0; top < problem.rows; top += tile) {
            const std::int64_t right = std::min((band + 1) * tile, problem.columns);
            const std::int64_t bottom = std::min(top + tile, problem.rows);
            for (std::int64_t c = band * tile; c < right; ++c)
                for (std::int64_t r = top; r < bottom; ++r)
                    buffers.out[c * problem.rows + r] = buffers.in[r * problem.columns + c];
        }
}

}  // namespace

Variant<Problem> cpu_blocked() {
    return {.role = Role::documented,
            .summary = "square tiles that stay in the first cache",
            .source = "",
            .tolerance = kExact,
            .space = {{"tile", {16, 32}}, {"parallel", {0, 1}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::transpose
