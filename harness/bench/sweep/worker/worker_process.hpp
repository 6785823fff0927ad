#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "harness/bench/sweep/worker/line_channel.hpp"
#include "harness/bench/sweep/worker/progress_page.hpp"

namespace espalier::bench {

/// What starts this program where it is a library of another one, which /proc/self/exe is then: a program and the
/// arguments before the worker's own. To be said before the first worker.
void start_workers_with(std::vector<std::string> words);

/// How a process ended on its own.
struct Death {
    std::string how;      ///< the signal or the exit status, with the last that it wrote to stderr
    bool killed = false;  ///< by SIGKILL, which nobody here sent: most likely for want of memory
};

/// A child process that runs this very program as `espalier worker`: a variant that crashes, hangs or
/// spoils its device's context takes the child along, not the sweep. The child dies with its parent.
class WorkerProcess {
public:
    explicit WorkerProcess(const std::string& device);
    ~WorkerProcess();  ///< kills it
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    [[nodiscard]] LineChannel& channel() { return channel_; }
    [[nodiscard]] const ProgressPage& page() const { return *page_; }

    /// Waits a fraction of a second for something from it. False if it has closed its end of the channel.
    bool listen();
    /// How it ended, once it has closed its end.
    Death reap();

private:
    void drain_errors();
    void kill_and_reap();

    SharedPage page_;
    pid_t pid_ = -1;
    LineChannel channel_{-1};
    int errors_ = -1;          ///< what the worker writes to stdout and stderr
    std::string last_errors_;  ///< the end of it
};

}  // namespace espalier::bench
