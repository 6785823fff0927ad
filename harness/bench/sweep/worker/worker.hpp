#pragma once

#include <string>

namespace espalier::bench {

struct WorkerOptions {
    std::string device;  ///< "cpu" or a GPU's ordinal
    int channel = -1, page = -1, parent = 0;
};

/// The worker process: opens the device, says hello, then answers requests until its parent closes the
/// connection. Returns the exit status.
int run_worker(const WorkerOptions& options);

}  // namespace espalier::bench
