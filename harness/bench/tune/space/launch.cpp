#include "harness/bench/tune/space/launch.hpp"

#include <fmt/format.h>

#include "harness/bench/tune/describe/place.hpp"

namespace espalier::bench::tune {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;
constexpr std::array<std::int64_t, 3> kLargestBlock{1024, 1024, 64}, kLargestGrid{INT32_MAX, 65535, 65535};
constexpr std::int64_t kMostThreads = 1024;
constexpr std::int64_t kMostShared = 227 * 1024;  // of any GPU so far; one that has less refuses the launch

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

LaunchShape launch_shape(const Description& description, const LaunchRule& rule, const Configuration& configuration,
                         std::size_t problem) {
    const Names names = description.names_of(configuration, problem);
    const auto whole = [&](const Formula& formula, std::int64_t least) {
        return whole_of(formula, names, description.path, least, kMost);
    };
    LaunchShape shape;
    std::int64_t threads = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t block = rule.block.sizes[d] ? whole(*rule.block.sizes[d], 0) : 1;
        std::int64_t grid = 1;
        if (!rule.grid_divisors[d].empty()) {
            grid = description.sizes[problem][d];
            for (const Formula& divisor : rule.grid_divisors[d]) grid = divided_up(grid, whole(divisor, 1));
        } else if (!rule.divides_problem() && rule.grid.sizes[d]) {
            grid = whole(*rule.grid.sizes[d], 0);
            if (rule.grid_in_threads && block > 0) grid = divided_up(grid, block);
        }
        threads *= std::min(block, kMostThreads + 1);
        if (block < 1 || block > kLargestBlock[d] || grid < 1 || grid > kLargestGrid[d])
            shape.refusal = fmt::format("{} threads and {} blocks in dimension {}: CUDA takes 1 to {} and 1 to {}",
                                        block, grid, "xyz"[d], kLargestBlock[d], kLargestGrid[d]);
        shape.block[d] = static_cast<std::uint32_t>(std::min(block, kMostThreads + 1));
        shape.grid[d] = static_cast<std::uint32_t>(std::min(grid, kLargestGrid[0]));
    }
    if (shape.refusal.empty() && threads > kMostThreads)
        shape.refusal = fmt::format("{} threads in a block: CUDA takes at most {}", threads, kMostThreads);
    const std::int64_t shared = rule.shared_bytes ? whole(*rule.shared_bytes, 0) : 0;
    if (shape.refusal.empty() && shared > kMostShared)
        shape.refusal = fmt::format("{} bytes of shared memory: CUDA takes at most {}", shared, kMostShared);
    shape.shared_bytes = static_cast<std::uint32_t>(std::min(shared, kMostShared));
    return shape;
}

}  // namespace espalier::bench::tune
