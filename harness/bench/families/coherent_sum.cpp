#include "reference_cpu/coherent_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/base/random.hpp"
#include "harness/bench/families/parallel.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/device/host_array.hpp"
#include "kernels/problems/coherent_sum.hpp"

namespace espalier::bench::coherent_sum {

using namespace ::espalier::coherent_sum;

namespace {

/// Travel times are smooth: neighbouring receivers differ by a few samples. A random walk keeps that, which caches see,
/// and every delay within the span.
device::HostArray<std::int32_t> delays_of_walk(const Problem& problem, std::uint64_t seed) {
    const auto span = static_cast<std::int32_t>(problem.span);
    const auto receivers = static_cast<std::uint64_t>(problem.receivers);
    device::HostArray<std::int32_t> delays(static_cast<std::size_t>(problem.sources * problem.receivers));
    in_parallel(problem.sources, [&](std::int64_t source) {
        const std::uint64_t begin = static_cast<std::uint64_t>(source) * receivers;
        auto at = static_cast<std::int32_t>(random_bits(2 * seed + 1, static_cast<std::uint64_t>(source)) %
                                            (static_cast<std::uint64_t>(span) + 1));
        for (std::uint64_t i = begin; i < begin + receivers; ++i) {
            at = std::clamp<std::int32_t>(at + static_cast<std::int32_t>(random_bits(2 * seed, i) % 9) - 4, 0, span);
            delays[i] = at;
        }
    });
    return delays;
}

/// From the nodes of a cube, 50 m apart and layer by layer, to receivers on a square mesh 40 m apart, 500 m above it:
/// the time after the first arrival of all, at 2,500 m/s and 2 ms a sample, or longer samples where the span would not
/// hold it.
device::HostArray<std::int32_t> delays_of_cube(const Problem& problem) {
    constexpr double kNodes = 50, kMesh = 40, kAbove = 500, kMetresPerSample = 5;
    if (problem.sources == 0 || problem.receivers == 0) return {};
    const auto edge = static_cast<std::int64_t>(std::ceil(std::cbrt(static_cast<double>(problem.sources)) - 1e-9));
    const auto side = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(problem.receivers)) - 1e-9));
    const auto centred = [](std::int64_t i, std::int64_t count, double spacing) {
        return (static_cast<double>(i) - 0.5 * static_cast<double>(count - 1)) * spacing;
    };
    device::HostArray<float> metres(static_cast<std::size_t>(problem.sources * problem.receivers));
    generate(metres, [&](std::size_t i) {
        const auto node = static_cast<std::int64_t>(i) / problem.receivers,
                   r = static_cast<std::int64_t>(i) % problem.receivers;
        const double x = centred(node % edge, edge, kNodes) - centred(r % side, side, kMesh);
        const double y = centred(node / edge % edge, edge, kNodes) - centred(r / side, side, kMesh);
        const double z = kAbove + static_cast<double>(node / edge / edge) * kNodes;
        return static_cast<float>(std::sqrt(x * x + y * y + z * z));
    });
    const auto [nearest, farthest] = std::ranges::minmax(metres);
    const float scale = std::max(static_cast<float>(kMetresPerSample),
                                 (farthest - nearest) / std::max(static_cast<float>(problem.span), 1.0F));
    device::HostArray<std::int32_t> delays(metres.size());
    generate(delays, [&, nearest = nearest](std::size_t i) {
        return std::min(static_cast<std::int32_t>(std::lround((metres[i] - nearest) / scale)),
                        static_cast<std::int32_t>(problem.span));
    });
    return delays;
}

/// Uniform: noise in -1..1. Constant: all ones, so that every time of a source ties. Ascending, descending:
/// ramps in time. Special: zeros of both signs, denormals and large values (traces are finite by contract).
class RecordWorkload final : public Workload<Problem> {
public:
    RecordWorkload(const Problem& problem, std::uint64_t seed, Pattern pattern) : problem_(problem), pattern_(pattern) {
        refresh(seed);
    }

    std::vector<std::span<const std::byte>> inputs() const override { return {bytes_of(traces_), bytes_of(delays_)}; }

