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
    Memory memory = Memory::host;  ///< where the arrays are

    /// A stream of the device. Must be null for the CPU.
    Stream stream = nullptr;

    /// Return only when the results are there. With `false` and device memory the work is enqueued on
    /// `stream`, and the arrays must stay valid until it is done. Host memory is always waited for.
    bool wait = true;

    /// Equal calls on one device give equal bits, on any number of threads: the fastest variant that does is run.
    /// Naming another with `variant` is then an error.
    bool deterministic = false;

    /// Instead of the selector's choice: "variant" or "variant:name=value;name=value". Naming one that
    /// is not in the library or cannot run the problem is an error. Goes before ESPALIER_FORCE_VARIANT.
    std::string_view variant{};

    /// Threads of the host that a call may run on, the calling one included, from 1 to 1024: more than there are CPUs,
    /// too. 0: what OMP_NUM_THREADS says, or else all CPUs that the process may use, and never more than these. 1
    /// starts no thread. Inside of a parallel region of OpenMP, unless nested ones are allowed, and in a forked child a
    /// call runs on 1 whatever is asked for (docs/threads.md). A plan keeps what it was made with.
    int threads = 0;
};

}  // namespace espalier::inline v0
