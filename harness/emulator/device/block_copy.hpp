#pragma once

// Copies to shared memory that a block waits for together, for the host executor: see the twin of this header in
// device/cuda.

#include "device/bulk_copy.hpp"

namespace espalier::device {

inline void begin_block_copies(Arrivals&) {}
inline void copy_block(void* to, const void* from, int bytes, Arrivals&, unsigned thread, unsigned threads) {
    for (unsigned i = thread; i < static_cast<unsigned>(bytes) / sizeof(uint4); i += threads)
        static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
}
inline void wait_for_block_copy(Arrivals&, int) {}

}  // namespace espalier::device
