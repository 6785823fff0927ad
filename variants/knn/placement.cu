// Each stage on the CPU or on the GPU (source P: the four combinations of distance and selection; K 3.2.2
// against K 5.4: who counts the votes). What a stage needs from the other side is copied there, so that a
// combination shows what moving the matrix costs against what the faster side saves.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/threads.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/staging.cuh"
#include "variants/knn/threads_worth.hpp"

namespace espalier::knn {
namespace {

using namespace device;

constexpr std::size_t kBudget = std::size_t{1} << 30;

/// The CPU with the threads that a chunk of so many terms is worth, of those that the caller may use.
DeviceInfo cpu_for(std::int64_t terms) {
    static const DeviceInfo all = describe_cpu();
    DeviceInfo info = all;
    info.threads = threads_worth(terms, allowed_threads(0, all.threads));
    return info;
}

/// An intermediate result with a copy on either side; `on_gpu` and `on_cpu` bring it over if it is not there.
template <class T>
class TwoSided {
public:
    TwoSided(std::byte* gpu, std::int64_t count, Stream stream)
        : gpu_(reinterpret_cast<T*>(gpu)), cpu_(static_cast<std::size_t>(count)), stream_(stream) {}

    T* write_gpu() {
        gpu_is_current_ = true, cpu_is_current_ = false;
        return gpu_;
    }
    T* write_cpu() {
        cpu_is_current_ = true, gpu_is_current_ = false;
        return cpu_.data();
    }
    const T* on_gpu() {
        if (!gpu_is_current_ && bytes() > 0) copy_to_device(gpu_, cpu_.data(), bytes(), stream_);
        gpu_is_current_ = true;
        return gpu_;
    }
    const T* on_cpu() {
        if (!cpu_is_current_ && bytes() > 0) {
            copy_to_host(cpu_.data(), gpu_, bytes(), stream_);
            synchronize(stream_);
        }
        cpu_is_current_ = true;
        return cpu_.data();
    }

private:
    [[nodiscard]] std::size_t bytes() const { return cpu_.size() * sizeof(T); }

    T* gpu_;
    std::vector<T> cpu_;
    Stream stream_;
    bool gpu_is_current_ = false, cpu_is_current_ = false;
};

/// A chunk with its intermediate results and the stages that fill them.
class Chunk {
public:
    Chunk(const Context& context, const Problem& problem, const Buffers& buffers, const ChunkPlan& plan,
          std::int64_t first)
        : context_(context),
          problem_(problem),
          buffers_(buffers),
          plan_(plan),
          cpu_(cpu_for(plan.layout.queries * problem.points * std::max(problem.dims, problem.k))),
          first_(first),
          queries_(memory(plan.layout.query_values), plan.layout.queries * problem.dims, context.stream),
          matrix_(memory(plan.layout.matrix), plan.layout.queries * problem.points, context.stream),
          distances_(memory(plan.layout.distances), plan.layout.queries * problem.k, context.stream),
          indices_(memory(plan.layout.indices), plan.layout.queries * problem.k, context.stream) {
        gather_on_host(problem, buffers, first, plan.layout.queries,
                       reinterpret_cast<std::byte*>(queries_.write_cpu()));
    }

    void compute_distances(bool on_gpu) {
        run_stage(on_gpu, on_gpu ? plan_.distance : buffers_.stages.distance(plan_.distance_problem, cpu_),
                  plan_.distance_problem,
                  {.query_values = on_gpu ? queries_.on_gpu() : queries_.on_cpu(),
                   .point_values = on_gpu ? buffers_.point_values : buffers_.on_host.point_values,
                   .result = on_gpu ? matrix_.write_gpu() : matrix_.write_cpu(),
                   .types = on_gpu ? buffers_.types : buffers_.types_on_host,
                   .types_on_host = buffers_.types_on_host});
    }

    void select(bool on_gpu) {
        run_stage(on_gpu, on_gpu ? plan_.smallest_k : buffers_.stages.smallest_k(plan_.smallest_k_problem, cpu_),
                  plan_.smallest_k_problem,
                  {.distances = on_gpu ? matrix_.on_gpu() : matrix_.on_cpu(),
                   .values = on_gpu ? distances_.write_gpu() : distances_.write_cpu(),
                   .indices = on_gpu ? indices_.write_gpu() : indices_.write_cpu()});
    }

