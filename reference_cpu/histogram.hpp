#pragma once

#include <cstdint>
#include <span>

#include "espalier/histogram.hpp"

namespace espalier::reference {

/// How often each value occurs.
Histogram256 histogram(std::span<const std::uint8_t> bytes);

}  // namespace espalier::reference
