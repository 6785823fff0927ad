#include "harness/sweep/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "harness/profile/ceilings.hpp"
#include "harness/sweep/statistics.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

// Long enough that reading the clock and one interrupt do not show, short enough for many rounds.
constexpr double kCpuSampleNs = 5e5;
constexpr double kGpuSampleNs = 2e5;
constexpr int kLargestBatch = 4096;
constexpr int kLargestColdBatch = 8;
constexpr std::size_t kLineBytes = 64;

int batch(double sample_ns, double run_ns, int largest) {
    return static_cast<int>(std::clamp(std::ceil(sample_ns / std::max(run_ns, 1.0)), 1.0, double(largest)));
}

class CpuSampler final : public Sampler {
public:
    CpuSampler(const DeviceInfo& device, Caches caches) {
        if (caches != Caches::warm) flusher_.emplace(device, caches);
    }

    double sample(const std::function<void()>& run, int batch) override {
        if (!flusher_)
            return timed([&] {
                       for (int i = 0; i < batch; ++i) run();
                   }) /
                   batch;
        double total = 0;
        for (int i = 0; i < batch; ++i) {
            flusher_->flush();
            total += timed(run);
        }
        return total / batch;
    }

    int batch_for(double nanoseconds) const override {
        return flusher_ ? 1 : batch(kCpuSampleNs, nanoseconds, kLargestBatch);
    }

private:
    template <class Body>
    static double timed(const Body& body) {
        const auto start = std::chrono::steady_clock::now();
        body();
        const auto stop = std::chrono::steady_clock::now();
        return std::chrono::duration<double, std::nano>(stop - start).count();
    }

    std::optional<CacheFlusher> flusher_;
};

class GpuSampler final : public Sampler {
public:
    GpuSampler(const DeviceInfo& device, Caches caches) {
        if (caches != Caches::warm) flusher_.emplace(device, caches);
        measure_overhead();
    }

    double sample(const std::function<void()>& run, int batch) override {
        if (!flusher_) return (between_events(run, batch) - overhead_ns_) / batch;
        // All enqueued at once: while the device flushes its cache, the next run is already waiting.
        for (int i = 0; i < batch; ++i) {
            flusher_->flush();
            starts_[i].record();
            run();
            stops_[i].record();
        }
        stops_[batch - 1].wait_for();
        double total = 0;
        for (int i = 0; i < batch; ++i) total += stops_[i].nanoseconds_since(starts_[i]) - overhead_ns_;
        device::synchronize();  // throws what any of the runs failed with
        return total / batch;
    }

    int batch_for(double nanoseconds) const override {
        return batch(kGpuSampleNs, nanoseconds, flusher_ ? kLargestColdBatch : kLargestBatch);
    }

private:
    double between_events(const std::function<void()>& run, int batch) {
        starts_[0].record();
        for (int i = 0; i < batch; ++i) run();
        stops_[0].record();
        stops_[0].wait_for();
        return stops_[0].nanoseconds_since(starts_[0]);
    }

    /// The time between two events around n empty launches is a + b n. A batch is charged with b for each of
    /// its launches, as in any program, and a is what measuring adds.
    void measure_overhead() {
        constexpr int kMany = 100;
        std::vector<double> one, many;
        for (int i = 0; i < 31; ++i) {
            one.push_back(between_events(device::launch_nothing, 1));
            many.push_back(between_events(device::launch_nothing, kMany));
        }
        const double single = median_interval(one).median;
        const double each = (median_interval(many).median - single) / (kMany - 1);
        overhead_ns_ = std::max(0.0, single - each);
    }

    std::optional<CacheFlusher> flusher_;
    device::Event starts_[kLargestColdBatch], stops_[kLargestColdBatch];
    double overhead_ns_ = 0;
};

}  // namespace

CacheFlusher::CacheFlusher(const DeviceInfo& device, Caches caches)
    : memory_(device.kind, 2 * device.l2_bytes), kind_(device.kind), caches_(caches) {
    memory_.fill(0, memory_.size(), filler_);
}

void CacheFlusher::flush() {
    if (caches_ == Caches::cold) return memory_.fill(0, memory_.size(), ++filler_);
    if (kind_ == DeviceKind::cuda) return device::read_through(memory_.data(), memory_.size());
    const std::byte* lines = memory_.data();
    unsigned sum = 0;
    for (std::size_t i = 0; i < memory_.size(); i += kLineBytes) sum += std::to_integer<unsigned>(lines[i]);
    [[maybe_unused]] volatile unsigned sink = sum;  // keeps the loads
}

std::unique_ptr<Sampler> make_sampler(const DeviceInfo& device, Caches caches) {
    if (device.kind == DeviceKind::cpu) return std::make_unique<CpuSampler>(device, caches);
    return std::make_unique<GpuSampler>(device, caches);
}

}  // namespace espalier::bench
