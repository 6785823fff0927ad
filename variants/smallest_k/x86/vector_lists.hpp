#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "variants/smallest_k/cpu_minima.hpp"
#include "variants/smallest_k/x86/transpose_block.hpp"

#ifndef ESPALIER_TARGET
#error "the file that includes this names its instruction set: __attribute__((target(...)))"
#endif

namespace espalier::smallest_k {
namespace {

/// The lists of cpu_lists.hpp and cpu_minima.hpp with the vectors of one instruction set, ESPALIER_TARGET: `kLanes`
/// elements are compared with the limit at once, and those that come before it are moved to the end of the list.
/// `Vectors` has the instructions, of numbers (`Floats`), keys and indices (`Ints`), and sets of lanes (`Lanes`). With
/// `kMasks` it loads fewer elements than a vector has; otherwise the last ones of a row are taken one by one.
template <class Vectors>
struct VectorLists {
    using Floats = typename Vectors::Floats;
    using Ints = typename Vectors::Ints;
    using Lanes = typename Vectors::Lanes;
    static constexpr std::int64_t kLanes = Vectors::kLanes;
    static constexpr unsigned kAll = (1U << kLanes) - 1;

    static cpu::Key key(float value) { return static_cast<cpu::Key>(key_of(value) ^ 0x80000000U); }

    ESPALIER_TARGET static std::int64_t scan(const float* row, std::int64_t begin, std::int64_t end, cpu::List& list,
                                             std::int64_t room) {
        const Floats limit = Vectors::all(list.limit_value);
        std::int64_t c = begin;
        while (c < end && list.count <= room) {
            const std::int64_t left = end - c;
            if (left >= 4 * kLanes && !Vectors::any_of_four(row + c, limit)) {
                c += 4 * kLanes;
                continue;
            }
            const std::int64_t stop = std::min(end, c + 4 * kLanes);
            if constexpr (Vectors::kMasks) {
                for (; c < stop; c += kLanes) append(row, c, std::min(kLanes, stop - c), limit, list);
                c = stop;
            } else {
                for (; stop - c >= kLanes; c += kLanes) append(row, c, kLanes, limit, list);
                for (; c < stop; ++c) append_one(row[c], c, list);
            }
        }
        return c;
    }

    ESPALIER_TARGET static std::int64_t scan_all(const float* values, std::int64_t first, std::int64_t begin,
                                                 std::int64_t end, cpu::List& list, std::int64_t room) {
        std::int64_t c = begin;
        if constexpr (Vectors::kMasks) {
            for (; c < end && list.count <= room; c += kLanes) {
                const Lanes valid = Vectors::first_lanes(end - c);
                const Ints keys = Vectors::keys_of(Vectors::load(valid, values + c));
                const Lanes found = list.limited ? Vectors::less(valid, keys, list.limit) : valid;
                list.count += Vectors::put(list, list.count, found, keys, Vectors::indices_from(first + c));
            }
            return std::min(c, end);
        } else {
            for (; end - c >= kLanes && list.count <= room; c += kLanes) {
                const Ints keys = Vectors::keys_of(Vectors::load(values + c));
                const Lanes found = list.limited ? Vectors::less(keys, list.limit) : kAll;
                list.count += Vectors::put(list, list.count, found, keys, Vectors::indices_from(first + c));
            }
            if (end - c >= kLanes) return c;
            for (; c < end; ++c) append_one(values[c], first + c, list);
            return end;
        }
    }

    /// Without a branch for each vector: where some of four have an element below the limit, the others mostly do, too.
    ESPALIER_TARGET static std::int64_t scan_below(const float* values, std::int64_t first, std::int64_t begin,
                                                   std::int64_t end, cpu::List& list, std::int64_t room) {
        const Floats limit = Vectors::all(list.limit_value);
        std::int64_t c = begin;
        for (; end - c >= 4 * kLanes && list.count <= room; c += 4 * kLanes) {
            Floats some[4];
            Lanes below[4];
            for (int i = 0; i < 4; ++i) {
                some[i] = Vectors::load(values + c + i * kLanes);
                below[i] = Vectors::below(some[i], limit);
            }
            if (!(below[0] | below[1] | below[2] | below[3])) continue;
            for (int i = 0; i < 4; ++i) append_numbers(some[i], below[i], first + c + i * kLanes, list);
        }
        if (end - c >= 4 * kLanes || list.count > room) return c;
        if constexpr (Vectors::kMasks) {
            for (; c < end; c += kLanes) {
                const Lanes valid = Vectors::first_lanes(end - c);
                const Floats some = Vectors::load(valid, values + c);
                append_numbers(some, Vectors::below(valid, some, limit), first + c, list);
            }
        } else {
            for (; c < end; ++c)
                if (values[c] < list.limit_value) list.append(key(values[c]), first + c);
        }
        return end;
    }

