#include "espalier/histogram.hpp"

#include "kernels/api/planning.hpp"
#include "kernels/problems/histogram.hpp"

namespace espalier::inline v1 {
namespace {

using histogram::Buffers;
using histogram::kBins;
using histogram::Problem;

struct HistogramCall {
    Problem problem;

    [[nodiscard]] std::array<ArraySpec, 2> arrays() const {
        ArraySpec bytes = input_of<std::uint8_t>("bytes", problem.bytes);
        bytes.any_address = true;
        return {bytes, output_of<std::uint64_t>("counts", kBins)};
    }
    static Buffers bind(const Pointers<2>& at) {
        return {static_cast<const std::uint8_t*>(at[0]), static_cast<std::uint64_t*>(at[1])};
    }
};

Pointers<2> pointers(const std::uint8_t* bytes, std::uint64_t* counts) {
    return {const_cast<std::uint8_t*>(bytes), counts};
}

}  // namespace

Result<void> count_bytes(const Device& device, const std::uint8_t* bytes, std::int64_t size, std::uint64_t* counts,
                         const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_sizes({{"size", size}})) return *error;
        return call_once(device, HistogramCall{{size}}, pointers(bytes, counts), options);
    });
}

Result<HistogramPlan> plan_count_bytes(const Device& device, std::int64_t size, const Options& options,
                                       const PlanOptions& planning) {
    return guarded([&]() -> Result<HistogramPlan> {
        if (auto error = invalid_sizes({{"size", size}})) return *error;
        return plan_call<HistogramPlan>(device, HistogramCall{{size}}, options, planning);
    });
}

Result<void> HistogramPlan::run(std::span<const std::uint8_t> bytes, std::uint64_t* counts, Stream stream,
                                std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<HistogramCall>(state());
        if (auto error = other_sizes({{"bytes.size()", std::ssize(bytes), planned.call.problem.bytes}})) return *error;
        return run_planned(planned, pointers(bytes.data(), counts), stream, workspace);
    });
}

Result<Explanation> explain_count_bytes(const Device& device, std::int64_t size, const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_sizes({{"size", size}})) return *error;
        return explain(Problem{size}, state_of(device), options);
    });
}

}  // namespace espalier::inline v1
