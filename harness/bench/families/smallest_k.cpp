#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/bench/families/smallest_k_suite.hpp"

namespace espalier::bench::smallest_k {
namespace {

/// Rows from one to those of a batch, k up to the library's limit, lists in both layouts. Traces: vocabularies of
/// 30522 to 128256 words that a text goes on with, the classes of ImageNet, the experts that a word is sent to, and
/// neighbours among the tables of `knn`.
Domain domain(DeviceKind kind) {
    const bool cpu = kind == DeviceKind::cpu;
    return {
        .sizes = {{"rows", 1, cpu ? 10'000 : 1'000'000},
                  {"columns", 16, 1'000'000, {{16, 2}, {4, 1}, {1, 1}}},
                  {"k", 1, 1024}},
        .alternatives = {{"layout", {{"transposed", 1}, {"row_major", 1}}},
                         {"data",
                          {{"uniform", 2}, {"distances", 3}, {"ascending", 1}, {"descending", 1}, {"few_values", 1}}},
                         {"order", {{"ascending", 3}, {"any", 1}}}},
        .orders = {{"k", "columns"}},
        .most_data_bytes = std::size_t{1} << (cpu ? 27 : 32),
        .most_ops = cpu ? 1e7 : 1e9,
        .traces = {"rows=1;columns=50257;k=50", "rows=32;columns=50257;k=40", "rows=256;columns=30522;k=10",
                   "rows=8;columns=128256;k=64", "rows=64;columns=32000;k=5", "rows=256;columns=1000;k=5",
                   "rows=4096;columns=64;k=6", "rows=8192;columns=128;k=8", "rows=16384;columns=256;k=8",
                   "rows=360;columns=1437;k=5", "rows=54;columns=124;k=7", "rows=10000;columns=60000;k=10",
                   "rows=100;columns=1000000;k=100", "rows=1;columns=1000000;k=10", "rows=4000;columns=16000;k=15",
                   "rows=16281;columns=32561;k=20"}};
}

/// Selection by k: 21 is the largest list that the source's cards kept in registers, 8 the largest in shared memory.
std::vector<PublishedTable<Problem>> published() {
    // Rows of the diagrams' own 90,000, and of K6's 10,000.
    std::vector<Problem> problems, short_lists;
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1000, 90000}, {10000, 10000}}) {
        for (const std::int64_t k : {1, 5, 8, 10, 15, 21}) problems.push_back({rows, columns, k});
        for (const std::int64_t k : {1, 5, 8}) short_lists.push_back({rows, columns, k});
    }
    const Problem every_sort{1000, 10000, 10};
    return {{"K-diagram8",
             problems,
             {"register_insertion:block=256;texture=0", "register_insertion:block=256;texture=1", "radix_sort_rows",
              "segmented_radix_sort"}},
            {"K-diagram9", problems, {"register_insertion:block=256;texture=0", "global_insertion", "local_insertion"}},
            {"K-5.3", short_lists, {"register_insertion:block=256;texture=0", "shared_insertion"}},
            // What else sources K and P sort with, on a GPU and on a CPU.
            {"K-sorts",
             {every_sort},
             {"register_insertion:block=256;texture=0", "bitonic_sort_rows", "block_rank_merge", "rank_sort",
              "cpu_scalar", "cpu_openmp"}}};
}

}  // namespace

Suite<Problem> suite() {
    return {.default_problems = default_problems,
            .edge_cases = edge_cases,
            .workload = workload,
            .data_bytes =
                [](const Problem& problem) {
                    const std::size_t key = key_bytes(problem.keys);
                    return static_cast<std::size_t>(problem.elements()) * key +
                           static_cast<std::size_t>(problem.results()) * (key + sizeof(std::int32_t));
                },
            .domain = domain,
            .published = published};
}

}  // namespace espalier::bench::smallest_k
