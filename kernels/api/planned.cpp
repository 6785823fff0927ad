#include "kernels/api/planned.hpp"

#include <new>

namespace espalier {

std::optional<Error> invalid_options(const DeviceState& device, const Options& options) {
    if (auto error = invalid_threads(options)) return error;
    if (auto error = invalid_memory(options.memory)) return error;
    if (device.info.kind == DeviceKind::cuda) return std::nullopt;
    if (options.memory == Memory::device)
        return invalid("Options::memory is device, but the call runs on the CPU: pass host memory or a GPU");
    if (options.stream) return invalid("Options::stream must be null for the CPU");
    return std::nullopt;
}

std::optional<Error> invalid_plan_options(const DeviceState& device, const Options& options,
                                          const PlanOptions& planning) {
    if (!is_enumerator(planning.effort, Effort::predict))
        return invalid("PlanOptions::effort is none of the enumerators of espalier::Effort");
    if (planning.budget.count() < 0) return invalid("PlanOptions::budget is negative: give 0 for the effort's own");
    if (options.stream) return invalid("a plan has no stream: pass Options::stream to its run instead");
    if (options.progress)
        return invalid("a plan has no progress, as its runs only enqueue: leave Options::progress out");
    return invalid_options(device, options);
}

std::optional<Error> wrong_workspace(const Transport& transport, std::span<const ArraySpec> specs,
                                     std::span<void* const> pointers, std::size_t variant_bytes,
                                     std::span<std::byte> workspace) {
    const std::size_t needed = copies_bytes(transport, specs, pointers) + variant_bytes;
    if (needed == 0) return std::nullopt;
    if (workspace.size() < needed) {
        const std::string has = "the workspace has " + std::to_string(workspace.size()) + " bytes, but ";
        if (workspace.size() >= copies_bytes(transport, specs) + variant_bytes)  // enough for aligned arrays
            return invalid(has + std::to_string(needed) + " are needed for arrays that are not aligned to " +
                           std::to_string(kGpuAlignment) + " bytes: align them, or give as much");
        return invalid(has + "the plan needs " + std::to_string(needed) + ": give what its workspace_bytes() says");
    }
    const std::size_t alignment = workspace_alignment(transport.on_gpu());
    if (!workspace.data()) return invalid("the workspace is null");
    if (reinterpret_cast<std::uintptr_t>(workspace.data()) % alignment == 0) return std::nullopt;
    return invalid("the workspace is not aligned to " + std::to_string(alignment) + " bytes");
}

const PlanState& planned_state(const PlanState* state) {
    if (state) return *state;
    throw InvalidCall("the plan is empty because it was moved from: run the one that it was moved to, or make another");
}

CallMemory::CallMemory(const Transport& transport, std::size_t bytes, Stream stream) {
    if (bytes == 0) return;
    if (!transport.on_gpu()) {
        cpu_ = device::CallPages(bytes);
        span_ = {cpu_.data(), bytes};
        return;
    }
    // A pool promises less than the alignment that textures need, even if it gives it so far.
    gpu_ = device::StreamBuffer(bytes + kGpuAlignment, stream);
    const auto address = reinterpret_cast<std::uintptr_t>(gpu_.data());
    span_ = {gpu_.data() + (kGpuAlignment - address % kGpuAlignment) % kGpuAlignment, bytes};
}

}  // namespace espalier
