#pragma once

#include <cstdint>
#include <span>

#include "harness/core/device_info.hpp"
#include "harness/core/selector.hpp"

namespace espalier {

/// The device that a tree was trained on, as far as the search for the nearest tree needs it.
struct TrainedOn {
    DeviceKind kind;
    int sm;
    int threads;
    std::string_view isa;
};

inline constexpr std::int64_t kUnrelated = -1;

/// How far a device is from the one that a tree was trained on; the smallest number is the nearest tree,
/// `kUnrelated` one that must not be used. GPUs: same compute capability, else the newest older one of the
/// same major version (its machine code runs, its limits hold). CPUs: same instruction set, else the
/// next lower one, and within that the nearest number of threads, the smaller one at a tie.
std::int64_t distance_between(const TrainedOn& trained, const DeviceInfo& device);

/// The tree for a device: of its very key, else the nearest one, else null.
template <class P>
const Selector<P>* nearest_tree(std::span<const Selector<P>> selectors, const DeviceInfo& device) {
    for (const Selector<P>& selector : selectors)
        if (selector.device_key == device.key) return &selector;
    const Selector<P>* nearest = nullptr;
    std::int64_t best = 0;
    for (const Selector<P>& selector : selectors) {
        const std::int64_t distance =
            distance_between({selector.kind, selector.sm, selector.threads, selector.isa}, device);
        if (distance == kUnrelated || (nearest && distance >= best)) continue;
        nearest = &selector;
        best = distance;
    }
    return nearest;
}

}  // namespace espalier
