#pragma once

namespace espalier::bench {

/// Turns the first SIGINT, SIGTERM or SIGHUP into a request that the sweep answers between two steps; a second one
/// does what it did before this object was there. So do all when it goes.
class StopOnSignals {
public:
    StopOnSignals();
    ~StopOnSignals();
    StopOnSignals(const StopOnSignals&) = delete;
    StopOnSignals& operator=(const StopOnSignals&) = delete;
};

bool stop_requested();

/// The signal that asked the latest sweep to stop; 0 if none did.
int stop_signal();

}  // namespace espalier::bench
