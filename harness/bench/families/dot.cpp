#include "reference_cpu/dot.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "harness/base/random.hpp"
#include "harness/bench/families/host_array.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/problems/dot.hpp"

namespace espalier::bench::dot {

using namespace ::espalier::dot;

namespace {

/// Uniform: -1..1. Constant: 0.1 each, whose rounding errors all have one sign. Ascending: 0, 1, .. 15, 0, ...
/// so that sums are exact. Descending: the same as uniform, at addresses that only a float is aligned to and that may
/// differ modulo 16. Special: denormals and signed zeros among ordinary values and, as seed and size have it, an
/// infinity or a NaN.
class VectorsWorkload final : public Workload<Problem> {
public:
    VectorsWorkload(const Problem& problem, std::uint64_t seed, Pattern pattern)
        : size_(static_cast<std::size_t>(problem.elements)),
          offset_a_(pattern == Pattern::descending && size_ > 0 ? 1 : 0),
          offset_b_(pattern == Pattern::descending && size_ > 0 ? 1 + size_ % 2 : 0),
          pattern_(pattern) {
        refresh(seed);
    }

    std::vector<std::span<const std::byte>> inputs() const override { return {bytes_of(a_), bytes_of(b_)}; }
    std::vector<std::size_t> output_bytes() const override { return {sizeof(float)}; }

    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        const auto vector = [&](std::size_t i, std::size_t offset) {
            return in[i] ? reinterpret_cast<const float*>(in[i]) + offset : nullptr;
        };
        return {vector(0, offset_a_), vector(1, offset_b_), reinterpret_cast<float*>(out[0])};
    }

    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance& tolerance) override {
        if (!expected_) expected_ = reference::dot(std::span(a_).subspan(offset_a_), std::span(b_).subspan(offset_b_));
        const double actual = static_cast<double>(values_of<float>(outputs[0])[0]);
        const double sum = expected_->sum;
        const bool right = std::isfinite(sum) ? std::abs(actual - sum) <= tolerance.relative * expected_->absolute_sum
                                              : (std::isnan(sum) ? std::isnan(actual) : actual == sum);
        if (right) return {};
        return {"result is " + std::to_string(actual) + ", expected " + std::to_string(sum) +
                "; the products' magnitudes add up to " + std::to_string(expected_->absolute_sum)};
    }

    void refresh(std::uint64_t seed) override {
        fill(a_, offset_a_, 2 * seed);
        fill(b_, offset_b_, 2 * seed + 1);
        if (pattern_ == Pattern::special && size_ > 2) {
            const std::size_t at = random_bits(seed, 0) % size_;
            if ((seed + size_) % 3 == 1) a_[at] = std::numeric_limits<float>::infinity(), b_[at] = -2;
            if ((seed + size_) % 3 == 2) a_[at] = std::numeric_limits<float>::quiet_NaN();
        }
        expected_.reset();
    }

private:
    void fill(HostArray<float>& values, std::size_t offset, std::uint64_t seed) const {
        values.resize(offset + size_);
        generate(values, [&](std::size_t i) { return value(i, static_cast<std::uint32_t>(random_bits(seed, i))); });
    }

    float value(std::size_t i, std::uint32_t random) const {
        const float uniform = static_cast<float>(static_cast<std::int32_t>(random)) * 0x1p-31F;
        switch (pattern_) {
            case Pattern::constant: return 0.1F;
            case Pattern::ascending: return static_cast<float>(i % 16);
            case Pattern::special:
                if (i % 5 == 1) return std::numeric_limits<float>::denorm_min();
                if (i % 5 == 2) return -0.0F;
                return uniform;
            case Pattern::descending:
            case Pattern::uniform: break;
        }
        return uniform;
    }

    std::size_t size_, offset_a_, offset_b_;
    Pattern pattern_;
    HostArray<float> a_, b_;
    std::optional<reference::Dot> expected_;
};

std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    if (effort == Effort::quick) return {{1024}, {1 << 20}};
    const bool cpu = kind == DeviceKind::cpu;
    const std::int64_t largest = cpu && effort != Effort::full ? 1 << 24 : 1 << 28;
    std::vector<Problem> problems;
    for (std::int64_t elements = 1024; elements <= largest; elements *= 2) problems.push_back({elements});
    // Where the best way changes: between blocks of a few thousand, and about the caches' sizes.
    for (const std::int64_t elements : {3 << 9, 3 << 10, 3 << 11, 3 << 12, 3 << 13, 3 << 18, 3 << 19, 3 << 20})
        problems.push_back({elements});
    return problems;
}

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    // Around a register, a warp, a block, and what a block takes at once; long enough for several rounds.
    constexpr std::int64_t kSizes[] = {0,    1,    2,    3,    4,    5,    7,    8,     15,    16,    17,  31,
                                       32,   33,   63,   65,   127,  129,  255,  256,   257,   511,   513, 1023,
                                       1024, 1025, 4095, 4096, 4097, 8191, 8193, 16385, 65537, 300007};
    for (const auto pattern :
         {Pattern::uniform, Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
        for (const std::int64_t elements : kSizes) cases.push_back({{elements}, pattern});
    return cases;
}

/// Vectors from what a call is worth to the sources' 2^28. Traces: embeddings, layers and all weights of common
/// networks, images, MNIST's and CIFAR-10's pixels, a second and an hour of sound.
Domain domain(DeviceKind kind) {
    const bool cpu = kind == DeviceKind::cpu;
    return {
        .sizes = {{"elements", cpu ? 256 : 1024, cpu ? 1 << 26 : 1 << 28, {{16, 2}, {4, 1}, {1, 1}}}},
        .alternatives = {},
        .most_data_bytes = std::size_t{1} << (cpu ? 30 : 32),
        .most_ops = 1e9,
        .traces = {"elements=300", "elements=768", "elements=1536", "elements=4096", "elements=12288", "elements=44100",
                   "elements=150528", "elements=307200", "elements=589824", "elements=2073600", "elements=2359296",
                   "elements=4194304", "elements=11689512", "elements=16777216", "elements=25557032",
                   "elements=47040000", "elements=109482240", "elements=153600000", "elements=158760000"}};
}

/// The histogram tutorial's other exercise: who adds up the blocks' sums. The vectors' lengths are ours.
std::vector<PublishedTable<Problem>> published() {
    return {{"H-dot",
             {{1 << 16}, {1 << 20}, {1 << 24}, {1 << 28}},
             {"host_finish:blocks_per_sm=8", "atomic_float:blocks_per_sm=8", "cpu_scalar", "cpu_openmp"}}};
}

}  // namespace

Suite<Problem> suite() {
    return {
        .default_problems = default_problems,
        .edge_cases = edge_cases,
        .workload = make_workload<VectorsWorkload>,
        .data_bytes =
            [](const Problem& problem) { return (2 * static_cast<std::size_t>(problem.elements) + 1) * sizeof(float); },
        .domain = domain,
        .published = published};
}

}  // namespace espalier::bench::dot
