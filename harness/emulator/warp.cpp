// The results of warp-wide operations, computed once all of their lanes have arrived.

#include "harness/emulator/warp.hpp"

#include <algorithm>
#include <bit>

namespace espalier::device::host {
namespace {

template <class Visit>
void for_each_lane(unsigned mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}

/// Every lane takes the value of lane `argument`. The value of a lane that takes no part is undefined
/// on a GPU: here it is the poison.
void shuffle(Lanes& lanes, unsigned mask) {
    for_each_lane(mask, [&](unsigned l) {
        const unsigned source = lanes[l].argument;
        lanes[l].result = (mask >> source & 1U) != 0 ? lanes[source].value : poison_value();
    });
}

/// Every lane learns for which lanes `value` is not 0.
void vote(Lanes& lanes, unsigned mask) {
    unsigned votes = 0;
    for_each_lane(mask, [&](unsigned l) { votes |= (lanes[l].value != 0 ? 1U : 0U) << l; });
    for_each_lane(mask, [&](unsigned l) { lanes[l].result = votes; });
}

/// Every lane learns which lanes have its value.
void match(Lanes& lanes, unsigned mask) {
    for_each_lane(mask, [&](unsigned l) {
        unsigned same = 0;
        for_each_lane(mask, [&](unsigned other) { same |= (lanes[other].value == lanes[l].value ? 1U : 0U) << other; });
        lanes[l].result = same;
    });
}

void nothing(Lanes&, unsigned) {}

template <class T, T (*Combine)(T, T)>
void reduce(Lanes& lanes, unsigned mask) {
    T total = from_bits<T>(lanes[static_cast<unsigned>(std::countr_zero(mask))].value);
    for_each_lane(mask & (mask - 1), [&](unsigned l) { total = Combine(total, from_bits<T>(lanes[l].value)); });
    for_each_lane(mask, [&](unsigned l) { lanes[l].result = to_bits(total); });
}

/// Wraps around like the hardware's, for signed numbers too.
template <class T>
T add(T a, T b) {
    return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
template <class T>
T smaller(T a, T b) {
    return std::min(a, b);
}
template <class T>
T larger(T a, T b) {
    return std::max(a, b);
}
unsigned both(unsigned a, unsigned b) { return a & b; }
unsigned either(unsigned a, unsigned b) { return a | b; }
unsigned one_of(unsigned a, unsigned b) { return a ^ b; }

}  // namespace

const WarpOperation kShuffle{"__shfl_sync", shuffle};
const WarpOperation kShuffleUp{"__shfl_up_sync", shuffle};
const WarpOperation kShuffleDown{"__shfl_down_sync", shuffle};
const WarpOperation kShuffleXor{"__shfl_xor_sync", shuffle};
const WarpOperation kBallot{"__ballot_sync", vote};
const WarpOperation kAny{"__any_sync", vote};
const WarpOperation kAll{"__all_sync", vote};
const WarpOperation kMatchAny{"__match_any_sync", match};
const WarpOperation kMatchAll{"__match_all_sync", match};
const WarpOperation kSyncWarp{"__syncwarp", nothing, true};
const WarpOperation kReduceAdd{"__reduce_add_sync", reduce<int, add<int>>};
const WarpOperation kReduceMin{"__reduce_min_sync", reduce<int, smaller<int>>};
const WarpOperation kReduceMax{"__reduce_max_sync", reduce<int, larger<int>>};
const WarpOperation kReduceAddUnsigned{"__reduce_add_sync", reduce<unsigned, add<unsigned>>};
const WarpOperation kReduceMinUnsigned{"__reduce_min_sync", reduce<unsigned, smaller<unsigned>>};
const WarpOperation kReduceMaxUnsigned{"__reduce_max_sync", reduce<unsigned, larger<unsigned>>};
const WarpOperation kReduceAnd{"__reduce_and_sync", reduce<unsigned, both>};
const WarpOperation kReduceOr{"__reduce_or_sync", reduce<unsigned, either>};
const WarpOperation kReduceXor{"__reduce_xor_sync", reduce<unsigned, one_of>};

}  // namespace espalier::device::host
