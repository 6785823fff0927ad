// Queries streamed from the host through two slots, each with its stream, page-locked staging memory and half
// of the workspace: while the device works on one chunk, the host gathers the next and its copy is under way
// (source K, fig. 32, K9, K10).

#include <array>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/staging.cuh"

namespace espalier::knn {
namespace {

using namespace device;

constexpr std::size_t kBudgetOfASlot = std::size_t{512} << 20;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return streaming_supports(problem);
}

constexpr std::size_t kAlignment = 512;  // of textures

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    const std::size_t slot =
        chunk_workspace(problem, device, queries_per_chunk(problem, configuration["chunks"]), kBudgetOfASlot);
    return 2 * ((slot + kAlignment - 1) / kAlignment * kAlignment);
}

/// What a chunk in flight holds. A slot is used again only after its chunk has come home.
class Slot {
public:
    Slot(const Context& caller, int number, std::span<std::byte> workspace)
        : number_(number), context_{caller.device, stream_.get(), workspace} {}

    /// An error elsewhere may leave a chunk in flight, which still uses the staging and the workspace.
    ~Slot() {
        try {
            if (count_ > 0) synchronize(stream_.get());
        } catch (const DeviceError&) {
            // Whoever waits for the device next is told.
        }
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    /// Enqueues a chunk and returns its number of queries.
    std::int64_t send(const Problem& problem, const Buffers& buffers, std::int64_t first, std::int64_t most) {
        const ChunkPlan plan = plan_chunk(problem, buffers.stages, context_, most);
        first_ = first;
        count_ = plan.layout.queries;
        const std::size_t bytes = staging_bytes(problem, count_);
        memory_ = staging(true, number_, bytes);
        auto* const values = reinterpret_cast<float*>(context_.workspace.data() + plan.layout.query_values);
        gather_on_host(problem, buffers, first_, count_, memory_);
        if (problem.dims > 0) copy_to_device(values, memory_, bytes, context_.stream);
        run_stages(context_, plan, buffers, values);
        vote_per_query(problem, buffers, neighbours_in(context_, plan.layout, problem), first_, context_.stream);
        // In the order of the stream, so the staged queries have been read by now.
        copy_to_host(memory_, predictions_of(buffers) + prediction_bytes(first_), prediction_bytes(count_),
                     context_.stream);
        done_.record(context_.stream);
        return count_;
    }

    /// Waits for the chunk in flight, if any, and hands its predictions to the caller.
    void receive(const Buffers& buffers) {
        if (count_ == 0) return;
        done_.wait_for();
        std::memcpy(buffers.on_host.predictions + prediction_bytes(first_), memory_, prediction_bytes(count_));
        count_ = 0;
    }

    void start_after(const Event& event) const { event.make_wait(context_.stream); }

private:
    int number_;
    OwnedStream stream_;
    Event done_;
    Context context_;
    std::byte* memory_ = nullptr;
    std::int64_t first_ = 0, count_ = 0;
};

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    const std::size_t half = context.workspace.size() / 2 / kAlignment * kAlignment;
    const std::int64_t most = queries_per_chunk(problem, configuration["chunks"]);
    std::array<Slot, 2> slots{Slot(context, 0, context.workspace.first(half)),
                              Slot(context, 1, context.workspace.subspan(half, half))};
    // The slots' streams keep the order that the caller's stream promises.
    Event start;
    start.record(context.stream);
    for (const Slot& slot : slots) slot.start_after(start);
    std::size_t turn = 0;
    for (std::int64_t first = 0; first < problem.queries; turn = 1 - turn) {
        slots[turn].receive(buffers);
        first += slots[turn].send(problem, buffers, first, std::min(most, problem.queries - first));
    }
    for (Slot& slot : slots) slot.receive(buffers);
}

}  // namespace

Variant<Problem> asynchronous() {
    return {.summary = "queries streamed from the host through two slots: gathering and copies hide behind kernels",
            .source = "K fig. 32, K9, K10",
            .limits = "k <= 1,024; queries_in=host",
            .tolerance = kPipeline,
            .waits = "it has streams and page-locked memory of its own",
            .space = {{"chunks", {8, 4, 32}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
