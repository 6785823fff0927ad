#pragma once

#include <algorithm>
#include <cstdint>

#include "device/kernel.hpp"
#include "kernels/problems/dot.hpp"

namespace espalier::dot {

/// Both vectors as quadruples from element `head` on, if their addresses allow it; else none.
struct Quads {
    const float4* a;
    const float4* b;
    std::int64_t head, count;

    Quads(const Problem& problem, const Buffers& buffers) : a(nullptr), b(nullptr), head(0), count(0) {
        const auto misaligned = reinterpret_cast<std::uintptr_t>(buffers.a) % 16;
        if (misaligned != reinterpret_cast<std::uintptr_t>(buffers.b) % 16) return;
        head = std::min<std::int64_t>(problem.elements, static_cast<std::int64_t>((16 - misaligned) % 16 / 4));
        count = (problem.elements - head) / 4;
        a = reinterpret_cast<const float4*>(buffers.a + head);
        b = reinterpret_cast<const float4*>(buffers.b + head);
    }

    /// A block thread's share of what is no whole quadruple: at most three elements at either end.
    __device__ double rest(const float* x, const float* y, std::int64_t elements, unsigned thread) const {
        double sum = 0;
        if (a == nullptr) return sum;
        if (thread < head) sum += static_cast<double>(x[thread] * y[thread]);
        const std::int64_t tail = head + 4 * count + thread;
        if (tail < elements) sum += static_cast<double>(x[tail] * y[tail]);
        return sum;
    }
};

__device__ inline float product(const float4& a, const float4& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

}  // namespace espalier::dot
