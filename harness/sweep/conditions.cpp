#include "harness/sweep/conditions.hpp"

#include <sys/resource.h>
#include <sys/times.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "harness/device/clocks.hpp"
#include "harness/sweep/clock.hpp"
#include "harness/sweep/statistics.hpp"

namespace espalier {
namespace {

class CpuConditions final : public Conditions {
public:
    void begin_round() override { preempted_ = preemptions(); }
    bool disturbed() override { return preemptions() != preempted_; }

    std::vector<std::pair<std::string, double>> read() override {
        const Ticks stop = now();
        const double all = stop.all - start_.all;
        if (!(all > 0)) return {};
        const double foreign = (stop.busy - start_.busy) - (stop.own - start_.own);
        return {{"foreign_cpu_share", std::clamp(foreign / all, 0.0, 1.0)},
                {"steal_cpu_share", std::clamp((stop.steal - start_.steal) / all, 0.0, 1.0)}};
    }

private:
    struct Ticks {
        double all = 0, busy = 0, steal = 0, own = 0;
    };

    static Ticks now() {
        std::ifstream file("/proc/stat");
        std::string label;
        double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
        if (!(file >> label >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal) || label != "cpu")
            return {};
        tms own{};
        times(&own);
        const double busy = user + nice + system + irq + soft;
        return {busy + idle + wait + steal, busy, steal, static_cast<double>(own.tms_utime + own.tms_stime)};
    }

    /// How often the scheduler took a processor from one of this process's threads.
    static long preemptions() {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_nivcsw;
    }

    Ticks start_ = now();
    long preempted_ = 0;
};

class GpuConditions final : public Conditions {
public:
    void begin_round() override { sample(); }
    bool disturbed() override {
        sample();
        return last_.slowed_down();
    }

    std::vector<std::pair<std::string, double>> read() override {
        if (clocks_.empty()) return {};
        return {{"sm_clock_mhz", median_interval(clocks_).median},
                {"temperature_c", hottest_},
                {"throttle_reasons", static_cast<double>(reasons_)}};
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

    double sampled_ = 0;
    device::ClockState last_;
    std::vector<double> clocks_;
    double hottest_ = 0;
    std::uint64_t reasons_ = 0;
};

}  // namespace

std::unique_ptr<Conditions> watch_conditions(const DeviceInfo& device) {
    if (device.kind == DeviceKind::cpu) return std::make_unique<CpuConditions>();
    return std::make_unique<GpuConditions>();
}

}  // namespace espalier
