#pragma once

namespace espalier::bench {

/// Turns the first SIGINT, SIGTERM or SIGHUP into a request that a long command answers between two steps; a second one
/// does what it did before this object was there. So do all when it goes.
class StopOnSignals {
public:
    enum class During {
        measuring,  ///< a wait for a worker ends at once, and losing who reads the progress ends nothing
        /// Reading and writing go on, unless nobody reads the output any more; a second signal within a second is the
        /// same one, which programs such as `timeout` send to a process and to its group.
        writing,
    };

    explicit StopOnSignals(During during = During::measuring);
    ~StopOnSignals();
    StopOnSignals(const StopOnSignals&) = delete;
    StopOnSignals& operator=(const StopOnSignals&) = delete;
};

bool stop_requested();

/// The signal that asked the latest command to stop; 0 if none did.
int stop_signal();

}  // namespace espalier::bench
