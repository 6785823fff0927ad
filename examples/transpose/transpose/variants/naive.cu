// A thread per number. Reads of a warp lie side by side; its writes lie a row of the result apart: 32 sectors for 128
// bytes.

#include "device/kernel.hpp"
#include "transpose/problem.hpp"

namespace espalier::transpose {
namespace {

using namespace device;

__global__ void kernel(const float* in, float* out, std::int64_t rows, std::int64_t columns) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < rows * columns) out[i % columns * rows + i / columns] = in[i];
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const std::int64_t block = configuration["block"], elements = problem.rows * problem.columns;
    if (elements == 0) return;
    launch(kernel, static_cast<unsigned>((elements + block - 1) / block), static_cast<unsigned>(block), 0,
           context.stream, buffers.in, buffers.out, problem.rows, problem.columns);
}

}  // namespace

Variant<Problem> naive() {
    return {.role = Role::baseline,
            .summary = "a thread per number, writes apart",
            .source = "",
            .tolerance = kExact,
            .space = {{"block", {256, 128}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::transpose
