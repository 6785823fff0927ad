// What points in shards cost beside one model of all points, and beside the copies alone. Not a test: run it by hand on
// GPUs. It prints a row of JSON for each case.
//
// usage: sharded_benchmark GIGABYTES DIMS K GPUS BYTES_PER_DEVICE ROUNDS QUERIES...
//   GIGABYTES of points, each of DIMS attributes; BYTES_PER_DEVICE 0 for what the devices have

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "espalier/espalier.hpp"
#include "kernels/device/runtime.hpp"
#include "tests/kernels/api/benchmark_support.hpp"

namespace {

using namespace espalier;

double median_seconds(std::int64_t rounds, const std::function<void()>& run) {
    std::vector<double> times;
    for (std::int64_t i = 0; i < rounds; ++i) times.push_back(seconds_of(run));
    return median(std::move(times));
}

/// The fraction that the bits of a number make, by the finaliser of splitmix64.
float fraction_of(std::uint64_t number) {
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9U;
    number = (number ^ (number >> 27)) * 0x94D049BB133111EBU;
    return static_cast<float>((number ^ (number >> 31)) >> 40) * 0x1p-24F;
}

/// Items around 256 directions.
std::unique_ptr<float[]> embeddings(std::int64_t count, std::int64_t dims, std::uint64_t seed) {
    auto values = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count * dims));
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t item = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15U + seed;
        const auto centre = static_cast<std::uint64_t>(fraction_of(item) * 256) << 32;
        for (std::int64_t a = 0; a < dims; ++a) {
            const auto attribute = static_cast<std::uint64_t>(a);
            const float noise = fraction_of(item * 31 + attribute * 0x9E3779B97F4A7C15U);
            values[static_cast<std::size_t>(i * dims + a)] = fraction_of(centre + attribute) + noise / 2;
        }
    }
    return values;
}

/// Bytes a second from page-locked memory to the current GPU.
double copy_rate() {
    constexpr std::size_t kBytes = std::size_t{1} << 28;
    const device::PinnedBuffer from(kBytes);
    const device::Buffer to(kBytes);
    const double seconds = median_seconds(9, [&] {
        device::copy_to_device(to.data(), from.data(), kBytes);
        device::synchronize();
    });
    return static_cast<double>(kBytes) / seconds;
}

double share_of_equal(const Neighbours& a, const Neighbours& b) {
    std::size_t equal = 0;
    for (std::size_t i = 0; i < a.indices.size(); ++i) equal += a.indices[i] == b.indices[i] ? 1 : 0;
    return static_cast<double>(equal) / static_cast<double>(std::max<std::size_t>(a.indices.size(), 1));
}

}  // namespace

int main(int argc, char** argv) {
    const auto argument = [&](int i, double otherwise) { return i < argc ? std::atof(argv[i]) : otherwise; };
    const auto dims = static_cast<std::int64_t>(argument(2, 768)), k = static_cast<std::int64_t>(argument(3, 10));
    const auto points = static_cast<std::int64_t>(argument(1, 4) * 1e9 / (4.0 * static_cast<double>(dims)));
    const auto rounds = static_cast<std::int64_t>(argument(6, 3));
    std::vector<Device> devices;
    for (int d = 0; d < static_cast<int>(argument(4, 1)); ++d) devices.push_back(value_or_exit(Device::cuda(d)));
    const double rate = copy_rate();
    const auto values = embeddings(points, dims, 1);
    const Items items{values.get(), points, dims};
    const double bytes = static_cast<double>(points * dims) * 4;

    std::optional<ShardedNearestNeighbours> sharded;
    const double fitting = median_seconds(1, [&] {
        sharded = value_or_exit(ShardedNearestNeighbours::fit(
            devices, items, {.k = k}, {.bytes_per_device = static_cast<std::size_t>(argument(5, 0))}));
    });
    const auto shards = static_cast<double>(sharded->shard_count());
    const double streamed = bytes * (shards - static_cast<double>(sharded->resident_count())) / shards;
    std::optional<NearestNeighbours> whole;
    if (bytes < 0.2 * static_cast<double>(device::memory_state().free))
        whole = value_or_exit(NearestNeighbours::fit(devices[0], items, {.k = k}));
    for (int i = 7; i < argc; ++i) {
        const auto count = static_cast<std::int64_t>(argument(i, 1));
        const auto asked = embeddings(count, dims, 2);
        const Items queries{asked.get(), count, dims};
        Neighbours found, expected;
        const double seconds = median_seconds(rounds, [&] { found = value_or_exit(sharded->kneighbors(queries)); });
        double one_model = 0;
        if (whole) one_model = median_seconds(rounds, [&] { expected = value_or_exit(whole->kneighbors(queries)); });
        std::printf(
            "{\"device\": \"%s\", \"gpus\": %zu, \"points\": %lld, \"dims\": %lld, \"k\": %lld, \"queries\": %lld, "
            "\"shards\": %.0f, \"resident\": %lld, \"fit_s\": %.4g, \"s\": %.4g, \"streamed_bytes\": %.4g, "
            "\"copy_bytes_per_s\": %.4g, \"copies_s\": %.4g, \"one_model_s\": %.4g, \"equal\": %.6f}\n",
            devices[0].key().c_str(), devices.size(), static_cast<long long>(points), static_cast<long long>(dims),
            static_cast<long long>(k), static_cast<long long>(count), shards,
            static_cast<long long>(sharded->resident_count()), fitting, seconds, streamed, rate, streamed / rate,
            one_model, whole ? share_of_equal(found, expected) : -1.0);
        std::fflush(stdout);
    }
}
