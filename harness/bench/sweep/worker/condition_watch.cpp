#include "harness/bench/sweep/worker/condition_watch.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/base/clock.hpp"
#include "harness/base/statistics.hpp"
#include "harness/bench/profile/clocks.hpp"
#include "harness/bench/sweep/worker/calibration_loop.hpp"
#include "harness/bench/sweep/worker/processor_load.hpp"

namespace espalier::bench {
namespace {

LoadHistory& history() {
    static LoadHistory readings;
    return readings;
}

/// The worker's parent is the sweep.
LoadReading read_own_load() { return read_load(getppid()); }

/// The host's processors from here on, or, where that is too short a time, from somewhat before.
class HostLoad {
public:
    HostLoad() { history().add(start_); }

    [[nodiscard]] std::optional<Load> read() const {
        const LoadReading stop = read_own_load();
        return load_between(history().before(stop.at).value_or(start_), stop);
    }

private:
    LoadReading start_ = read_own_load();
};

class CpuWatch final : public ConditionWatch {
public:
    void begin_round() override {
        loop_.run();
        preempted_ = preemptions();
    }
    bool disturbed() override { return preemptions() != preempted_; }

    Conditions read() override {
        Conditions conditions;
        if (loop_.known()) conditions.clock_share = loop_.share();
        if (const auto load = load_.read()) {
            conditions.foreign_cpu_share = load->foreign_share;
            conditions.steal_cpu_share = load->steal_share;
            conditions.processors = load->processors;
        }
        return conditions;
    }

private:
    /// How often the scheduler took a processor from one of this process's threads.
    static long preemptions() {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_nivcsw;
    }

    CalibrationLoop loop_;
    HostLoad load_;
    long preempted_ = 0;
};

class GpuWatch final : public ConditionWatch {
public:
    void begin_round() override { sample(); }
    bool disturbed() override {
        sample();
        return last_.slowed_down();
    }

    Conditions read() override {
        Conditions conditions;
        if (const auto load = load_.read()) {
            conditions.host_foreign_share = load->foreign_share;
            conditions.host_steal_share = load->steal_share;
        }
        if (clocks_.empty()) return conditions;
        conditions.sm_clock_mhz = median_interval(clocks_).median;
        conditions.temperature_c = hottest_;
        conditions.throttle_reasons = static_cast<double>(reasons_);
        return conditions;
    }

private:
    /// At most every 20 ms: asking takes the driver's locks, and clocks do not change faster.
    void sample() {
        const double now = steady_seconds();
        if (now - sampled_ < 0.02) return;
        sampled_ = now;
        last_ = device::read_clocks();
        if (!last_.known) return;
        clocks_.push_back(last_.sm_mhz);
        hottest_ = std::max(hottest_, last_.temperature_c);
        reasons_ |= last_.throttle_reasons;
    }

    HostLoad load_;
    double sampled_ = 0;
    device::ClockState last_;
    std::vector<double> clocks_;
    double hottest_ = 0;
    std::uint64_t reasons_ = 0;
};

}  // namespace

void note_load() { history().add(read_own_load()); }

std::unique_ptr<ConditionWatch> watch_conditions(const DeviceInfo& device) {
    if (device.kind == DeviceKind::cpu) return std::make_unique<CpuWatch>();
    return std::make_unique<GpuWatch>();
}

}  // namespace espalier::bench
