#pragma once

namespace espalier::bench {

/// Turns the first SIGINT or SIGTERM into a request that the sweep answers between two steps; a second one
/// has its usual effect. Restores the handlers when it goes.
class StopOnSignals {
public:
    StopOnSignals();
    ~StopOnSignals();
    StopOnSignals(const StopOnSignals&) = delete;
    StopOnSignals& operator=(const StopOnSignals&) = delete;
};

bool stop_requested();

}  // namespace espalier::bench
