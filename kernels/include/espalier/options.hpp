#pragma once

#include <string_view>

#include "espalier/stream.hpp"

namespace espalier::inline v0 {

/// Where the arrays of a call are.
enum class Memory {
    host,    ///< memory of the process; for GPUs the library copies in and out
    device,  ///< memory of the GPU that the call runs on
};

/// How a call is carried out. The defaults suit data in host memory.
struct Options {
    Memory memory = Memory::host;

    /// A stream of the device. Must be null for the CPU.
    Stream stream = nullptr;

    /// Return only when the results are there. With `false` and device memory the work is enqueued on
    /// `stream`, and the arrays must stay valid until it is done. Host memory is always waited for.
    bool wait = true;

    /// Equal calls on one device give equal bits: the fastest variant that does is run. Naming another with `variant`
    /// is then an error.
    bool deterministic = false;

    /// Instead of the selector's choice: "variant" or "variant:name=value;name=value". Naming one that
    /// is not in the library or cannot run the problem is an error. Goes before ESPALIER_FORCE_VARIANT.
    std::string_view variant{};
};

}  // namespace espalier::inline v0
