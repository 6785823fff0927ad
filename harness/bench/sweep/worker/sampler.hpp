#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "harness/base/bench_memory.hpp"
#include "harness/bench/sweep/plan/caches.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Takes one sample of how long something runs.
class Sampler {
public:
    virtual ~Sampler() = default;

    /// Nanoseconds per run, the mean of `batch` runs. `run` may leave work in flight on the default stream.
    [[nodiscard]] virtual double sample(const std::function<void()>& run, int batch) = 0;

    /// How many runs of about `nanoseconds` one sample should take.
    [[nodiscard]] virtual int batch_for(double nanoseconds) const = 0;

    /// The least nanoseconds per run that a sample of `batch` runs can tell from nothing. A sample that comes out
    /// below, or below zero because more was taken off than was measured, says no more than that the run took no
    /// longer.
    [[nodiscard]] virtual double resolution_ns(int batch) const { return 1.0 / batch; }
};

/// One sample of a run's time.
struct Sample {
    double ns = 0;             ///< per run, to five digits or the hundredth
    double resolution_ns = 0;  ///< it is this bound, because it was shorter than can be told from nothing; else 0
};

/// Takes a sample of `batch` runs: what sweeps record and espalier_benchmark reports. Throws what a run throws.
Sample take_sample(Sampler& sampler, const std::function<void()>& run, int batch);

/// What the time between two events around n empty launches is made of: `measuring_ns` + n * `launch_ns`.
struct LaunchCosts {
    double measuring_ns = 0;  ///< what measuring adds, and a sample is relieved of
    double launch_ns = 1;     ///< what any program pays for a launch: no run that launches anything takes less
};

/// From the time around one empty launch and that around `launches` of them, more than one.
LaunchCosts launch_costs(double one_ns, double many_ns, int launches);

/// Flushes the caches by writing (`Caches::cold`) or reading (`Caches::clean`) twice the last-level cache.
class CacheFlusher {
public:
    CacheFlusher(const DeviceInfo& device, Caches caches);
    /// Enqueued on the default stream of a GPU; done on return on the CPU.
    void flush();

private:
    BenchMemory memory_;
    DeviceKind kind_;
    Caches caches_;
    std::uint8_t filler_ = 0;
};

/// For the CPU or the current GPU. The caches are flushed before every run unless they are to be warm. A
/// GPU's times are those of its own events, less what measuring adds to them.
std::unique_ptr<Sampler> make_sampler(const DeviceInfo& device, Caches caches);

}  // namespace espalier::bench
