#pragma once

#include <string_view>

#include "espalier/stream.hpp"

namespace espalier::inline v1 {

/// Where the arrays of a call are.
enum class Memory {
    host,    ///< memory of the process; for GPUs the library copies in and out
    device,  ///< memory of the GPU that the call runs on
};

/// Hears how far a call is, from 0 to 1, and never less than before: 0 before anything runs, 1 when the results are
/// there. Returns whether the call goes on; at 1 that makes no difference any more. `user` is `Options::progress_user`.
using ProgressFunction = bool (*)(void* user, double done);

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

    /// Called by the calling thread, outside of parallel regions; null for nobody. If it returns false, or throws, the
    /// call ends with ErrorCode::cancelled: some results may be written, models and plans stay as they are, and so do
    /// the caller's other calls. Calls that compute call it at 0 and at 1; nearest neighbours, `pairwise_distances` and
    /// filters of 7x7 work in parts for it and call it after each (docs/library-calls.md). Such a call waits for its
    /// results whatever `wait` says. Plans have none: their runs only enqueue.
    ProgressFunction progress = nullptr;
    void* progress_user = nullptr;  ///< handed to `progress`
};

}  // namespace espalier::inline v1
