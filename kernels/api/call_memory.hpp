#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kernels/api/arrays.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier {

/// Memory of a device for one call: of its stream's order on a GPU, of the process on the CPU.
class CallMemory {
public:
    CallMemory(const Transport& transport, std::size_t bytes, Stream stream);

    [[nodiscard]] std::span<std::byte> span() const { return span_; }

private:
    struct FreeAligned {
        void operator()(std::byte* data) const;
    };
    device::StreamBuffer gpu_;
    std::unique_ptr<std::byte, FreeAligned> cpu_;
    std::span<std::byte> span_;
};

}  // namespace espalier
