#pragma once

#include <span>
#include <string_view>

#include "kernels/core/registry.hpp"
#include "kernels/core/selector.hpp"

namespace espalier {

template <class P>
class WisdomTable;

/// The variants and trees of one family in this program. Two sets of `registry()` and `selectors()` exist per
/// family and the link chooses: the shipping library has the variants that its selectors name, the
/// harness and the tests have them all.
template <class P>
struct Tables {
    std::string_view family;
    std::span<const Registered<P>> registry;  ///< in the order of P::Id
    std::span<const Selector<P>> selectors;   ///< loaded ones first
    const WisdomTable<P>* wisdom = nullptr;   ///< null while nothing was learned or loaded
    bool lasting = false;                     ///< the selectors are never changed nor freed
};

/// Instantiated for the problem of every family by generated code.
template <class P>
Tables<P> tables();

}  // namespace espalier
