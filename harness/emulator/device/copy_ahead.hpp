#pragma once

// Copies to shared memory, for the host executor: see the twin of this header in device/cuda.

#include "device/kernel.hpp"

namespace espalier::device {

inline void copy_ahead(void* to, const void* from) { *static_cast<uint4*>(to) = *static_cast<const uint4*>(from); }
inline void copy_ahead(float* to, const float* from, bool is_there) { *to = is_there ? *from : 0.0F; }
inline void wait_for_copies() {}

}  // namespace espalier::device
