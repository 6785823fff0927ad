// The workspace of a knn pipeline holds at least one query with whatever variants its stages will be: they are chosen
// when it runs. Sizes are arithmetic, so that the GPU's variants are asked on any machine.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "registries/distance/registry.hpp"
#include "registries/knn/registry.hpp"
#include "registries/smallest_k/registry.hpp"
#include "variants/knn/chunk.hpp"

namespace espalier::knn {
namespace {

DeviceInfo gpu() {
    DeviceInfo device;
    device.kind = DeviceKind::cuda;
    device.key = "nvidia-test";
    device.sm = 90;
    device.sm_count = 132;
    device.max_threads_per_sm = 2048;
    device.registers_per_sm = 65536;
    device.memory_bytes = std::size_t{128} << 30;
    device.l2_bytes = std::size_t{50} << 20;
    device.shared_per_block = 48 << 10;
    device.shared_per_block_optin = 227 << 10;
    device.shared_per_sm = 228 << 10;
    device.constant_bytes = 64 << 10;
    device.texture_1d_linear_floats = std::int64_t{1} << 28;
    device.texture_2d_width = 131072;
    device.texture_2d_height = 65000;
    device.texture_2d_pitch = 2097120;
    device.texture_pitch_alignment = 32;
    return device;
}

/// The most that any variant of a stage wants, and which.
struct Most {
    std::size_t bytes = 0;
    std::string variant;
};

template <class P>
Most most_workspace(std::span<const Registered<P>> registry, const P& problem, const DeviceInfo& device) {
    Most most;
    for (const Registered<P>& entry : registry)
        for (const Configuration& configuration : entry.variant.space.enumerate()) {
            if (!entry.variant.workspace || !supports(entry, problem, configuration, device)) continue;
            const std::size_t bytes = entry.variant.workspace(problem, configuration, device);
            if (bytes > most.bytes) most = {bytes, std::string(entry.variant.name)};
        }
    return most;
}

TEST(KnnWorkspace, HoldsOneQueryWhateverItsStagesAre) {
    const DeviceInfo device = gpu();
    for (const std::int64_t points : {1, 5, 1100, 20000, 100000, 3000000})
        for (const std::int64_t dims : {1, 50, 1000})
            for (const std::int64_t k : {1, 32, 1024}) {
                if (k > points) continue;
                const Problem problem{.queries = 1, .points = points, .dims = dims, .k = k};
                const std::size_t given = chunk_workspace(problem, device, 1, std::size_t{64} << 20);
                const std::size_t stages = given - ChunkLayout(problem, device, 1).of_the_stages;
                const Most distances =
                    most_workspace(distance::registry(),
                                   distance::Problem{1, points, dims, problem.metric, problem.missing, false}, device);
                const Most lists = most_workspace(smallest_k::registry(), smallest_k::Problem{1, points, k}, device);
                EXPECT_LE(distances.bytes, stages) << distances.variant << ' ' << points << 'x' << dims;
                EXPECT_LE(lists.bytes, stages) << lists.variant << ' ' << points << " k=" << k;
            }
}

/// What a call of screened_threshold needs beside the rows of both sets, which are there as they are given and in
/// halves.
TEST(KnnWorkspace, OfCellsIsAFewTimesItsBudget) {
    const DeviceInfo device = gpu();
    const auto entry =
        std::ranges::find_if(registry(), [](const auto& each) { return each.variant.name == "screened_threshold"; });
    Problem problem;
    for (problem.queries = 128; problem.queries <= 131072; problem.queries *= 4)
        for (const std::int64_t points : {100'000, 2'000'000})
            for (const std::int64_t dims : {16, 96, 768})
                for (const std::int64_t k : {1, 100, 1024}) {
                    problem.points = points, problem.dims = dims, problem.k = k;
                    const auto rows = static_cast<double>((problem.queries + points) * (dims + 64) * 6);
                    for (const Configuration& configuration : entry->variant.space.enumerate()) {
                        const auto bytes =
                            static_cast<double>(entry->variant.workspace(problem, configuration, device));
                        EXPECT_LE(bytes - rows, 9.5e9)
                            << problem.queries << " x " << points << " x " << dims << ", " << k;
                    }
                }
}

}  // namespace
}  // namespace espalier::knn
