// Coherent sums over delays that the family's own inputs do not have: a cube of sources, whose blocks share sub-sums,
// delays without any order, and delays that are too far apart for shared memory; and which way each is summed.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/host_cpu.hpp"
#include "registries/coherent_sum/registry.hpp"
#include "tests/support/kernel_support.hpp"
#include "variants/coherent_sum/delay_vectors.cuh"
#include "variants/coherent_sum/source_order.cuh"
#include "variants/coherent_sum/vector_rows.cuh"

namespace espalier::coherent_sum {
namespace {

struct Record {
    Problem problem;
    std::vector<float> traces;
    std::vector<std::int32_t> delays;
};

using Delay = std::function<std::int64_t(std::int64_t source, std::int64_t receiver)>;

Record record(Problem problem, const Delay& delay) {
    Record made{problem, {}, {}};
    for (std::int64_t s = 0; s < problem.sources; ++s)
        for (std::int64_t r = 0; r < problem.receivers; ++r)
            made.delays.push_back(static_cast<std::int32_t>(delay(s, r)));
    made.problem.span = made.delays.empty() ? 0 : *std::ranges::max_element(made.delays);
    std::mt19937 random(3);
    made.traces.resize(static_cast<std::size_t>(problem.receivers * made.problem.trace_samples()));
    for (float& value : made.traces) value = std::uniform_real_distribution<float>(-1, 1)(random);
    return made;
}

/// Travel times from the nodes of a grid, 50 m apart, to receivers in rows of 12 on the surface, 40 m apart, in
/// samples of 2 ms at 2,500 m/s.
std::int64_t travel_time(std::int64_t source, std::int64_t receiver) {
    const double x = 50.0 * static_cast<double>(source % 5) - 40.0 * static_cast<double>(receiver % 12);
    const double y = 50.0 * static_cast<double>(source / 5 % 6) - 40.0 * static_cast<double>(receiver / 12);
    const double z = 600.0 + 50.0 * static_cast<double>(source / 30);
    return std::llround(std::sqrt(x * x + y * y + z * z) / 2500 / 0.002);
}

std::int64_t scrambled(std::int64_t source, std::int64_t receiver) {
    std::uint64_t bits = static_cast<std::uint64_t>(source * 100003 + receiver + 1) * 0x9E3779B97F4A7C15ULL;
    bits ^= bits >> 31;
    return static_cast<std::int64_t>(bits * 0xBF58476D1CE4E5B9ULL >> 33);
}

/// The receivers of four neighbouring groups each of another kind: shared, unordered, far apart, shared but for one
/// receiver.
std::int64_t mixed(std::int64_t source, std::int64_t receiver) {
    switch (receiver / 4 % 4) {
        case 1: return scrambled(source, receiver) % 500;
        case 2: return scrambled(source, receiver) % 30000;
        case 3: return receiver % 4 == 2 ? scrambled(source, receiver) % 17000 : travel_time(source, receiver);
        default: return travel_time(source, receiver);
    }
}

/// Ranges of delays about what fits in the buffers of one configuration or another, and about what 16 bits hold.
std::int64_t at_the_limits(std::int64_t source, std::int64_t receiver) {
    constexpr std::int64_t kRoom[] = {1856, 1920, 1952, 3840, 3904, 7680, 7808, 15616, 16128, 16383};
    const std::int64_t range = kRoom[receiver / 3 % std::ssize(kRoom)] + receiver % 3 - 1;
    if (source % 64 == 1) return 7;
    return source % 64 == 2 ? 7 + range : 7 + scrambled(source, receiver) % range;
}

/// Differences between neighbours about what is packed in one word.
std::int64_t differing(std::int64_t source, std::int64_t receiver) {
    return 600 + (receiver % 4 == 0 ? 0 : (source % 2 == 0 ? 1 : -1) * (510 + receiver / 4 % 3));
}

struct Case {
    std::string name;
    Problem problem;
    Delay delay;
};

std::vector<Case> cases() {
    return {{"Cube", {33, 150, 300}, travel_time},
            {"Unordered", {33, 150, 300}, [](auto s, auto r) { return scrambled(s, r) % 600; }},
            {"FarApart", {9, 40, 140}, [](auto s, auto r) { return scrambled(s, r) % 40000; }},
            {"Mixed", {39, 140, 260}, mixed},
            {"AtTheLimits", {31, 33, 130}, at_the_limits},
            {"Differing", {13, 70, 129}, differing},
            {"SeveralWindows", {33, 300, 300}, travel_time},
            {"SeveralSlabs", {1, 1, std::int64_t{kBlocksAtOnce} * 128 + 1}, [](auto s, auto) { return s % 90; }}};
}

struct Sums {
    std::vector<float> sums, magnitude, maximum;
    std::vector<std::int32_t> sample;
};

/// By the plain loops, whose order of additions all but those of four receivers keep.
Sums expected(const Record& record) {
    const Problem& problem = record.problem;
    Sums all;
    for (std::int64_t s = 0; s < problem.sources; ++s) {
        all.maximum.push_back(0);
        all.sample.push_back(-1);
        for (std::int64_t k = 0; k < problem.samples; ++k) {
            float sum = 0, magnitude = 0;
            for (std::int64_t r = 0; r < problem.receivers; ++r) {
                const auto delay = record.delays[static_cast<std::size_t>(s * problem.receivers + r)];
                const float value = record.traces[static_cast<std::size_t>(r * problem.trace_samples() + k + delay)];
                sum += value;
                magnitude += std::abs(value);
            }
            all.sums.push_back(sum);
            all.magnitude.push_back(magnitude);
            if (k == 0 || sum > all.maximum.back()) {
                all.maximum.back() = sum;
                all.sample.back() = static_cast<std::int32_t>(k);
            }
        }
    }
    return all;
}

Sums computed(const Registered<Problem>& entry, const Record& record, const Configuration& configuration,
              const DeviceInfo& device, Coherence output) {
    const bool on_gpu = entry.kind == DeviceKind::cuda;
    Problem problem = record.problem;
    problem.output = output;
    Sums all;
    all.sums.resize(output == Coherence::sums ? static_cast<std::size_t>(problem.sums()) : 0, 99);
    all.maximum.resize(output == Coherence::maximum ? static_cast<std::size_t>(problem.sources) : 0, 99);
    all.sample.resize(all.maximum.size(), 99);
    const device::Buffer traces = device::upload(record.traces), delays = device::upload(record.delays);
    const device::Buffer sums = device::upload(all.sums), maximum = device::upload(all.maximum),
                         sample = device::upload(all.sample);
    const std::size_t bytes = entry.variant.workspace ? entry.variant.workspace(problem, configuration, device) : 0;
    const device::Buffer workspace = device::upload(std::vector<std::byte>(bytes, std::byte{0xFF}));
    Context context{device, nullptr, {workspace.data(), bytes}};
    const Buffers buffers = on_gpu ? Buffers{traces.as<float>(), delays.as<std::int32_t>(), sums.as<float>(),
                                             maximum.as<float>(), sample.as<std::int32_t>()}
                                   : Buffers{record.traces.data(), record.delays.data(), all.sums.data(),
                                             all.maximum.data(), all.sample.data()};
    entry.variant.run(context, problem, buffers, configuration);
    if (on_gpu)
        return {device::download<float>(sums),
                {},
                device::download<float>(maximum),
                device::download<std::int32_t>(sample)};
    return all;
}

/// The variants that sum several sources together; to the others one is as good as another.
constexpr std::string_view kTiled[] = {"source_tiles",   "shared_subsums", "global_subsums",
                                       "packed_subsums", "cpu_avx2",       "cpu_avx512"};

class CoherentSum : public testing::TestWithParam<Case> {};

TEST(CoherentSumCost, CountsWhatFewSourcesReachOfLongTraces) {
    const auto bytes = [](std::int64_t sources) {
        return Problem{.receivers = 10, .samples = 100, .sources = sources, .span = 900}.cost().bytes;
    };
    EXPECT_EQ(bytes(0), 0);
    EXPECT_EQ(bytes(2), 4 * 10 * 200 + 4 * 10 * 2 + 8 * 2);
    for (const std::int64_t many : {10, 11, 1000})
        EXPECT_EQ(bytes(many), 4 * 10 * 1000 + 4 * 10 * many + 8 * many) << many;
}

TEST_P(CoherentSum, AnyDelaysAreSummed) {
    Record made = record(GetParam().problem, GetParam().delay);
    const Sums right = expected(made);
    const float largest =
        std::abs(*std::ranges::max_element(made.traces, {}, [](float value) { return std::abs(value); }));
    const DeviceInfo cpu = device::describe_cpu();
    DeviceInfo gpu = device::open(0);
    // What global_subsums may have of so little memory are the sub-sums of half of the times.
    if (GetParam().name == "SeveralWindows") gpu.memory_bytes = std::size_t{144} << 20;
    for (const Registered<Problem>& entry : registry()) {
        if (std::ranges::find(kTiled, entry.variant.name) == std::end(kTiled)) continue;
        const DeviceInfo& device = entry.kind == DeviceKind::cuda ? gpu : cpu;
        const bool in_order = !entry.variant.name.ends_with("_subsums"),
                   in_half = entry.variant.name == "packed_subsums";
        made.problem.precision = in_half ? SumPrecision::half : SumPrecision::single;
        auto configurations = entry.variant.space.enumerate();
        // The last of each has the fewest sources in a block; what is many blocks takes the emulated GPU seconds.
        if (made.problem.sources > 10000) configurations.erase(configurations.begin(), configurations.end() - 1);
        for (const Configuration& configuration : configurations) {
            if (!supports(entry, made.problem, configuration, device)) continue;
            SCOPED_TRACE(std::string(entry.variant.name) + " " + configuration.text());
            const Sums sums = computed(entry, made, configuration, device, Coherence::sums);
            const Sums peaks = computed(entry, made, configuration, device, Coherence::maximum);
            if (in_order) {
                ASSERT_EQ(sums.sums, right.sums);
                ASSERT_EQ(peaks.maximum, right.maximum);
                ASSERT_EQ(peaks.sample, right.sample);
                continue;
            }
            const auto bound = static_cast<float>(1.25 * static_cast<double>(made.problem.receivers) + 1) * 0x1p-24F;
            const float rounded = in_half ? static_cast<float>(made.problem.receivers + 3) / 8000 * largest : 0;
            for (std::size_t i = 0; i < right.sums.size(); ++i)
                ASSERT_NEAR(sums.sums[i], right.sums[i], bound * right.magnitude[i] + rounded) << i;
            for (std::size_t s = 0; s < right.maximum.size(); ++s) {
                const float* const own = sums.sums.data() + s * static_cast<std::size_t>(made.problem.samples);
                ASSERT_EQ(peaks.sample[s], std::max_element(own, own + made.problem.samples) - own) << s;
                ASSERT_EQ(peaks.maximum[s], own[peaks.sample[s]]) << s;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Delays, CoherentSum, testing::ValuesIn(cases()),
                         [](const auto& parameter) { return parameter.param.name; });

/// What a block of sources shares of each group of receivers.
template <class T>
std::vector<Group> groups_of_first_block(const Record& record) {
    const device::Buffer delays = device::upload(record.delays);
    const device::Buffer memory(table_bytes(record.problem, T::kSources));
    const Tables tables = tables_at(memory.data(), record.problem, T::kSources, 1);
    const auto columns = static_cast<unsigned>((record.problem.receivers + kColumns - 1) / kColumns);
    device::launch(group_delays<T>, dim3(1, columns), dim3(kGroupingThreads), 0, nullptr, record.problem,
                   delays.as<std::int32_t>(), nullptr, T::kSources, tables, Slab{0, 1});
    std::vector<Group> groups(static_cast<std::size_t>(coherent_sum::groups_of(record.problem)));
    device::copy_to_host(groups.data(), tables.groups, groups.size() * sizeof(Group));
    device::synchronize();
    return groups;
}

TEST(DelayVectors, ACubeSharesAllItsGroups) {
    using T = Tile<256, 4>;
    const Record cube = record({120, 10, 300}, travel_time);
    double words = 0;
    for (const Group& group : groups_of_first_block<T>(cube)) {
        EXPECT_GT(group.vectors, 0);
        EXPECT_LT(group.vectors, kVectorsOfGroup);
        words += group.words - group.sub_sums;
    }
    // Four reads and a write for every word, and one read for every sum, in place of four for every sum.
    const double plain = 120.0 * T::kSources * T::kSamples, shared = 5 * words + plain / 4;
    EXPECT_GT(plain / shared, 2);
}

TEST(DelayVectors, UnorderedDelaysShareNothing) {
    const Record unordered = record({33, 10, 300}, [](auto s, auto r) { return scrambled(s, r) % 600; });
    // The last group is one receiver and three that do not exist: its vectors are as many as its delays.
    for (const Group& group : groups_of_first_block<Tile<256, 4>>(unordered)) EXPECT_EQ(group.vectors, 0);
}

TEST(DelayVectors, EachGroupIsJudgedAlone) {
    const auto groups = groups_of_first_block<Tile<128, 4>>(record({40, 10, 260}, mixed));
    for (std::size_t g = 0; g < groups.size(); ++g) EXPECT_EQ(groups[g].vectors > 0, g % 4 == 0) << g;
}

TEST(DelayVectors, OneWordHoldsDifferencesUpTo511) {
    const auto groups = groups_of_first_block<Tile<128, 4>>(record({12, 10, 128}, differing));
    EXPECT_EQ(groups[0].vectors, 2);  // 510 either way
    EXPECT_EQ(groups[1].vectors, 2);  // 511
    EXPECT_EQ(groups[2].vectors, 0);  // 512
}

/// Of each group of receivers, what global_subsums finds for all sources.
std::vector<Vectors> vectors_of(const Record& record, std::int64_t window) {
    const DeviceInfo gpu = device::open(0);
    const device::Buffer delays = device::upload(record.delays);
    const device::Buffer memory =
        device::upload(std::vector<std::byte>(rows_bytes(record.problem, window, gpu), std::byte{0xFF}));
    const auto rows = rows_at<float>(static_cast<std::byte*>(memory.data()), record.problem);
    Context context{gpu};
    place_all_rows(context, record.problem, delays.as<std::int32_t>(), window, rows);
    std::vector<Vectors> vectors(static_cast<std::size_t>(coherent_sum::groups_of(record.problem)));
    device::copy_to_host(vectors.data(), rows.vectors, vectors.size() * sizeof(Vectors));
    device::synchronize();
    return vectors;
}

TEST(VectorRows, ACubesGroupsHaveARowForEachOfTheirVectors) {
    constexpr int kWindow = 256;
    const Record cube = record({118, 10, 300}, travel_time);
    const auto vectors = vectors_of(cube, kWindow);
    std::vector<std::pair<std::int64_t, std::int64_t>> rows;  // where each begins and ends
    for (std::size_t g = 0; g < vectors.size(); ++g) {
        ASSERT_EQ(vectors[g].given_up, 0) << g;
        std::map<std::array<std::int32_t, 3>, std::pair<std::int32_t, std::int32_t>> ranges;
        for (std::int64_t s = 0; s < cube.problem.sources; ++s) {
            const auto first = static_cast<std::int64_t>(g) * kMembers;
            const auto delay = [&](std::int64_t m) {
                const std::int64_t existing = first + m < cube.problem.receivers ? first + m : first;
                return cube.delays[static_cast<std::size_t>(s * cube.problem.receivers + existing)];
            };
            const std::array<std::int32_t, 3> key{delay(1) - delay(0), delay(2) - delay(0), delay(3) - delay(0)};
            auto& [least, largest] = ranges.try_emplace(key, delay(0), delay(0)).first->second;
            least = std::min(least, delay(0));
            largest = std::max(largest, delay(0));
        }
        std::size_t used = 0;
        for (int slot = 0; slot < kSlots; ++slot) {
            const std::uint32_t key = vectors[g].found.keys[slot];
            if (key == 0) continue;
            const auto range = ranges.find({difference(key - 1, 1), difference(key - 1, 2), difference(key - 1, 3)});
            ASSERT_NE(range, ranges.end()) << g;
            EXPECT_EQ(vectors[g].found.ranges.least(slot), range->second.first);
            EXPECT_EQ(vectors[g].found.ranges.length(slot), range->second.second - range->second.first);
            const std::int64_t begin = vectors[g].rows[slot];
            rows.emplace_back(begin, begin + kWindow + vectors[g].found.ranges.length(slot));
            ++used;
        }
        EXPECT_EQ(used, ranges.size()) << g;
        EXPECT_LT(used, 64U) << g;  // of 300 sources
    }
    std::ranges::sort(rows);
    for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_LE(rows[i - 1].second, rows[i].first);
}

TEST(VectorRows, WhatCannotBeSharedIsGivenUp) {
    const Record unordered = record({32, 10, 300}, [](auto s, auto r) { return scrambled(s, r) % 600; });
    for (const Vectors& vectors : vectors_of(unordered, 128)) EXPECT_NE(vectors.given_up, 0);
    // Differences that fit a word, but more vectors than there are places.
    const Record many = record({8, 10, 700}, [](auto s, auto r) { return scrambled(s, r) % 500; });
    for (const Vectors& vectors : vectors_of(many, 128)) EXPECT_NE(vectors.given_up, 0);
}

/// A cube of 10 x 10 x 10 sources, in no order.
std::int64_t shuffled_cube(std::int64_t source, std::int64_t receiver) {
    const std::int64_t node = source * 389 % 1000;
    const double x = 50.0 * static_cast<double>(node % 10) - 40.0 * static_cast<double>(receiver % 12);
    const double y = 50.0 * static_cast<double>(node / 10 % 10) - 40.0 * static_cast<double>(receiver / 12);
    const double z = 500.0 + 50.0 * static_cast<double>(node / 100);
    return std::llround(std::sqrt(x * x + y * y + z * z) / 5);
}

std::vector<std::int32_t> order_of(const Record& record) {
    const DeviceInfo gpu = device::open(0);
    const device::Buffer delays = device::upload(record.delays);
    const device::Buffer memory =
        device::upload(std::vector<std::byte>(ordering_bytes(record.problem), std::byte{0xFF}));
    const Ordering ordering = ordering_at(static_cast<std::byte*>(memory.data()), record.problem);
    Context context{gpu};
    order_sources(context, record.problem, delays.as<std::int32_t>(), ordering);
    std::vector<std::int32_t> order(static_cast<std::size_t>(record.problem.sources));
    device::copy_to_host(order.data(), ordering.order, order.size() * sizeof(std::int32_t));
    device::synchronize();
    return order;
}

TEST(SourceOrder, HasEverySourceOnce) {
    for (const Delay& delay : {Delay(shuffled_cube), Delay(scrambled), Delay([](auto, auto) { return 7; })}) {
        auto order = order_of(record({1, 1, 700}, [&](auto s, auto r) { return delay(s, r) % 40000; }));
        std::ranges::sort(order);
        for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<std::int32_t>(i));
    }
}

TEST(SourceOrder, ShuffledCubeIsCompactAgain) {
    const Record shuffled = record({144, 1, 1000}, shuffled_cube);
    const auto order = order_of(shuffled);
    const auto words = [](const Record& of) {
        double sum = 0;
        for (const Group& group : groups_of_first_block<Tile<128, 4>>(of))
            sum += group.vectors > 0 ? group.words - group.sub_sums : 3 * 128 * 128 / 5;
        return sum;
    };
    const Record ordered = record({144, 1, 1000}, [&](std::int64_t source, std::int64_t receiver) {
        return shuffled_cube(order[static_cast<std::size_t>(source)], receiver);
    });
    EXPECT_LT(words(ordered), 0.6 * words(shuffled));
}

}  // namespace
}  // namespace espalier::coherent_sum
