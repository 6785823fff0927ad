#pragma once

#include <span>

#include "espalier/distance.hpp"

namespace espalier::reference {

/// The distance of two items with the same attributes, in double precision throughout; `types` has one
/// entry per attribute. See `Metric` and `Missing`.
double distance(std::span<const float> x, std::span<const float> y, Metric metric, Missing missing,
                std::span<const AttributeType> types);

}  // namespace espalier::reference
