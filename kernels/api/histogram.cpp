#include "espalier/histogram.hpp"

#include "kernels/api/checks.hpp"
#include "kernels/api/run.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/problems/histogram.hpp"

namespace espalier::inline v0 {

using histogram::Buffers;
using histogram::kBins;
using histogram::Problem;

Result<void> count_bytes(const Device& device, const std::uint8_t* bytes, std::int64_t size, std::uint64_t* counts,
                         const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_sizes({{"size", size}})) return *error;
        if (auto error = invalid_arrays({input_array("bytes", bytes, size), output_array("counts", counts, kBins)}))
            return *error;
        return run(device, Problem{size}, options, [&](Arrays& arrays) -> Buffers {
            return {arrays.input(bytes, size, Arrays::Address::any), arrays.output(counts, kBins)};
        });
    });
}

Result<Explanation> explain_count_bytes(const Device& device, std::int64_t size, const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_sizes({{"size", size}})) return *error;
        return explain(Problem{size}, state_of(device).info, options);
    });
}

}  // namespace espalier::inline v0
