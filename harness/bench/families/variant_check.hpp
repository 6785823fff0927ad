#pragma once

#include <cstddef>
#include <string>

#include "harness/bench/families/family.hpp"

namespace espalier::bench {

struct VariantName {
    const Family* family;
    std::size_t variant;
};

/// The outcome of a variant's edge cases.
struct VariantCheck {
    std::string fault;    ///< on which problem it does what wrong; empty if it is right
    std::string skipped;  ///< why nothing could be run; empty if something was
    int problems = 0, runs = 0;
};

/// Runs every configuration of a variant on every edge case of its family and compares with the oracle. In a process of
/// its own, so that a variant may crash or hang: that is a fault like another. Arrays end at guard pages, and memory
/// that a run keeps is found by running again. A variant for GPUs runs on the first one, or on the host executor.
/// `seconds`: how long a single run may take.
VariantCheck check_variant(const VariantName& name, double seconds);

}  // namespace espalier::bench
