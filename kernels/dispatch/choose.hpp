#pragma once

#include <stdexcept>

#include "kernels/core/selector.hpp"

namespace espalier {

/// No variant can run a stage; `what()` says why.
class NoChoice : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Chooses by the selector of P's family, for variants that are made of other families' operations: among those whose
/// results of whole numbers are exact.
/// Honours ESPALIER_FORCE_VARIANT. Chooses among what is linked into the program: the shipped variants
/// in the library, all of them in the harness. Defined for the problem of every family.
/// Throws NoChoice.
template <class P>
Chosen<P> choose(const P& problem, const DeviceInfo& device);

}  // namespace espalier
