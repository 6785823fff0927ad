#pragma once

// The first products of a sum, for the host executor: see the twin of this header in device/cuda.

#include <cstddef>
#include <cstdint>

#include "device/swizzled_products.hpp"

namespace espalier::device {

inline void first_products(ProductSums& sums, const std::uint32_t (&a)[4], const std::byte* rows, int step,
                           host::Site site = host::Site::current()) {
    for (auto& four : sums)
        for (float& sum : four) sum = 0;
    add_products(sums, a, rows, step, site);
}

}  // namespace espalier::device
