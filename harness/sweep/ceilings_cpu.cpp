#include "harness/sweep/ceilings_cpu.hpp"

#include <immintrin.h>
#include <time.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace espalier {
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

/// Keeps a result that nobody reads.
template <class T>
void keep(const T& value) {
    asm volatile("" : : "m"(value) : "memory");
}

// Reads with the widest loads there are; eight accumulators cover the latency of the additions.
__attribute__((target("avx512f"))) void read_avx512(const std::byte* from, std::size_t bytes) {
    __m512i sums[8] = {};
    for (std::size_t i = 0; i + 512 <= bytes; i += 512)
        for (std::size_t k = 0; k < 8; ++k) sums[k] = _mm512_xor_si512(sums[k], _mm512_loadu_si512(from + i + 64 * k));
    keep(sums);
}
__attribute__((target("avx2"))) void read_avx2(const std::byte* from, std::size_t bytes) {
    __m256i sums[8] = {};
    for (std::size_t i = 0; i + 256 <= bytes; i += 256)
        for (std::size_t k = 0; k < 8; ++k)
            sums[k] =
                _mm256_xor_si256(sums[k], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + 32 * k)));
    keep(sums);
}
void read_generic(const std::byte* from, std::size_t bytes) {
    std::uint64_t sums[8] = {};
    for (std::size_t i = 0; i + 64 <= bytes; i += 64)
        for (std::size_t k = 0; k < 8; ++k) {
            std::uint64_t value;
            std::memcpy(&value, from + i + 8 * k, 8);
            sums[k] ^= value;
        }
    keep(sums);
}

constexpr int kSteps = 1 << 20;
constexpr int kChains = 12;  // two units with a latency of 4 cycles want 8; some to spare

// Operations per thread of the loops below, a multiply-add counted as two.
__attribute__((target("avx512f"))) double multiply_add_avx512() {
    __m512 chains[kChains];
    for (int c = 0; c < kChains; ++c) chains[c] = _mm512_set1_ps(static_cast<float>(c));
    const __m512 factor = _mm512_set1_ps(0.999F), one = _mm512_set1_ps(1);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm512_fmadd_ps(chain, factor, one);
    keep(chains);
    return 2.0 * 16 * kChains * kSteps;
}
__attribute__((target("avx2,fma"))) double multiply_add_avx2() {
    __m256 chains[kChains];
    for (int c = 0; c < kChains; ++c) chains[c] = _mm256_set1_ps(static_cast<float>(c));
    const __m256 factor = _mm256_set1_ps(0.999F), one = _mm256_set1_ps(1);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm256_fmadd_ps(chain, factor, one);
    keep(chains);
    return 2.0 * 8 * kChains * kSteps;
}
double multiply_add_generic() {
    __m128 chains[kChains];
    for (int c = 0; c < kChains; ++c) chains[c] = _mm_set1_ps(static_cast<float>(c));
    const __m128 factor = _mm_set1_ps(0.999F), one = _mm_set1_ps(1);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm_add_ps(_mm_mul_ps(chain, factor), one);
    keep(chains);
    return 2.0 * 4 * kChains * kSteps;
}

// Products of bytes summed in fours where there is VNNI, of 16-bit values summed in pairs elsewhere.
__attribute__((target("avx512f,avx512vnni"))) double dot_vnni() {
    __m512i chains[kChains] = {};
    const __m512i a = _mm512_set1_epi32(0x01020304), b = _mm512_set1_epi32(0x04030201);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm512_dpbusd_epi32(chain, a, b);
    keep(chains);
    return 2.0 * 64 * kChains * kSteps;
}
__attribute__((target("avx512f,avx512bw"))) double dot_avx512() {
    __m512i chains[kChains] = {};
    const __m512i b = _mm512_set1_epi32(0x00020003);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm512_add_epi32(chain, _mm512_madd_epi16(chain, b));
    keep(chains);
    return 2.0 * 32 * kChains * kSteps;
}
__attribute__((target("avx2"))) double dot_avx2() {
    __m256i chains[kChains] = {};
    const __m256i b = _mm256_set1_epi32(0x00020003);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm256_add_epi32(chain, _mm256_madd_epi16(chain, b));
    keep(chains);
    return 2.0 * 16 * kChains * kSteps;
}
double dot_generic() {
    __m128i chains[kChains] = {};
    const __m128i b = _mm_set1_epi32(0x00020003);
    for (int step = 0; step < kSteps; ++step)
        for (auto& chain : chains) chain = _mm_add_epi32(chain, _mm_madd_epi16(chain, b));
    keep(chains);
    return 2.0 * 8 * kChains * kSteps;
}

/// What the processor has, the widest first.
struct Loops {
    void (*read)(const std::byte*, std::size_t) = read_generic;
    double (*multiply_add)() = multiply_add_generic;
    double (*dot)() = dot_generic;
};

Loops loops_for(const DeviceInfo& device) {
    if (device.avx512_vnni) return {read_avx512, multiply_add_avx512, dot_vnni};
    if (device.avx512) return {read_avx512, multiply_add_avx512, dot_avx512};
    if (device.avx2 && device.fma) return {read_avx2, multiply_add_avx2, dot_avx2};
    return {};
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

double memory_rate(const DeviceInfo& device, const Loops& loops) {
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

double cache_rate(const DeviceInfo& device, const Loops& loops) {
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
    const Loops loops = loops_for(device);
    return {.bytes = memory_rate(device, loops),
            .cached_bytes = cache_rate(device, loops),
            .fp32 = rate_of(device.threads, loops.multiply_add),
            .integer = rate_of(device.threads, loops.dot)};
}

}  // namespace espalier
