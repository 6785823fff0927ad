// The problems of a default sweep.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/bench/families/smallest_k_suite.hpp"

namespace espalier::bench::smallest_k {
namespace {

/// Every size with every k that is not longer than its rows.
std::vector<Problem> combine(std::span<const std::array<std::int64_t, 2>> sizes, std::span<const std::int64_t> ks,
                             MatrixLayout layout = MatrixLayout::transposed) {
    std::vector<Problem> problems;
    for (const auto& [rows, columns] : sizes)
        for (const auto k : ks)
            if (k <= columns) problems.push_back({rows, columns, k, layout});
    return problems;
}

void append(std::vector<Problem>& problems, const std::vector<Problem>& more) {
    problems.insert(problems.end(), more.begin(), more.end());
}

/// The same problems with all but uniform data.
std::vector<Problem> with_other_data(std::span<const Problem> uniform) {
    std::vector<Problem> problems;
    for (Problem problem : uniform)
        for (const Data data : {Data::ascending, Data::descending, Data::distances, Data::few_values}) {
            problem.data = data;
            problems.push_back(problem);
        }
    return problems;
}

/// The same problems with numbers of all types but float32.
std::vector<Problem> with_other_keys(const std::vector<Problem>& floats) {
    std::vector<Problem> problems;
    for (Problem problem : floats)
        for (const KeyType keys : {KeyType::float16, KeyType::bfloat16, KeyType::int32}) {
            problem.keys = keys;
            problems.push_back(problem);
        }
    return problems;
}

using Sizes = std::vector<std::array<std::int64_t, 2>>;

std::vector<Problem> cpu_problems(Effort effort) {
    if (effort == Effort::quick)
        return combine(Sizes{{1, 1000}, {100, 1000}, {1000, 100}}, std::vector<std::int64_t>{1, 10, 100});
    // About the numbers of rows that threads take at a time, and beyond.
    Sizes sizes{{1, 1000},  {1, 10000},  {5, 1000},  {20, 100},   {20, 1000},   {20, 10000}, {50, 100},
                {50, 1000}, {100, 1000}, {200, 100}, {1000, 100}, {1000, 1000}, {200, 10000}};
    if (effort == Effort::full) sizes.insert(sizes.end(), {{10000, 10000}, {1000, 100000}});
    auto problems = combine(sizes, std::vector<std::int64_t>{1, 5, 10, 21, 32, 100, 1000});
    if (effort != Effort::full)  // the slowest by far
        std::erase_if(problems, [](const Problem& p) { return p.rows == 1000 && p.k == 1000; });
    append(problems, combine(Sizes{{1, 10000}, {20, 1000}, {1000, 100}, {1000, 1000}, {200, 10000}},
                             std::vector<std::int64_t>{1, 10, 100}, MatrixLayout::row_major));
    append(problems, with_other_keys(combine(Sizes{{1, 10000}, {200, 10000}}, std::vector<std::int64_t>{10},
                                             MatrixLayout::row_major)));
    return problems;
}

/// As frameworks have them: one long row, some, and many short ones, with the numbers of columns between them at which
/// a row stops fitting a part of a warp, a warp and a block.
std::vector<Problem> row_major_gpu_problems() {
    constexpr auto kLayout = MatrixLayout::row_major;
    auto problems = combine(Sizes{{1, 100000}, {30, 1000}, {100, 10000}, {1000, 1000}, {3333, 5000}, {10000, 10000}},
                            std::vector<std::int64_t>{1, 10, 32, 50, 128, 512}, kLayout);
    append(problems, combine(Sizes{{1048576, 64}, {1048576, 256}, {262144, 1024}, {131072, 2048}},
                             std::vector<std::int64_t>{1, 8, 32, 128}, kLayout));
    append(problems, combine(Sizes{{16384, 16384}, {10000, 100000}}, std::vector<std::int64_t>{8, 32, 128}, kLayout));
    // Lists that are a good part of their row.
    append(problems, combine(Sizes{{262144, 1024}}, std::vector<std::int64_t>{512, 1024}, kLayout));
    append(problems, combine(Sizes{{3333, 5000}, {16384, 16384}}, std::vector<std::int64_t>{1024}, kLayout));
    append(problems, with_other_data(combine(Sizes{{1048576, 256}, {262144, 1024}, {3333, 5000}, {16384, 16384}},
                                             std::vector<std::int64_t>{8, 32, 128}, kLayout)));
    auto unsorted = combine(Sizes{{1000, 1000}, {3333, 5000}, {1048576, 256}, {262144, 1024}},
                            std::vector<std::int64_t>{32, 128, 256, 512, 1024}, kLayout);
    for (Problem& problem : unsorted) problem.order = ListOrder::any;
    append(problems, unsorted);
    // A part of a warp, a warp and a block per row, a long row, and a list that is a good part of its row.
    append(problems,
           with_other_keys(combine(Sizes{{262144, 1024}, {16384, 16384}}, std::vector<std::int64_t>{32}, kLayout)));
    append(problems,
           with_other_keys({{{1048576, 256, 8, kLayout}, {1, 100000, 50, kLayout}, {262144, 1024, 512, kLayout}}}));
    return problems;
}

std::vector<Problem> gpu_problems(Effort effort) {
    if (effort == Effort::quick)
        return combine(Sizes{{1, 1000}, {1000, 1000}, {10000, 1000}}, std::vector<std::int64_t>{1, 10, 100});
    // Single rows, some and many, where another way is best; then the sources' n x n up to what checks within minutes,
    // and many short rows. There lists of hundreds kept by every thread would take most of a sweep's time: one such is
    // enough.
    auto problems = combine(Sizes{{1, 10000},
                                  {1, 100000},
                                  {10, 10000},
                                  {10, 100000},
                                  {30, 1000},
                                  {100, 10000},
                                  {300, 1000},
                                  {300, 30000},
                                  {1000, 1000}},
                            std::vector<std::int64_t>{1, 4, 10, 21, 32, 64, 128});
    const auto add = [&](const std::vector<Problem>& more) { append(problems, more); };
    add(combine(Sizes{{1, 10000}, {1, 100000}, {10, 10000}, {30, 1000}, {300, 1000}, {1000, 1000}},
                std::vector<std::int64_t>{512}));
    add(combine(Sizes{{1, 1000000}, {100, 100000}, {1000, 10000}, {10000, 10000}, {262144, 1024}, {1048576, 256}},
                std::vector<std::int64_t>{1, 10, 32, 128}));
    add(combine(Sizes{{16384, 16384}, {10000, 100000}}, std::vector<std::int64_t>{10}));
    // Between k that different ways are best for.
    add(combine(Sizes{{1, 100000}, {10, 10000}, {100, 10000}, {300, 30000}, {1000, 1000}},
                std::vector<std::int64_t>{2}));
    add(combine(Sizes{{1000, 10000}, {10000, 10000}, {262144, 1024}}, std::vector<std::int64_t>{5}));
    if (effort == Effort::full) {
        add(combine(Sizes{{10, 100000}, {100, 10000}, {300, 30000}, {1000, 10000}}, std::vector<std::int64_t>{512}));
        add(combine(Sizes{{16384, 16384}}, std::vector<std::int64_t>{1, 32, 128}));
        add(combine(Sizes{{10000, 100000}}, std::vector<std::int64_t>{32, 128}));
        add(combine(Sizes{{100, 1000}, {32, 1000000}, {50000, 50000}, {100000, 10000}},
                    std::vector<std::int64_t>{1, 5, 10, 21, 32, 50, 100, 256, 1024}));
    }
    add(row_major_gpu_problems());
    return problems;
}

}  // namespace

std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    return kind == DeviceKind::cpu ? cpu_problems(effort) : gpu_problems(effort);
}

}  // namespace espalier::bench::smallest_k
