#pragma once

#include <sys/types.h>

#include <string>

namespace espalier::bench::tune {

struct WorkerOptions {
    std::string job;       ///< file of a `Job`
    std::string findings;  ///< file to append a `Finding` a line to
    int page = -1;         ///< descriptor of the progress page
    pid_t parent = 0;
};

/// Does a job, in a process of its own: a kernel that crashes, hangs or spoils its device's context takes this process
/// along and nothing else. Returns its exit code: 0 if the job is done, 1 if the process must not be used any more.
int run_worker(const WorkerOptions& options);

}  // namespace espalier::bench::tune
