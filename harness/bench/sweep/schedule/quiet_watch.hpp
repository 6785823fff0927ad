#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "harness/bench/sweep/worker/processor_load.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Where a `QuietWatch` learns what the processors do, and lets time pass.
class LoadSource {
public:
    virtual ~LoadSource() = default;
    virtual LoadReading read() = 0;
    virtual void pause(double seconds) = 0;
};

/// This machine, as the sweep of this process may use it.
std::unique_ptr<LoadSource> this_machine();

/// Makes a sweep wait while others use the processors, for a limited time in all. Any thread may call any function; one
/// that comes while another waits, waits as well.
class QuietWatch {
public:
    /// With a budget of 0 seconds it never looks. `say` is told when waiting begins, why, and how it ends.
    QuietWatch(double budget_seconds, std::unique_ptr<LoadSource> source, std::function<void(const std::string&)> say);

    /// Before each measurement: looks at what happened since the last look, which costs nothing, and waits if that was
    /// too much for a device of this kind. The times on a GPU bear load on the host, as long as it has an idle
    /// processor. Returns the seconds waited.
    double wait(DeviceKind kind);

    /// Nothing disturbed the machine at the last look. False where it never looks.
    [[nodiscard]] bool quiet() const;

private:
    [[nodiscard]] std::optional<Load> since_last_look();
    [[nodiscard]] bool busy(const std::optional<Load>& load, DeviceKind kind) const;
    double pause(double seconds);
    double wait_while_busy(DeviceKind kind);
    void say_that_time_is_up();

    double budget_, left_;
    std::unique_ptr<LoadSource> source_;
    std::function<void(const std::string&)> say_;
    mutable std::mutex mutex_;
    LoadReading last_;
    bool looked_ = false, quiet_ = false, gave_up_ = false;
};

/// Waiting may take no more than a quarter of a sweep's time.
double waiting_budget(double wanted_seconds, std::optional<double> max_seconds);

}  // namespace espalier::bench
