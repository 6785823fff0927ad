#include "harness/bench/profile/cpu_ceilings.hpp"

#include <time.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "harness/bench/profile/cpu_loops.hpp"

namespace espalier::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongest = 0.3;  // seconds for one ceiling: a busy machine gets fewer runs

/// Seconds that the calling thread has had a processor.
double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Runs `body` on every thread at once, several times; seconds that the slowest thread needed in the best run.
/// Seconds of processor time: on a busy machine the clock goes on while a thread waits for its turn, and a ceiling
/// that is too low calls honest results implausible. Threads of its own, which sleep while they wait: OpenMP's spin.
template <class Body>
double best_seconds(int threads, Body body) {
    constexpr int kRuns = 5;
    double best = std::numeric_limits<double>::infinity();
    const auto begun = Clock::now();
    for (int run = 0; run < kRuns; ++run) {
        if (run > 0 && std::chrono::duration<double>(Clock::now() - begun).count() > kLongest) break;
        std::vector<double> seconds(static_cast<std::size_t>(threads));
        std::barrier together(threads);
        {
            std::vector<std::jthread> all;
            for (int thread = 0; thread < threads; ++thread)
                all.emplace_back([&, thread] {
                    together.arrive_and_wait();
                    const double start = processor_seconds();
                    body(thread);
                    seconds[static_cast<std::size_t>(thread)] = processor_seconds() - start;
                });
        }
        best = std::min(best, *std::max_element(seconds.begin(), seconds.end()));
    }
    return best;
}

double rate_of(int threads, double (*loop)()) {
    double operations = 0;
    const double seconds = best_seconds(threads, [&](int thread) {
        const double mine = loop();
        if (thread == 0) operations = mine;
    });
    return operations * threads / seconds;
}

/// Twice the last-level cache would be out of reach of caching, but a virtual machine may report its
/// host's; a quarter of a gibibyte per direction is beyond what one guest keeps of it.
std::size_t stream_bytes(const DeviceInfo& device) {
    const std::size_t wanted =
        std::clamp<std::size_t>(2 * device.l2_bytes, std::size_t{64} << 20, std::size_t{256} << 20);
    return std::min(wanted, device.memory_bytes / 8) / 4096 * 4096;
}

double memory_rate(const DeviceInfo& device, const CpuLoops& loops) {
    const std::size_t bytes = stream_bytes(device);
    const std::size_t share = bytes / static_cast<std::size_t>(device.threads) / 4096 * 4096;
    const auto from = std::make_unique<std::byte[]>(bytes), to = std::make_unique<std::byte[]>(bytes);
    std::memset(from.get(), 1, bytes);
    std::memset(to.get(), 2, bytes);
    const auto offset = [&](int thread) { return share * static_cast<std::size_t>(thread); };
    const double copying = best_seconds(device.threads, [&](int thread) {
        std::memcpy(to.get() + offset(thread), from.get() + offset(thread), share);
    });
    const double reading =
        best_seconds(device.threads, [&](int thread) { loops.read(from.get() + offset(thread), share); });
    const double total = static_cast<double>(share) * device.threads;
    return std::max(2 * total / copying, total / reading);
}

double cache_rate(const DeviceInfo& device, const CpuLoops& loops) {
    constexpr std::size_t kBytes = 16 * 1024;  // fits any first-level data cache
    constexpr int kPasses = 1 << 15;
    const double seconds = best_seconds(device.threads, [&](int) {
        alignas(64) std::byte data[kBytes] = {};
        for (int pass = 0; pass < kPasses; ++pass) {
            keep(data);
            loops.read(data, kBytes);
        }
    });
    return static_cast<double>(kBytes) * kPasses * device.threads / seconds;
}

}  // namespace

device::Ceilings measure_cpu_ceilings(const DeviceInfo& device) {
    const CpuLoops loops = cpu_loops(device);
    return {.bytes = memory_rate(device, loops),
            .cached_bytes = cache_rate(device, loops),
            .fp32 = rate_of(device.threads, loops.multiply_add),
            .integer = rate_of(device.threads, loops.dot)};
}

}  // namespace espalier::bench
