#include "reference_cpu/dot.hpp"

#include "harness/bench/families/plain.hpp"
#include "kernels/problems/dot.hpp"

namespace espalier::bench::dot {

using namespace ::espalier::dot;

namespace {

std::int64_t elements(const Problem& problem) { return problem.elements; }

struct DotProduct : Plain<Problem> {
    static Arrays arrays() {
        return {in<&Buffers::a>("a", elements), in<&Buffers::b>("b", elements),
                out<&Buffers::result>("result", [](const Problem&) { return std::int64_t{1}; })};
    }

    /// Errors are measured by the sum of the products' magnitudes.
    static constexpr bool kScales = true;
    static void oracle(const Problem& problem, const Buffers& in, Expected& expected) {
        const auto size = static_cast<std::size_t>(problem.elements);
        const reference::Dot dot = reference::dot({in.a, size}, {in.b, size});
        expected[0] = {{dot.sum}, {dot.absolute_sum}};
    }

    static std::vector<Problem> default_problems(DeviceKind kind, Effort effort);
    static std::vector<TypedEdgeCase<Problem>> edge_cases();
    static Domain domain(DeviceKind kind);
    static std::vector<PublishedTable<Problem>> published();
};

std::vector<Problem> DotProduct::default_problems(DeviceKind kind, Effort effort) {
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

std::vector<TypedEdgeCase<Problem>> DotProduct::edge_cases() {
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
Domain DotProduct::domain(DeviceKind kind) {
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
std::vector<PublishedTable<Problem>> DotProduct::published() {
    return {{"H-dot",
             {{1 << 16}, {1 << 20}, {1 << 24}, {1 << 28}},
             {"host_finish:blocks_per_sm=8", "atomic_float:blocks_per_sm=8", "cpu_scalar", "cpu_openmp"}}};
}

}  // namespace

Suite<Problem> suite() { return plain_suite<DotProduct>(); }

}  // namespace espalier::bench::dot
