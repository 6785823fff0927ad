#include "reference_cpu/histogram.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "harness/base/random.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/device/host_array.hpp"
#include "kernels/problems/histogram.hpp"

namespace espalier::bench::histogram {

using namespace ::espalier::histogram;

namespace {

/// Value of a byte for each of 65,536 random numbers, so that value v is about 1 / (v + 1) as frequent as 0.
std::vector<std::uint8_t> zipf_table() {
    double total = 0;
    for (int v = 0; v < kBins; ++v) total += 1.0 / (v + 1);
    std::vector<std::uint8_t> table;
    double below = 0;
    for (int v = 0; v < kBins; ++v) {
        below += 1.0 / (v + 1) / total;
        const auto end = v == kBins - 1 ? std::size_t{65536} : static_cast<std::size_t>(below * 65536);
        table.resize(std::max(table.size(), end), static_cast<std::uint8_t>(v));
    }
    return table;
}

/// Uniform: bytes as the problem's distribution has them. Constant: all equal, so that every increment meets the one
/// before. Ascending: 0, 1, .. 255, 0, ... Descending: random bytes at an odd address. Special: skewed.
class BytesWorkload final : public Workload<Problem> {
public:
    BytesWorkload(const Problem& problem, std::uint64_t seed, Pattern pattern)
        : size_(static_cast<std::size_t>(problem.bytes)),
          offset_(pattern == Pattern::descending && size_ > 0 ? 3 : 0),
          pattern_(pattern),
          distribution_(distribution_of(problem, pattern)) {
        refresh(seed);
    }

    std::vector<std::span<const std::byte>> inputs() const override { return {bytes_of(memory_)}; }
    std::vector<std::size_t> output_bytes() const override { return {kBins * sizeof(std::uint64_t)}; }

    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        const auto* memory = reinterpret_cast<const std::uint8_t*>(in[0]);
        return {memory ? memory + offset_ : nullptr, reinterpret_cast<std::uint64_t*>(out[0])};
    }

    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance&) override {
        if (!expected_) expected_ = reference::histogram(std::span(memory_).subspan(offset_));
        const auto actual = values_of<std::uint64_t>(outputs[0]);
        for (std::size_t bin = 0; bin < kBins; ++bin)
            if (actual[bin] != (*expected_)[bin])
                return {"count of byte " + std::to_string(bin) + " is " + std::to_string(actual[bin]) + ", expected " +
                        std::to_string((*expected_)[bin])};
        return {};
    }

    void refresh(std::uint64_t seed) override {
        static const std::vector<std::uint8_t> zipf = zipf_table();
        memory_.resize(offset_ + size_);
        expected_.reset();
        if (pattern_ == Pattern::ascending) return std::iota(memory_.begin(), memory_.end(), std::uint8_t{0});
        switch (distribution_) {
            case Distribution::constant:
                std::fill(memory_.begin(), memory_.end(), static_cast<std::uint8_t>(seed + size_));
                break;
            case Distribution::zipf:
                generate(memory_, [&](std::size_t i) { return zipf[random_bits(seed, i) & 0xFFFF]; });
                break;
            case Distribution::uniform:
                generate(memory_, [&](std::size_t i) { return static_cast<std::uint8_t>(random_bits(seed, i)); });
                break;
        }
    }

private:
    static Distribution distribution_of(const Problem& problem, Pattern pattern) {
        if (pattern == Pattern::constant) return Distribution::constant;
        if (pattern == Pattern::special) return Distribution::zipf;
        return problem.distribution;
    }

    std::size_t size_, offset_;
    Pattern pattern_;
    Distribution distribution_;
    device::HostArray<std::uint8_t> memory_;
    std::optional<Histogram256> expected_;
};

