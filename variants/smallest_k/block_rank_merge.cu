// The ranking half of the third published CUDA k-NN (source K 3.2.3), which the source calls the most competitive, on a
// finished matrix: a block takes one tile of one row into shared memory, every thread finds the rank of its own element
// in the tile, and those below k go to the block's sorted partial list; then one thread per row merges the partial
// lists. The whole method is `knn/tile_rank`, which ranks distances that the block has computed itself and never
// writes. The matrix is transposed here, so a block's reads lie `rows` words apart. k is at most the tile.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/order.hpp"

namespace espalier::smallest_k {
namespace {

using namespace device;

std::int64_t tiles_of(const Problem& problem, const Configuration& configuration) {
    return (problem.columns + configuration["tile"] - 1) / configuration["tile"];
}

/// partials: entry j of tile t of row r is partials[(t * k + j) * rows + r].
__global__ void rank_tile(Problem problem, const float* distances, std::uint64_t* partials) {
    auto* const entries = dynamic_shared<std::uint64_t>();
    const std::int64_t row = blockIdx.x % problem.rows, tile = blockIdx.x / problem.rows;
    const std::int64_t column = tile * blockDim.x + threadIdx.x;
    std::uint64_t entry = kEmptyEntry;
    if (column < problem.columns)
        entry = entry_of(key_of(distances[column * problem.rows + row]), static_cast<std::uint32_t>(column));
    entries[threadIdx.x] = entry;
    __syncthreads();
    // Beyond the end of the row all entries are equal: the thread's number decides.
    unsigned rank = 0;
    for (unsigned t = 0; t < blockDim.x; ++t)
        rank += entries[t] < entry || (entries[t] == entry && t < threadIdx.x) ? 1 : 0;
    if (rank < problem.k) partials[(tile * problem.k + rank) * problem.rows + row] = entry;
}

/// Inserts the partial lists one by one; each ascends, so the first entry that comes too late ends it.
__global__ void merge_tiles(Problem problem, std::int64_t tiles, const std::uint64_t* partials, float* values,
                            std::int32_t* indices) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= problem.rows) return;
    const auto entry_at = [&](std::int64_t j) {
        const auto index = static_cast<std::uint32_t>(indices[j * problem.rows + row]);
        return index == 0xFFFFFFFF ? kEmptyEntry : entry_of(key_of(values[j * problem.rows + row]), index);
    };
    const auto set = [&](std::int64_t j, std::uint64_t entry) {
        values[j * problem.rows + row] = value_of(key_of_entry(entry));
        indices[j * problem.rows + row] = index_of_entry(entry);
    };
    for (std::int64_t j = 0; j < problem.k; ++j) set(j, tiles == 0 ? kEmptyEntry : partials[j * problem.rows + row]);
    for (std::int64_t tile = 1; tile < tiles; ++tile)
        for (std::int64_t i = 0; i < problem.k; ++i) {
            const std::uint64_t entry = partials[(tile * problem.k + i) * problem.rows + row];
            if (entry >= entry_at(problem.k - 1)) break;
            std::int64_t j = problem.k - 1;
            for (; j > 0 && entry < entry_at(j - 1); --j) set(j, entry_at(j - 1));
            set(j, entry);
        }
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (problem.k > configuration["tile"])
        return Support::no("k above the tile of " + std::to_string(configuration["tile"]) +
                           ": a block cannot find more than it holds");
    if (problem.rows * tiles_of(problem, configuration) > 2147483647)
        return Support::no("more than 2,147,483,647 blocks exceed the grid");
    return Support::yes();
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    return static_cast<std::size_t>(tiles_of(problem, configuration) * problem.results()) * sizeof(std::uint64_t);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    const auto tile = static_cast<unsigned>(configuration["tile"]);
    const std::int64_t tiles = tiles_of(problem, configuration);
    auto* const partials = reinterpret_cast<std::uint64_t*>(context.workspace.data());
    if (tiles > 0)
        launch(rank_tile, dim3(static_cast<unsigned>(problem.rows * tiles)), dim3(tile), tile * sizeof(std::uint64_t),
               context.stream, problem, buffers.distances, partials);
    constexpr unsigned kBlock = 128;
    launch(merge_tiles, dim3(static_cast<unsigned>((problem.rows + kBlock - 1) / kBlock)), dim3(kBlock), 0,
           context.stream, problem, tiles, partials, buffers.values, buffers.indices);
}

}  // namespace

Variant<Problem> block_rank_merge() {
    return {.summary = "blocks rank a tile of a row in shared memory, one thread per row merges",
            .source = "K 3.2.3",
            .limits = "k <= tile; fewer than 2^31 tiles",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"tile", {256, 1024, 64}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::smallest_k
