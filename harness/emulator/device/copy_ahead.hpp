#pragma once

// Copies to shared memory, for the host executor: see the twin of this header in device/cuda.

#include "device/kernel.hpp"

namespace espalier::device {

inline void copy_ahead(void* to, const void* from) { *static_cast<uint4*>(to) = *static_cast<const uint4*>(from); }
inline void copy_ahead(float* to, const float* from, bool is_there) { *to = is_there ? *from : 0.0F; }
inline void copy_four_ahead(float* to, const float* from, bool are_there) {
    for (int i = 0; i < 4; ++i) copy_ahead(to + i, from + i, are_there);
}
inline void end_group_of_copies() {}
template <int>
void wait_for_copies_but() {}
inline void wait_for_copies() {}

}  // namespace espalier::device
