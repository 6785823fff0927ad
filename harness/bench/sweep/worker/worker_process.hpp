#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/bench/sweep/worker/progress_page.hpp"
#include "harness/bench/sweep/worker/protocol.hpp"

namespace espalier::bench {

/// The worker ended on its own; `how` names the signal or the exit status, with the last it wrote to stderr.
struct Died {
    std::string how;
    bool killed = false;  ///< by SIGKILL, which nobody here sent: most likely for want of memory
};
/// It made no step for as long as the timeout; it has been killed.
struct Stalled {};
/// The sweep was asked to stop; the worker has been killed.
struct Stopped {};

/// What starts this program where it is a library of another one, which /proc/self/exe is then: a program and the
/// arguments before the worker's own. To be said before the first worker.
void start_workers_with(std::vector<std::string> words);

/// A child process that runs this very program as `espalier worker`: a variant that crashes, hangs or
/// spoils its device's context takes the child along, not the sweep. The child dies with its parent.
class WorkerProcess {
public:
    explicit WorkerProcess(const std::string& device);
    ~WorkerProcess();  ///< kills it
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    void send(const std::string& line);

    using Outcome = std::variant<protocol::Event, Died, Stalled, Stopped>;

    /// The next event, or what happened instead. `timeout_seconds` is how long the worker may make no step.
    /// `tick` is called a few times a second.
    template <class Tick>
    Outcome wait(double timeout_seconds, Tick tick) {
        while (true) {
            tick();
            if (auto outcome = wait_a_little(timeout_seconds)) return std::move(*outcome);
        }
    }

    [[nodiscard]] const ProgressPage& page() const { return *page_; }

private:
    std::optional<Outcome> wait_a_little(double timeout_seconds);
    std::optional<std::string> take_line();
    bool drain_channel();
    void drain_errors();
    Died reap();
    void kill_and_reap();
    [[nodiscard]] double seconds_without_a_step();

    SharedPage page_;
    pid_t pid_ = -1;
    int channel_ = -1;  ///< our end of the socket pair
    int errors_ = -1;   ///< what the worker writes to stdout and stderr
    std::string received_;
    std::string last_errors_;  ///< the end of it
    std::uint64_t last_beat_ = 0;
    double last_step_ = 0;  ///< steady seconds
};

}  // namespace espalier::bench
