// Two loops. Rows are read along cache lines; every number that is written lies in another one.

#include "transpose/problem.hpp"

namespace espalier::transpose {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    for (std::int64_t r = 0; r < problem.rows; ++r)
        for (std::int64_t c = 0; c < problem.columns; ++c)
            buffers.out[c * problem.rows + r] = buffers.in[r * problem.columns + c];
}

}  // namespace

Variant<Problem> cpu_plain() {
    return {.role = Role::baseline,
            .summary = "two loops on one thread",
            .source = "",
            .tolerance = kExact,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::transpose