std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;
    const bool cpu = kind == DeviceKind::cpu;
    if (effort == Effort::quick) return {{kKiB}, {4 * kMiB}};
    std::vector<Problem> problems;
    const auto add_skewed = [&](std::int64_t bytes) {
        for (const auto distribution : {Distribution::constant, Distribution::zipf})
            problems.push_back({bytes, distribution});
    };
    for (std::int64_t bytes = kKiB; bytes <= 64 * kMiB; bytes *= 2) problems.push_back({bytes});
    for (std::int64_t bytes = kKiB; bytes <= 16 * kMiB; bytes *= 4) add_skewed(bytes);
    // 56 and 100 MiB are the sources' and the peers' sizes; 56 fits most L2 caches of today's GPUs.
    problems.push_back({100 * kMiB});
    if (cpu && effort != Effort::full) return problems;
    add_skewed(100 * kMiB);
    for (const std::int64_t bytes : {56 * kMiB, 256 * kMiB, 1024 * kMiB}) problems.push_back({bytes});
    if (!cpu) problems.push_back({4096 * kMiB});
    return problems;
}

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    // Around the widths of loads (4, 8, 16 bytes), a warp's and a block's share of them, and beyond what 8
    // 15 and 16 bits count in the odd and the even bins of pairs (constant bytes have the size's parity).
    constexpr std::int64_t kSizes[] = {0,    1,    2,     3,     4,     7,     8,     15,     16,    17,   31,
                                       63,   64,   65,    127,   255,   256,   257,   511,    513,   1023, 4095,
                                       4096, 4097, 16383, 16384, 16385, 65535, 65537, 140001, 140002};
    for (const auto pattern :
         {Pattern::uniform, Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
        for (const std::int64_t bytes : kSizes) cases.push_back({{bytes}, pattern});
    return cases;
}

/// From a page of text to what memory of a small machine holds. Traces: images of screens and cameras in one and three
/// bytes a pixel, test sets, and the first 10^8 and 10^9 bytes of Wikipedia (enwik8, enwik9).
Domain domain(DeviceKind kind) {
    const bool cpu = kind == DeviceKind::cpu;
    return {.sizes = {{"bytes", cpu ? 512 : 1024, std::int64_t{1} << (cpu ? 28 : 32), {{16, 2}, {4, 1}, {1, 1}}}},
            .alternatives = {{"distribution", {{"uniform", 2}, {"zipf", 2}, {"constant", 1}}}},
            .most_data_bytes = (std::size_t{1} << (cpu ? 28 : 32)) + 4096,
            .most_ops = cpu ? 3e8 : 5e9,
            .traces = {"bytes=307200", "bytes=921600", "bytes=2073600", "bytes=2764800", "bytes=6220800",
                       "bytes=8294400", "bytes=24883200", "bytes=36578304", "bytes=47040000", "bytes=56070144",
                       "bytes=72000000", "bytes=100000000", "bytes=1000000000"}};
}

/// H1 is of random bytes. The tutorial's exercise asks whether the data change the run time.
std::vector<PublishedTable<Problem>> published() {
    constexpr std::int64_t kBytes = std::int64_t{100} << 20;
    const Problem uniform{kBytes, Distribution::uniform};
    return {{"H1", {uniform}, {"shared_atomics:blocks_per_sm=2"}},
            {"H-blocks", {uniform}, {"shared_atomics"}},
            {"H-data",
             {uniform, {kBytes, Distribution::zipf}, {kBytes, Distribution::constant}},
             {"shared_atomics:blocks_per_sm=2", "global_atomics", "cpu_scalar", "cpu_openmp"}}};
}

}  // namespace

Suite<Problem> suite() {
    return {.default_problems = default_problems,
            .edge_cases = edge_cases,
            .workload = make_workload<BytesWorkload>,
            .data_bytes =
                [](const Problem& problem) {
                    return static_cast<std::size_t>(problem.bytes) + kBins * sizeof(std::uint64_t);
                },
            .domain = domain,
            .published = published};
}

}  // namespace espalier::bench::histogram