    /// Predictions are wanted on either side.
    void predict(bool on_gpu) {
        std::byte* const there = predictions_of(buffers_) + prediction_bytes(first_);
        std::byte* const here = buffers_.on_host.predictions + prediction_bytes(first_);
        const std::size_t bytes = prediction_bytes(plan_.layout.queries);
        const auto neighbours = [&](const float* distances, const std::int32_t* indices) {
            return Neighbours{distances, indices, plan_.layout.queries, 0, problem_.k, problem_.vote};
        };
        if (on_gpu) {
            vote_per_query(problem_, buffers_, neighbours(distances_.on_gpu(), indices_.on_gpu()), first_,
                           context_.stream);
            copy_to_host(here, there, bytes, context_.stream);
        } else {
            vote_on_cpu(neighbours(distances_.on_cpu(), indices_.on_cpu()));
            // The kernel that votes is also the one that hands out the neighbours.
            if (buffers_.neighbour_distances || buffers_.neighbour_indices)
                vote_per_query(problem_, buffers_, neighbours(distances_.on_gpu(), indices_.on_gpu()), first_,
                               context_.stream);
            copy_to_device(there, here, bytes, context_.stream);
        }
        synchronize(context_.stream);
    }

private:
    [[nodiscard]] std::byte* memory(std::size_t offset) const { return context_.workspace.data() + offset; }

    template <class P>
    void run_stage(bool on_gpu, const Chosen<P>& chosen, const P& problem, const typename P::Buffers& buffers) const {
        if (on_gpu) {
            Context gpu{context_.device, context_.stream, context_.workspace.subspan(plan_.layout.of_the_stages)};
            return chosen.variant->run(gpu, problem, buffers, chosen.configuration);
        }
        std::vector<std::byte> workspace(ChunkPlan::stage_workspace(chosen, problem, cpu_));
        Context here{cpu_, nullptr, workspace};
        chosen.variant->run(here, problem, buffers, chosen.configuration);
    }

    void vote_on_cpu(const Neighbours& chunk) const {
        auto* const predictions = buffers_.on_host.predictions + prediction_bytes(first_);
#pragma omp parallel for schedule(static) num_threads(cpu_.threads)
        for (std::int64_t row = 0; row < chunk.rows; ++row) {
            std::byte* const to = predictions + prediction_bytes(row);
            if (buffers_.classes) {
                const std::int32_t predicted = predict_class(chunk.of(row), buffers_.on_host.point_classes);
                std::memcpy(to, &predicted, sizeof predicted);
            } else {
                const float predicted = predict_target(chunk.of(row), buffers_.on_host.point_targets);
                std::memcpy(to, &predicted, sizeof predicted);
            }
        }
    }

    const Context& context_;
    const Problem& problem_;
    const Buffers& buffers_;
    const ChunkPlan& plan_;
    DeviceInfo cpu_;
    std::int64_t first_;
    TwoSided<float> queries_, matrix_, distances_;
    TwoSided<std::int32_t> indices_;
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return streaming_supports(problem);
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    return chunk_workspace(problem, device, problem.queries, kBudget);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    for (std::int64_t first = 0; first < problem.queries;) {
        const ChunkPlan plan = plan_chunk(problem, buffers.stages, context, problem.queries - first);
        Chunk chunk(context, problem, buffers, plan, first);
        chunk.compute_distances(configuration["gpu_distance"] != 0);
        chunk.select(configuration["gpu_selection"] != 0);
        chunk.predict(configuration["gpu_vote"] != 0);
        first += plan.layout.queries;
    }
}

}  // namespace

Variant<Problem> placement() {
    return {.summary = "each stage on the CPU or on the GPU, with the copies that this takes",
            .source = "P1; K 3.2.2, 5.4",
            .limits = "k <= 1,024; queries_in=host",
            .tolerance = kPipeline,
            .waits = "part of it runs on the host",
            .space = {{"gpu_distance", {1, 0}}, {"gpu_selection", {1, 0}}, {"gpu_vote", {1, 0}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
