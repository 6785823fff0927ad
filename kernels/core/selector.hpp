#pragma once

#include <span>
#include <string_view>

#include "kernels/core/configuration.hpp"
#include "kernels/core/device_info.hpp"
#include "kernels/core/device_traits.hpp"
#include "kernels/core/variant.hpp"

namespace espalier {

/// A variant with a configuration of it. `P::Id` is the family's generated enumeration of variants.
template <class P>
struct Choice {
    typename P::Id variant;
    Configuration configuration;
    float slowdown;  ///< geometric mean of its time / the best time over the leaf's problems that it supports
};

/// A leaf of a trained tree: what to run there, best first, ending in the baseline, and the evidence.
template <class P>
struct Leaf {
    int id;                              ///< numbered from the left
    int problems;                        ///< measured problems that fell into it; 0 if its evidence is guessed
    float margin;                        ///< slowdown of the best other variant over the first one; 1 if there is none
    float regret, regret_lo, regret_hi;  ///< geometric mean of what the ranking runs, bootstrap 95%
    std::string_view path;               ///< the conditions from the root, as text
    std::span<const Choice<P>> ranking;  ///< never empty
};

/// The generated selector of one family for one device. Pure and total.
template <class P>
struct Selector {
    std::string_view device_key;
    DeviceTraits device;  ///< what it was trained on
    std::string_view data_sha256;
    const Leaf<P>& (*select)(const P&, const DeviceInfo&);
    std::span<const Leaf<P>> leaves;  ///< all that `select` may return
};

/// What a selector's ranking comes down to for one problem: a variant that can run it, ready to be run.
template <class P>
struct Chosen {
    const Variant<P>* variant;  ///< in the registry, which lives as long as the program
    Configuration configuration;
};

}  // namespace espalier