    std::vector<std::size_t> output_bytes() const override {
        if (problem_.output == Coherence::sums) return {static_cast<std::size_t>(problem_.sums()) * sizeof(float)};
        const auto sources = static_cast<std::size_t>(problem_.sources);
        return {sources * sizeof(float), sources * sizeof(std::int32_t)};
    }

    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        Buffers buffers{.traces = reinterpret_cast<const float*>(in[0]),
                        .delays = reinterpret_cast<const std::int32_t*>(in[1])};
        if (problem_.output == Coherence::sums) {
            buffers.sums = reinterpret_cast<float*>(out[0]);
        } else {
            buffers.maximum = reinterpret_cast<float*>(out[0]);
            buffers.maximum_sample = reinterpret_cast<std::int32_t*>(out[1]);
        }
        return buffers;
    }

    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance& tolerance) override {
        if (!adopted_.empty()) return check_adopted(outputs, tolerance);
        if (expected_.empty()) compute_expected();
        for (std::int64_t source = 0; source < problem_.sources; ++source) {
            const Expected& expected = expected_[static_cast<std::size_t>(source)];
            const auto wrong = problem_.output == Coherence::sums ? check_sums(source, expected, outputs, tolerance)
                                                                  : check_maximum(source, expected, outputs, tolerance);
            if (wrong) return wrong;
        }
        return {};
    }

    bool adopt(std::span<const std::span<const std::byte>> outputs) override {
        const auto values = values_of<float>(outputs[0]);
        adopted_.resize(values.size());
        generate(adopted_, [&](std::size_t i) { return values[i]; });
        if (problem_.precision != SumPrecision::half) largest_ = largest_magnitude(traces_);
        return true;
    }

    void refresh(std::uint64_t seed) override {
        traces_.resize(static_cast<std::size_t>(problem_.receivers * problem_.trace_samples()));
        generate(traces_, [&](std::size_t i) {
            return value(static_cast<std::int64_t>(i) % problem_.trace_samples(), random_bits(seed, i));
        });
        if (problem_.delays == Delays::walk)
            delays_ = delays_of_walk(problem_, seed);
        else if (delays_.empty())  // the same for every seed
            delays_ = delays_of_cube(problem_);
        expected_.clear();
        adopted_.clear();
        if (problem_.precision == SumPrecision::half) largest_ = largest_magnitude(traces_);
    }