    static void transpose(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, float* to,
                          std::int64_t to_stride) {
        transpose_block(from, stride, rows, columns, to, to_stride);
    }

    ESPALIER_TARGET static std::uint64_t candidates(const float* values, const float* limits, std::int64_t count) {
        std::uint64_t found = 0;
        std::int64_t i = 0;
        if constexpr (Vectors::kMasks) {
            for (; i < count; i += kLanes) {
                const Lanes valid = Vectors::first_lanes(count - i);
                const Floats some = Vectors::load(valid, values + i);
                found |= std::uint64_t{Vectors::not_above(valid, some, Vectors::load(limits + i))} << i;
            }
        } else {
            for (; count - i >= kLanes; i += kLanes)
                found |= std::uint64_t{Vectors::not_above(Vectors::load(values + i), Vectors::load(limits + i))} << i;
            for (; i < count; ++i) found |= std::uint64_t{may_come_before(values[i], limits[i])} << i;
        }
        return found;
    }

    ESPALIER_TARGET static cpu::Key bound(const cpu::Key* keys, std::size_t count, std::int32_t wanted,
                                          std::int32_t enough) {
        return bound_of(keys, count, wanted, enough);
    }

    ESPALIER_TARGET static void minima(const float* values, std::int64_t count, std::int64_t groups, float* minima,
                                       cpu::Key* keys) {
        cpu::minima_of(values, count, groups, minima, keys);
    }

    ESPALIER_TARGET static void ranks(const cpu::Key* keys, std::int64_t count, std::int32_t* ranks) {
        cpu::ranks_of(keys, count, ranks);
    }

    ESPALIER_TARGET static std::int64_t keep(cpu::List& list, cpu::Key bound) {
        std::int64_t kept = 0, smaller = 0;
        for (std::int64_t j = 0; j < list.count; j += kLanes) {
            const auto valid = static_cast<Lanes>(list.count - j >= kLanes ? kAll : (1U << (list.count - j)) - 1);
            const Ints keys = Vectors::load(list.keys + j), indices = Vectors::load(list.indices + j);
            smaller += std::popcount(static_cast<unsigned>(Vectors::less(valid, keys, bound)));
            kept += Vectors::put(list, kept, Vectors::up_to(valid, keys, bound), keys, indices);
        }
        list.count = kept;
        return smaller;
    }

private:
    static void append_one(float value, std::int64_t index, cpu::List& list) {
        if (const cpu::Key one = key(value); !list.limited || one < list.limit) list.append(one, index);
    }

    /// Those of the first `lanes` elements from c on that come before the limit, which mostly none does.
    ESPALIER_TARGET static void append(const float* row, std::int64_t c, std::int64_t lanes, Floats limit,
                                       cpu::List& list) {
        Floats values;
        Lanes found;
        if constexpr (Vectors::kMasks) {
            const auto valid = static_cast<Lanes>((1U << lanes) - 1);
            values = Vectors::load(valid, row + c);
            found = Vectors::not_above(valid, values, limit);
        } else {
            values = Vectors::load(row + c);
            found = Vectors::not_above(values, limit);
        }
        if (!found) return;
        const Ints keys = Vectors::keys_of(values);
        if (list.limited) found = Vectors::less(found, keys, list.limit);
        list.count += Vectors::put(list, list.count, found, keys, Vectors::indices_from(c));
    }

    /// All of `found`, none of them NaN.
    ESPALIER_TARGET static void append_numbers(Floats values, Lanes found, std::int64_t c, cpu::List& list) {
        list.count += Vectors::put(list, list.count, found, Vectors::keys_of_numbers(values), Vectors::indices_from(c));
    }
};

}  // namespace
}  // namespace espalier::smallest_k
