#pragma once

// Products of halves in registers with rows in shared memory, for the host executor: see the twin of this header in
// device/cuda.

#include "kernels/device/products_by_warps.hpp"

namespace espalier::device {

inline void begin_products() {}
inline void add_products(ProductSums& sums, const std::uint32_t (&a)[4], const std::byte* rows, int step) {
    add_products_by_warps(sums, a, rows, step);
}
inline void end_products(ProductSums&) {}

}  // namespace espalier::device
