#include "harness/bench/sweep/worker/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "harness/base/statistics.hpp"
#include "harness/bench/profile/ceilings.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

// Long enough that reading the clock and one interrupt do not show, short enough for many rounds.
constexpr double kCpuSampleNs = 5e5;
constexpr double kGpuSampleNs = 2e5;
constexpr int kLargestBatch = 4096;
constexpr int kLargestColdBatch = 8;
constexpr std::size_t kLineBytes = 64;
constexpr double kLeastSampleNs = 0.01;  // what is recorded has so many digits

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

    /// With caches flushed each run is timed alone.
    double resolution_ns(int batch) const override { return clock_step_ns() / (flusher_ ? 1 : batch); }

private:
    /// Clocks may tick more seldom than they can be read: 25 MHz, 40 ns, on some processors.
    static double clock_step_ns() {
        static const double step = [] {
            double least = 1e3;
            for (int i = 0; i < 100; ++i) {
                const auto start = std::chrono::steady_clock::now();
                auto stop = start;
                while (stop == start) stop = std::chrono::steady_clock::now();
                least = std::min(least, std::chrono::duration<double, std::nano>(stop - start).count());
            }
            return least;
        }();
        return step;
    }

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
        measure_costs();
    }

    double sample(const std::function<void()>& run, int batch) override {
        if (!flusher_) return (between_events(run, batch) - costs_.measuring_ns) / batch;
        // All enqueued at once: while the device flushes its cache, the next run is already waiting.
        for (int i = 0; i < batch; ++i) {
            flusher_->flush();
            starts_[i].record();
            run();
            stops_[i].record();
        }
        stops_[batch - 1].wait_for();
        double total = 0;
        for (int i = 0; i < batch; ++i) total += stops_[i].nanoseconds_since(starts_[i]) - costs_.measuring_ns;
        device::synchronize();  // throws what any of the runs failed with
        return total / batch;
    }

    int batch_for(double nanoseconds) const override {
        return batch(kGpuSampleNs, nanoseconds, flusher_ ? kLargestColdBatch : kLargestBatch);
    }

    double resolution_ns(int) const override { return costs_.launch_ns; }

private:
    double between_events(const std::function<void()>& run, int batch) {
        starts_[0].record();
        for (int i = 0; i < batch; ++i) run();
        stops_[0].record();
        stops_[0].wait_for();
        return stops_[0].nanoseconds_since(starts_[0]);
    }

    /// As samples are taken: behind a flush, where there is one, the launches wait in the device's queue. On an idle
    /// device the first event would pass at once and the time include how long the host takes to launch, which no
    /// sample has: taken off from those of a short kernel it left less than nothing.
    double around_nothing(int launches) {
        if (flusher_) flusher_->flush();
        return between_events(device::launch_nothing, launches);
    }

    void measure_costs() {
        const int launches = flusher_ ? kLargestColdBatch : 100;  // more do not wait behind one flush
        std::vector<double> one, many;
        for (int i = 0; i < 31; ++i) {
            one.push_back(around_nothing(1));
            many.push_back(around_nothing(launches));
        }
        costs_ = launch_costs(median_interval(one).median, median_interval(many).median, launches);
    }

    std::optional<CacheFlusher> flusher_;
    device::Event starts_[kLargestColdBatch], stops_[kLargestColdBatch];
    LaunchCosts costs_;
};

/// Five digits, of small ones two after the point: the others are noise, and 8% of a packed file.
double without_noise(double ns) {
    constexpr double kBeyond = 1e5;
    double scale = 100, unit = 1;
    while (scale > 1 && ns * scale >= kBeyond) scale /= 10;
    while (ns / unit >= kBeyond) unit *= 10;
    return std::round(ns * scale / unit) / scale * unit;
}

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

Sample take_sample(Sampler& sampler, const std::function<void()>& run, int batch) {
    const double least = std::max(kLeastSampleNs, sampler.resolution_ns(batch));
    const double ns = sampler.sample(run, batch);
    if (ns >= least) return {without_noise(ns)};
    return {without_noise(least), least};
}

LaunchCosts launch_costs(double one_ns, double many_ns, int launches) {
    const double launch = std::clamp((many_ns - one_ns) / (launches - 1), 1.0, std::max(1.0, one_ns));
    return {std::max(0.0, one_ns - launch), launch};
}

std::unique_ptr<Sampler> make_sampler(const DeviceInfo& device, Caches caches) {
    if (device.kind == DeviceKind::cpu) return std::make_unique<CpuSampler>(device, caches);
    return std::make_unique<GpuSampler>(device, caches);
}

}  // namespace espalier::bench
