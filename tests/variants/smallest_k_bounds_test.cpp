// Lists of smallest_k on the CPU that a bound limits before anything is listed.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "variants/smallest_k/cpu_minima.hpp"

namespace espalier::smallest_k::cpu {
namespace {

/// What vector instructions do, one element after the other.
struct PlainLists {
    static Key bound(const Key* keys, std::size_t count, std::int32_t wanted, std::int32_t enough) {
        return bound_of(keys, count, wanted, enough);
    }

    static void minima(const float* values, std::int64_t count, std::int64_t groups, float* minima, Key* keys) {
        minima_of(values, count, groups, minima, keys);
    }

    static std::int64_t scan_all(const float* values, std::int64_t first, std::int64_t begin, std::int64_t end,
                                 List& list, std::int64_t room) {
        for (; begin < end && list.count <= room; ++begin) {
            const auto key = static_cast<Key>(key_of(values[begin]) ^ 0x80000000U);
            if (!list.limited || key < list.limit) list.append(key, first + begin);
        }
        return begin;
    }

    static std::int64_t scan_below(const float* values, std::int64_t first, std::int64_t begin, std::int64_t end,
                                   List& list, std::int64_t room) {
        return scan_all(values, first, begin, end, list, room);
    }

    static std::int64_t keep(List& list, Key bound) {
        std::int64_t kept = 0, smaller = 0;
        for (std::int64_t j = 0; j < list.count; ++j) {
            if (list.keys[j] > bound) continue;
            smaller += list.keys[j] < bound ? 1 : 0;
            list.indices[kept] = list.indices[j], list.keys[kept++] = list.keys[j];
        }
        list.count = kept;
        return smaller;
    }

    static void ranks(const Key* keys, std::int64_t count, std::int32_t* ranks) { ranks_of(keys, count, ranks); }
};

std::vector<std::int32_t> indices_of(const std::vector<std::uint64_t>& entries) {
    std::vector<std::int32_t> indices;
    for (const std::uint64_t entry : entries) indices.push_back(index_of_entry(entry));
    return indices;
}

TEST(SmallestKBounds, EqualsAtTheBoundThatComeLaterAreNotListed) {
    std::vector<float> row(1000);
    for (std::size_t c = 0; c < row.size(); ++c) row[c] = static_cast<float>(c % 8);
    BoundedList<PlainLists> list(1, 10);
    list.scan(row.data(), 0, static_cast<std::int64_t>(row.size()));
    EXPECT_EQ(list.first().count, 10);  // and not all 125 zeros

    std::vector<std::uint64_t> entries;
    list.finish(0, entries);
    EXPECT_EQ(indices_of(entries), (std::vector<std::int32_t>{0, 8, 16, 24, 32, 40, 48, 56, 64, 72}));
}

TEST(SmallestKBounds, SmallerOnesThatComeAfterThemAre) {
    std::vector<float> row(1000, 1.0F);
    row[900] = -1.0F, row[950] = 0.0F;
    BoundedList<PlainLists> list(1, 3);
    list.scan(row.data(), 0, static_cast<std::int64_t>(row.size()));

    std::vector<std::uint64_t> entries;
    list.finish(0, entries);
    EXPECT_EQ(indices_of(entries), (std::vector<std::int32_t>{900, 950, 0}));
}

}  // namespace
}  // namespace espalier::smallest_k::cpu
