#pragma once

// Bytes read 16 at a time by kernels, whatever their address.

#include <algorithm>
#include <cstdint>

#include "device/kernel.hpp"
#include "kernels/problems/histogram.hpp"

namespace espalier::histogram {

/// The bytes as aligned chunks of 16, and fewer than 16 before and after them.
struct Chunks {
    const std::uint8_t* bytes;
    std::int64_t size;
    std::int64_t head;    ///< bytes before the first chunk
    std::int64_t chunks;  ///< how many there are

    Chunks(const Buffers& buffers, const Problem& problem)
        : bytes(buffers.bytes),
          size(problem.bytes),
          head(std::min<std::int64_t>(problem.bytes, -reinterpret_cast<std::uintptr_t>(buffers.bytes) % 16)),
          chunks((problem.bytes - head) / 16) {}

    __device__ uint4 operator[](std::int64_t chunk) const {
        return reinterpret_cast<const uint4*>(bytes + head)[chunk];
    }

    /// Calls `count` with each byte outside the chunks that falls to this one of at least 32 threads.
    template <class Count>
    __device__ void rest(unsigned thread, Count count) const {
        const std::int64_t tail = head + 16 * chunks + thread - 16;
        if (thread < 16 && thread < head) count(bytes[thread]);
        if (thread >= 16 && tail < size) count(bytes[tail]);
    }
};

}  // namespace espalier::histogram
