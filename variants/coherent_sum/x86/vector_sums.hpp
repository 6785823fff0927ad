#pragma once

#include <algorithm>
#include <cstdint>

#include "variants/coherent_sum/x86/register_tiles.hpp"

#ifndef ESPALIER_TARGET
#error "the file that includes this names its instruction set: target(...)"
#endif

namespace espalier::coherent_sum {
namespace {

/// The loops of register_tiles.hpp for the vectors of one instruction set, ESPALIER_TARGET. `Vector` is a type whose
/// `Floats` are `kLanes` numbers; it has zero, load, store, add and larger of them, and `kMost`, how many registers may
/// hold sums.
template <class Vector>
struct VectorSums {
    using Floats = typename Vector::Floats;
    static constexpr int kLanes = Vector::kLanes, kMost = Vector::kMost;

    template <int count>
    __attribute__((ESPALIER_TARGET)) static void add(const register_tiles::Addition& tile) {
        Floats sums[count];
#pragma GCC unroll 24
        for (int v = 0; v < count; ++v) sums[v] = tile.begins ? Vector::zero() : Vector::load(tile.sums + kLanes * v);
        const float* trace = tile.traces;
        for (std::int64_t r = 0; r < tile.receivers; ++r, trace += tile.trace_samples) {
            const float* const shifted = trace + tile.delays[r];
#pragma GCC unroll 24
            for (int v = 0; v < count; ++v) sums[v] = Vector::add(sums[v], Vector::load(shifted + kLanes * v));
        }
#pragma GCC unroll 24
        for (int v = 0; v < count; ++v) Vector::store(tile.sums + kLanes * v, sums[v]);
    }

    __attribute__((ESPALIER_TARGET)) static float largest(const float* values, std::int64_t count) {
        float most = values[0];
        std::int64_t i = 0;
        if (count >= kLanes) {
            Floats all = Vector::load(values);
            for (; i + kLanes <= count; i += kLanes) all = Vector::larger(all, Vector::load(values + i));
            alignas(sizeof(Floats)) float lanes[kLanes];
            Vector::store(lanes, all);
            most = *std::max_element(lanes, lanes + kLanes);
        }
        for (; i < count; ++i) most = std::max(most, values[i]);
        return most;
    }
};

}  // namespace
}  // namespace espalier::coherent_sum
