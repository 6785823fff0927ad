#pragma once

#include <cstddef>
#include <span>

#include "kernels/api/arrays.hpp"
#include "kernels/device/call_pages.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier {

/// Memory of a device for one call: of its stream's order on a GPU, of the process on the CPU.
class CallMemory {
public:
    CallMemory(const Transport& transport, std::size_t bytes, Stream stream);

    [[nodiscard]] std::span<std::byte> span() const { return span_; }

private:
    device::StreamBuffer gpu_;
    device::CallPages cpu_;
    std::span<std::byte> span_;
};

}  // namespace espalier