private:
    /// One source's outputs, for each sample: the sum, and that of absolute values, which rounding is measured by.
    struct Expected {
        std::vector<double> sums, magnitude;
    };

    void compute_expected() {
        expected_.resize(static_cast<std::size_t>(problem_.sources));
        in_parallel(problem_.sources, [&](std::int64_t source) {
            Expected& expected = expected_[static_cast<std::size_t>(source)];
            expected.sums = reference::coherent_sum(traces_, problem_.trace_samples(), delays_of(source),
                                                    problem_.receivers, problem_.samples, expected.magnitude);
        });
    }

    [[nodiscard]] const std::int32_t* delays_of(std::int64_t source) const {
        return delays_.data() + source * problem_.receivers;
    }

    /// Two rounded results of the same sums may be apart by the roundings of both. Their magnitude is not known, but
    /// no larger than it is where every sample is as large as the largest.
    Mismatch check_adopted(std::span<const std::span<const std::byte>> outputs, const Tolerance& tolerance) const {
        const double slack = 2 * allowed(tolerance, static_cast<double>(problem_.receivers) * largest_);
        const auto values = values_of<float>(outputs[0]);
        const auto apart = [&](double a, double b) { return !(std::abs(a - b) <= slack); };
        const std::size_t at = first_where(values.size(), [&](std::size_t i) {
            return apart(values[i], adopted_[i]) ||
                   (problem_.output == Coherence::maximum && apart(values[i], sum_at(i, outputs)));
        });
        if (at == values.size()) return {};
        return {"value " + std::to_string(at) + " is " + std::to_string(values[at]) + ", expected " +
                std::to_string(adopted_[at])};
    }

    /// The sum of a source at the sample where its maximum is said to be; NaN if that is none.
    double sum_at(std::size_t source, std::span<const std::span<const std::byte>> outputs) const {
        const std::int32_t sample = values_of<std::int32_t>(outputs[1])[source];
        if (sample < 0 || sample >= problem_.samples) return std::numeric_limits<double>::quiet_NaN();
        const std::int32_t* const delays = delays_of(static_cast<std::int64_t>(source));
        double sum = 0;
        for (std::int64_t r = 0; r < problem_.receivers; ++r)
            sum += traces_[static_cast<std::size_t>(r * problem_.trace_samples() + sample + delays[r])];
        return sum;
    }

    float value(std::int64_t sample, std::uint64_t bits) const {
        switch (pattern_) {
            case Pattern::constant: return 1;
            case Pattern::ascending: return static_cast<float>(sample);
            case Pattern::descending: return -static_cast<float>(sample);
            case Pattern::special: {
                constexpr float kValues[] = {0.0F, -0.0F, 1e-42F, -1e-42F, 1e30F, -1e30F, 1.0F, -1.0F};
                return kValues[bits % std::size(kValues)];
            }
            case Pattern::uniform: break;
        }
        return static_cast<float>(static_cast<std::int32_t>(bits >> 32)) * 0x1p-31F;
    }

    /// By the variant, and by what the problem allows.
    [[nodiscard]] double allowed(const Tolerance& tolerance, double magnitude) const {
        const double of_half = static_cast<double>(problem_.receivers + 3) / 8000 * largest_;
        return tolerance.absolute + tolerance.relative * magnitude +
               (problem_.precision == SumPrecision::half ? of_half : 0);
    }

    Mismatch check_sums(std::int64_t source, const Expected& all, std::span<const std::span<const std::byte>> outputs,
                        const Tolerance& tolerance) const {
        const auto& [expected, magnitude] = all;
        const auto sums = values_of<float>(outputs[0]).subspan(static_cast<std::size_t>(source * problem_.samples));
        for (std::size_t k = 0; k < expected.size(); ++k)
            if (!(std::abs(sums[k] - expected[k]) <= allowed(tolerance, magnitude[k])))
                return {"sum of source " + std::to_string(source) + " at sample " + std::to_string(k) + " is " +
                        std::to_string(sums[k]) + ", expected " + std::to_string(expected[k])};
        return {};
    }

    Mismatch check_maximum(std::int64_t source, const Expected& all,
                           std::span<const std::span<const std::byte>> outputs, const Tolerance& tolerance) const {
        const auto& [expected, magnitude] = all;
        const float maximum = values_of<float>(outputs[0])[static_cast<std::size_t>(source)];
        const std::int32_t sample = values_of<std::int32_t>(outputs[1])[static_cast<std::size_t>(source)];
        const std::string where = "maximum of source " + std::to_string(source);
        if (expected.empty())
            return sample == -1 && maximum == 0 ? Mismatch{} : Mismatch{where + " of an empty window is not 0 at -1"};
        if (sample < 0 || sample >= problem_.samples) return {where + " is at sample " + std::to_string(sample)};
        const auto best =
            static_cast<std::size_t>(std::max_element(expected.begin(), expected.end()) - expected.begin());
        const auto at = static_cast<std::size_t>(sample);
        // Two times whose sums differ by less than rounding are both right; equal sums must give the earliest.
        const double slack = allowed(tolerance, magnitude[best]) + allowed(tolerance, magnitude[at]);
        if (!(std::abs(maximum - expected[at]) <= allowed(tolerance, magnitude[at])) ||
            expected[best] - expected[at] > slack)
            return {where + " is " + std::to_string(maximum) + " at " + std::to_string(sample) + ", expected " +
                    std::to_string(expected[best]) + " at " + std::to_string(best)};
        if (pattern_ == Pattern::constant && sample != 0) return {where + " is not the first of equal ones"};
        return {};
    }

    Problem problem_;
    Pattern pattern_;
    device::HostArray<float> traces_;
    device::HostArray<std::int32_t> delays_;
    std::vector<Expected> expected_;    ///< of every source; empty: not computed yet
    device::HostArray<float> adopted_;  ///< sums or maxima to compare with instead, if any
    float largest_ = 0;  ///< magnitude of any sample, known in half precision or where something is adopted
};

