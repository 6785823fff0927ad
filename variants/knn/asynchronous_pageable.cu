// `asynchronous` from pageable memory (S3): the same two slots, but queries are gathered in memory that the device
// cannot read. The driver takes a copy through its own page-locked buffers and the host waits for that, so that only
// kernels hide behind gathering and copying. A copy home would make it wait for the kernels, too: predictions come back
// together, at the end. A variant of its own, because settings of `asynchronous` are named in its results.

#include <array>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/staging.cuh"

namespace espalier::knn {
namespace {

using namespace device;

constexpr std::size_t kPageableBudget = std::size_t{512} << 20;  ///< of a slot
constexpr std::size_t kPageableAlignment = 512;                  ///< of textures

/// A stream with half of the workspace. Staging and workspace are used until the stream has done its work.
class PageableSlot {
public:
    PageableSlot(const Context& caller, int number, std::span<std::byte> workspace)
        : number_(number), context_{caller.device, stream_.get(), workspace} {}

    ~PageableSlot() {
        try {
            synchronize(stream_.get());
        } catch (const DeviceError&) {
            // Whoever waits for the device next is told.
        }
    }
    PageableSlot(const PageableSlot&) = delete;
    PageableSlot& operator=(const PageableSlot&) = delete;

    /// Enqueues a chunk and returns its number of queries.
    std::int64_t send(const Problem& problem, const Buffers& buffers, std::int64_t first, std::int64_t most) {
        const ChunkPlan plan = plan_chunk(problem, buffers.stages, context_, most);
        const std::int64_t count = plan.layout.queries;
        const std::size_t bytes = staging_bytes(problem, count);
        copied_.wait_for();  // the driver need not have taken all of the slot's last chunk
        std::byte* const memory = staging(false, number_, bytes);
        auto* const values = reinterpret_cast<float*>(context_.workspace.data() + plan.layout.query_values);
        gather_on_host(problem, buffers, first, count, memory);
        if (problem.dims > 0) copy_to_device(values, memory, bytes, context_.stream);
        copied_.record(context_.stream);
        run_stages(context_, plan, buffers, values);
        vote_per_query(problem, buffers, neighbours_in(context_, plan.layout, problem), first, context_.stream);
        return count;
    }

    void start_after(const Event& event) const { event.make_wait(context_.stream); }
    void finish() const { synchronize(context_.stream); }

private:
    int number_;
    OwnedStream stream_;
    Event copied_;
    Context context_;
};

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    const std::size_t slot =
        chunk_workspace(problem, device, queries_per_chunk(problem, configuration["chunks"]), kPageableBudget);
    return 2 * ((slot + kPageableAlignment - 1) / kPageableAlignment * kPageableAlignment);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    const std::size_t half = context.workspace.size() / 2 / kPageableAlignment * kPageableAlignment;
    const std::int64_t most = queries_per_chunk(problem, configuration["chunks"]);
    std::array<PageableSlot, 2> slots{PageableSlot(context, 0, context.workspace.first(half)),
                                      PageableSlot(context, 1, context.workspace.subspan(half, half))};
    // The slots' streams keep the order that the caller's stream promises.
    Event start;
    start.record(context.stream);
    for (const PageableSlot& slot : slots) slot.start_after(start);
    std::size_t turn = 0;
    for (std::int64_t first = 0; first < problem.queries; turn = 1 - turn)
        first += slots[turn].send(problem, buffers, first, std::min(most, problem.queries - first));
    for (const PageableSlot& slot : slots) slot.finish();
    copy_to_host(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries),
                 context.stream);
    synchronize(context.stream);
}

}  // namespace

Variant<Problem> asynchronous_pageable() {
    return {.summary = "asynchronous from pageable memory: kernels alone hide behind gathering and copies",
            .source = "S3; K fig. 32",
            .limits = "k <= 1,024; queries_in=host",
            .tolerance = kPipeline,
            .waits = "it has streams of its own",
            .space = {{"chunks", {8, 4, 32}}},
            .supports = [](const Problem& problem, const Configuration&,
                           const DeviceInfo&) { return streaming_supports(problem); },
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
