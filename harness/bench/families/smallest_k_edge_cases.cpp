// Small problems that every variant must get right.

#include <array>
#include <cstdint>
#include <vector>

#include "harness/bench/families/smallest_k_suite.hpp"

namespace espalier::bench::smallest_k {
namespace {

void append_data_cases(std::vector<TypedEdgeCase<Problem>>& cases) {
    for (const auto layout : {MatrixLayout::transposed, MatrixLayout::row_major})
        for (const Data data : {Data::descending, Data::distances, Data::few_values})
            cases.push_back({{7, 700, 40, layout, data}});
}

Problem in_any_order(Problem problem) {
    problem.order = ListOrder::any;
    return problem;
}

/// Any order: what one may copy, what one may leave unsorted and what ties, in both layouts.
void append_order_cases(std::vector<TypedEdgeCase<Problem>>& cases) {
    for (const auto layout : {MatrixLayout::transposed, MatrixLayout::row_major}) {
        for (const auto& [rows, columns, k] : {std::array<std::int64_t, 3>{0, 5, 5},
                                               {3, 0, 2},
                                               {1, 1, 1},
                                               {5, 3, 7},
                                               {33, 17, 17},
                                               {9, 45, 7},
                                               {2, 300, 300},
                                               {3, 600, 200},
                                               {1, 1100, 1024},
                                               {2, 1024, 1024}})
            cases.push_back({in_any_order({rows, columns, k, layout})});
        for (const auto pattern : {Pattern::constant, Pattern::descending, Pattern::special})
            cases.push_back({in_any_order({4, 530, 20, layout}), pattern});
    }
}

/// Numbers of other types: empty, single and padded problems, odd rows that no vector reads, what a part of a warp, a
/// warp, a block and slices hold, ties, and every special number, in both layouts.
void append_key_cases(std::vector<TypedEdgeCase<Problem>>& cases) {
    const auto add = [&](Problem problem, Pattern pattern = Pattern::uniform) {
        for (const KeyType keys : {KeyType::float16, KeyType::bfloat16, KeyType::int32}) {
            problem.keys = keys;
            cases.push_back({problem, pattern});
        }
    };
    for (const auto layout : {MatrixLayout::transposed, MatrixLayout::row_major}) {
        for (const auto& [rows, columns, k] : {std::array<std::int64_t, 3>{0, 5, 2},
                                               {3, 0, 2},
                                               {1, 1, 1},
                                               {5, 3, 7},
                                               {33, 17, 1},
                                               {17, 31, 8},
                                               {9, 64, 40},
                                               {3, 1001, 33}})
            add({rows, columns, k, layout});
        for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
            for (const auto& [columns, k] : {std::array<std::int64_t, 2>{45, 7}, {530, 20}, {1100, 140}})
                add({3, columns, k, layout}, pattern);
        add(in_any_order({3, 600, 200, layout}));
        add(in_any_order({2, 300, 300, layout}), Pattern::special);
    }
    for (const auto& [rows, columns, k] : {std::array<std::int64_t, 3>{5, 256, 33},
                                           {2, 1024, 512},
                                           {2, 2048, 100},
                                           {1, 2300, 1024},
                                           {3, 4100, 9},
                                           {1, 8300, 50}})
        for (const auto pattern : {Pattern::uniform, Pattern::special})
            add({rows, columns, k, MatrixLayout::row_major}, pattern);
    for (const Data data : {Data::distances, Data::few_values}) add({7, 700, 40, MatrixLayout::row_major, data});
}

/// Around what cuts and sorts of a warp and a block hold.
void append_long_lists(std::vector<TypedEdgeCase<Problem>>& cases) {
    for (const auto& [columns, k] : {std::array<std::int64_t, 2>{513, 128},
                                     {1000, 300},
                                     {1024, 512},
                                     {1024, 1024},
                                     {1025, 257},
                                     {2048, 512},
                                     {2049, 600},
                                     {4100, 700}})
        for (const auto pattern : {Pattern::uniform, Pattern::ascending, Pattern::special})
            cases.push_back({{1, columns, k, MatrixLayout::row_major}, pattern});
}

}  // namespace

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    // Empty and single in every dimension, around the tiles of 16 and 32 and blocks of 256, k at and
    // beyond the number of columns.
    for (const auto& [rows, columns, k] : {std::array<std::int64_t, 3>{0, 5, 2},
                                           {3, 0, 2},
                                           {3, 5, 0},
                                           {1, 1, 1},
                                           {1, 1, 4},
                                           {5, 3, 3},
                                           {33, 17, 1},
                                           {2, 31, 31},
                                           {17, 33, 8},
                                           {31, 40, 9},
                                           {1, 300, 16},
                                           {257, 20, 5},
                                           {255, 16, 17}})
        cases.push_back({{rows, columns, k}});
    for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
        for (const std::int64_t k : {1, 7, 20, 50}) cases.push_back({{9, 45, k}, pattern});
    // Around the limits of lists in registers and shared memory, and the longest list.
    for (const std::int64_t k :
         {31, 32, 33, 63, 64, 65, 119, 120, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024})
        cases.push_back({{k % 2 + 1, k < 200 ? k + 9 : 600, k}, k % 2 == 0 ? Pattern::uniform : Pattern::descending});
    cases.push_back({{3, 1100, 1024}, Pattern::special});
    cases.push_back({{1, 2100, 40}, Pattern::descending});
    cases.push_back({{35, 1100, 2}});  // long enough to be cut into slices
    // Row-major: the sizes again, then rows around what a part of a warp, a warp and a block hold in registers, whose
    // beginnings are aligned to four elements, two and one.
    for (const auto& [rows, columns, k] : {std::array<std::int64_t, 3>{0, 5, 2},
                                           {3, 0, 2},
                                           {3, 5, 0},
                                           {1, 1, 4},
                                           {5, 3, 3},
                                           {33, 17, 1},
                                           {17, 31, 8},
                                           {9, 64, 64},
                                           {6, 130, 31},
                                           {5, 256, 33},
                                           {3, 257, 8},
                                           {3, 512, 128},
                                           {2, 1023, 65},
                                           {2, 1028, 10},
                                           {1, 2050, 129},
                                           {2, 2300, 1024},
                                           {1, 4500, 40},
                                           {3, 4097, 9},
                                           {1, 8300, 1024}})
        cases.push_back({{rows, columns, k, MatrixLayout::row_major}});
    append_data_cases(cases);
    append_order_cases(cases);
    append_long_lists(cases);
    append_key_cases(cases);
    for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
        for (const auto& [columns, k] :
             {std::array<std::int64_t, 2>{45, 7}, {200, 20}, {1100, 50}, {2100, 3}, {4200, 90}, {9000, 70}})
            cases.push_back({{3, columns, k, MatrixLayout::row_major}, pattern});
    return cases;
}

}  // namespace espalier::bench::smallest_k