std::vector<Problem> problems_of_walks(DeviceKind kind, Effort effort) {
    std::vector<Problem> problems;
    const bool cpu = kind == DeviceKind::cpu;
    const auto add = [&](std::int64_t receivers, std::int64_t samples, std::int64_t edge) {
        for (const auto output : {Coherence::maximum, Coherence::sums})
            problems.push_back({receivers, samples, edge * edge * edge, 512, output});
    };
    const auto add_maximum = [&](std::int64_t receivers, std::int64_t samples, std::int64_t edge) {
        problems.push_back({receivers, samples, edge * edge * edge, 512, Coherence::maximum});
    };
    add(16, 200, 2);
    add(256, 1000, 3);
    if (effort == Effort::quick) return problems;
    add(64, 4000, 3);
    add(1920, 1000, 2);
    if (cpu) {
        for (const std::int64_t receivers : {16, 64, 256, 600})
            for (const std::int64_t samples : {500, 1000, 2000}) add(receivers, samples, 2);
        add(64, 1000, 3);
        add(256, 500, 3);
        add(256, 4000, 2);
        return problems;
    }
    for (const std::int64_t receivers : {256, 1920, 2048})
        for (const std::int64_t samples : {1000, 5000, 15000})
            for (const std::int64_t edge : {10, 15}) {
                const bool largest = receivers > 256 && samples == 15000 && edge == 15;
                if (!largest || effort == Effort::full)
                    add(receivers, samples, edge);
                else if (receivers == 1920)
                    add_maximum(receivers, samples, edge);
            }
    // Windows that a block's threads do not fill, or just so.
    for (const std::int64_t receivers : {256, 1920})
        for (const std::int64_t edge : {10, 15}) {
            add(receivers, 500, edge);
            add_maximum(receivers, 2000, edge);
        }
    for (const std::int64_t edge : {20, 25})
        for (const std::int64_t samples : {500, 1000}) add_maximum(1920, samples, edge);
    add_maximum(1920, 500, 30);
    add_maximum(1920, 1000, 33);
    for (const std::int64_t samples : {50000, 200000}) add_maximum(256, samples, 10);
    if (effort == Effort::standard) return problems;
    for (const auto& [receivers, samples] : {std::pair<std::int64_t, std::int64_t>{256, 100000},
                                             {2048, 50000},
                                             {1920, 50000},
                                             {1920, 100000},
                                             {1920, 200000},
                                             {2048, 100000},
                                             {2048, 200000}})
        add_maximum(receivers, samples, 10);
    add_maximum(1920, 5000, 33);
    return problems;
}

/// Default problems: series of sources, and cubes, where there are enough sources to share anything. Where they do, in
/// half precision, too.
std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    constexpr std::int64_t kSharing = 1000;
    std::vector<Problem> problems = problems_of_walks(kind, effort);
    const std::size_t walks = problems.size();
    for (std::size_t i = 0; i < walks; ++i) {
        Problem problem = problems[i];
        problem.delays = Delays::cube;
        if (problem.sources < kSharing) continue;
        problems.push_back(problem);
        if (kind == DeviceKind::cpu) continue;
        problem.precision = SumPrecision::half;
        problems.push_back(problem);
    }
    return problems;
}

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    for (const auto output : {Coherence::sums, Coherence::maximum}) {
        for (const std::int64_t samples : {0, 1, 31, 127, 128, 129, 255, 256, 257, 1025})
            cases.push_back({{5, samples, 3, 7, output}});
        for (const std::int64_t receivers : {0, 1, 2, 33, 300}) cases.push_back({{receivers, 70, 2, 9, output}});
        cases.push_back({{4, 40, 0, 3, output}});
        cases.push_back({{4, 40, 5, 0, output}});
        for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
            cases.push_back({{17, 300, 4, 20, output}, pattern});
        for (const std::int64_t sources : {27, 130, 300})
            cases.push_back({{37, 150, sources, 90, output, Delays::cube}});
    }
    const auto add_half = [&](Problem problem, Pattern pattern = Pattern::uniform) {
        problem.precision = SumPrecision::half;
        cases.push_back({problem, pattern});
    };
    for (const std::int64_t samples : {0, 1, 127, 129, 257}) add_half({5, samples, 3, 7, Coherence::sums});
    for (const std::int64_t receivers : {0, 1, 300}) add_half({receivers, 70, 2, 9, Coherence::maximum});
    for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
        add_half({17, 300, 4, 20, Coherence::maximum}, pattern);
    for (const std::int64_t sources : {130, 300}) add_half({37, 150, sources, 90, Coherence::sums, Delays::cube});
    return cases;
}

