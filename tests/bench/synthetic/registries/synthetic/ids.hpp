#pragma once

#include <cstdint>

namespace espalier::synthetic {

/// The enumeration that the build generates for a real family.
enum class VariantId : std::uint16_t {
    alpha,
    base,
    beta,
    gamma,
    peer_other,
};

}  // namespace espalier::synthetic
