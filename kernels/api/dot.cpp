#include "espalier/dot.hpp"

#include "kernels/api/checks.hpp"
#include "kernels/api/run.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/problems/dot.hpp"

namespace espalier::inline v0 {

using dot::Buffers;
using dot::Problem;

Result<void> dot_product(const Device& device, const float* a, const float* b, std::int64_t elements, float* result,
                         const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_sizes({{"elements", elements}})) return *error;
        if (auto error = invalid_arrays(
                {input_array("a", a, elements), input_array("b", b, elements), output_array("result", result, 1)}))
            return *error;
        return run(device, Problem{elements}, options, [&](Arrays& arrays) -> Buffers {
            return {arrays.input(a, elements), arrays.input(b, elements), arrays.output(result, 1)};
        });
    });
}

Result<Explanation> explain_dot_product(const Device& device, std::int64_t elements, const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_sizes({{"elements", elements}})) return *error;
        return explain(Problem{elements}, state_of(device).info, options);
    });
}

}  // namespace espalier::inline v0