/// Networks from three stations to a large array, windows from a fraction of a second to an hour, cubes up to 64 nodes
/// an edge. Traces: the source's 1920 geophones and 256 and 2048 of them, a surface array over a frac, a regional
/// network of broadband stations, and a fibre of 4096 channels.
Domain domain(DeviceKind kind) {
    const bool cpu = kind == DeviceKind::cpu;
    return {
        .sizes = {{"receivers", 3, 4096},
                  {"samples", cpu ? 64 : 100, cpu ? 65'536 : 262'144, {{16, 1}, {4, 1}, {1, 1}}},
                  {"sources", cpu ? 1 : 8, cpu ? 4'096 : 262'144},
                  {"span", 16, 8192}},
        .alternatives = {{"output", {{"maximum", 1}, {"sums", 1}}}, {"delays", {{"walk", 1}, {"cube", 2}}}},
        .most_data_bytes = std::size_t{1} << (cpu ? 28 : 32),
        .most_ops = cpu ? 2e8 : 1e11,
        .traces = {
            "receivers=1920;samples=15000;sources=1000;span=512", "receivers=1920;samples=1500;sources=27000;span=512",
            "receivers=1920;samples=3000;sources=8;span=512", "receivers=256;samples=15000;sources=8000;span=512",
            "receivers=2048;samples=5000;sources=4096;span=1024", "receivers=1000;samples=1000;sources=15625;span=700",
            "receivers=96;samples=2000;sources=512;span=400", "receivers=12;samples=6000;sources=1331;span=3000",
            "receivers=30;samples=36000;sources=100;span=6000", "receivers=24;samples=12000;sources=343;span=1500",
            "receivers=4096;samples=1000;sources=9261;span=300"}};
}

/// Windows of `samples` over `sources` trial sources, of which the maximum over time is kept.
Problem maximum_of(std::int64_t receivers, std::int64_t samples, std::int64_t sources) {
    return {receivers, samples, sources, 512, Coherence::maximum};
}

/// S1 names neither window nor sources, and S4 no sources: S2's window of 15,000, and 1,000.
std::vector<PublishedTable<Problem>> published() {
    const Problem base = maximum_of(1920, 15000, 1000);
    Problem sums = base, cube = base;
    sums.output = Coherence::sums;
    cube.delays = Delays::cube;
    std::vector<Problem> windows;
    for (const std::int64_t receivers : {256, 2048})
        for (const std::int64_t samples : {1000, 5000, 10000, 12000, 15000, 20000, 50000, 100000, 200000})
            windows.push_back(maximum_of(receivers, samples, 1000));
    std::vector<Problem> grids;  // 10 to 33 nodes along each edge
    for (const std::int64_t edge : {10, 15, 20, 25, 30, 33})
        grids.push_back(maximum_of(1920, 15000, edge * edge * edge));
    return {{"S1", {base}, {"random_order", "shuffled_order", "shared_hodograph", "global_cached"}},
            {"S2", {base}, {"global_cached"}},
            {"S-sums", {base, sums}, {"global_cached"}},
            {"S-fig3", {cube}, {"recomputed_times", "shared_hodograph", "global_cached"}},
            {"S-rejected", {base}, {"source_per_thread", "receiver_atomics", "global_cached"}},
            {"S-carve-out", {base}, {"global_carved"}},
            {"S4 S-fig7-8", windows, {"global_cached"}},
            {"S-fig11", grids, {"global_cached:block=256"}},
            {"S-cpu", {maximum_of(256, 1000, 1000)}, {"cpu_scalar", "cpu_openmp"}},
            {"S5", {maximum_of(1920, 15000, 15625), maximum_of(1920, 15000, 27000)}, {"global_cached:block=256"}}};
}

}  // namespace

Suite<Problem> suite() {
    return {.default_problems = default_problems,
            .edge_cases = edge_cases,
            .workload = make_workload<RecordWorkload>,
            .data_bytes =
                [](const Problem& problem) {
                    const double out = problem.output == Coherence::sums ? 4.0 * static_cast<double>(problem.sums())
                                                                         : 8.0 * static_cast<double>(problem.sources);
                    return static_cast<std::size_t>(static_cast<double>(problem.trace_bytes()) +
                                                    4.0 * static_cast<double>(problem.sources * problem.receivers) +
                                                    out);
                },
            .domain = domain,
            .published = published};
}

}  // namespace espalier::bench::coherent_sum
