#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "harness/families/bench_memory.hpp"
#include "harness/sweep/caches.hpp"
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
};

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
/// GPU's times are those of its own events, less what an empty launch costs between them.
std::unique_ptr<Sampler> make_sampler(const DeviceInfo& device, Caches caches);

}  // namespace espalier::bench
