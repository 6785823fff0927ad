#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/typed_keys.cuh"

/// Selection by insertion: one thread per row keeps the k best so far as a sorted list and inserts what
/// beats its last entry. Where the list lives is what the variants differ in.
namespace espalier::smallest_k {
namespace {

/// Row `row` of the matrix; lanes that walk neighbouring rows read neighbouring words.
template <class T = float>
struct RowInMemory {
    const T* distances;
    std::int64_t rows, row;
    __device__ Compared<T> operator[](std::int64_t column) const { return loaded(distances[column * rows + row]); }
};

/// Keeps the first entries of the row's order in `list`: `list.key(j)` reads the key of entry j,
/// `list.set(j, key, index)` writes the entry, `list.move(j)` copies entry j to j + 1. Entries from
/// `columns` on are left alone.
template <class Row, class List>
__device__ void insert_row(const Row& row, std::int64_t columns, std::int64_t k, List& list) {
    std::int64_t filled = 0;
    using Value = decltype(row[0]);
    auto worst = value_as<Value>(kEmptyKey);
    for (std::int64_t c = 0; c < columns; ++c) {
        const auto value = row[c];
        if (!may_come_before(value, worst)) continue;
        const std::uint32_t key = key_of(value);
        if (filled < k)
            ++filled;
        else if (key >= list.key(k - 1))
            continue;
        // Ties stay behind the entries that came before them.
        std::int64_t j = filled - 1;
        for (; j > 0 && key < list.key(j - 1); --j) list.move(j - 1);
        list.set(j, key, static_cast<std::int32_t>(c));
        if (filled == k) worst = value_as<Value>(list.key(k - 1));
    }
}

}  // namespace
}  // namespace espalier::smallest_k
