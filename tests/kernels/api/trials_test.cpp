// How the results of choices are compared, over variants that are made up: right, wrong, and one that writes nothing.

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/api/knn_call.hpp"
#include "kernels/api/planning.hpp"
#include "kernels/problems/dot.hpp"
#include "tests/kernels/api/api_helpers.hpp"

namespace espalier {
namespace {

using dot::Buffers;
using dot::Problem;

void add(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    *buffers.result = 0;
    for (std::int64_t i = 0; i < problem.elements; ++i) *buffers.result += buffers.a[i] * buffers.b[i];
}
void add_all_but_one(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& none) {
    add(context, {problem.elements - 1}, buffers, none);
}
void add_nothing(Context&, const Problem&, const Buffers&, const Configuration&) {}
void wait_long(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& none) {
    for (int i = 0; i < 20; ++i) add(context, problem, buffers, none);
}
Support anything(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

Registered<Problem> variant(std::string_view name,
                            void (*run)(Context&, const Problem&, const Buffers&, const Configuration&)) {
    return {{.tolerance = {.relative = 1e-6, .reason = "a test"}, .supports = anything, .run = run, .name = name},
            DeviceKind::cpu,
            false,
            0,
            "",
            ""};
}

struct SumCall {
    Problem problem;

    [[nodiscard]] std::array<ArraySpec, 3> arrays() const {
        return {input_of<float>("a", problem.elements), input_of<float>("b", problem.elements),
                output_of<float>("result", 1)};
    }
    static Buffers bind(const Pointers<3>& at) {
        return {static_cast<const float*>(at[0]), static_cast<const float*>(at[1]), static_cast<float*>(at[2])};
    }
};

class Trial : public testing::Test {
protected:
    /// The name of what wins over the slow first choice.
    std::string winner_of(const std::vector<Registered<Problem>>& variants) {
        std::vector<TrialChoice<Problem>> choices;
        for (const auto& entry : variants) choices.push_back({&entry, {}, 1});
        const DeviceState& cpu = state_of(Device::cpu());
        const SumCall call{{20'000}};
        const Transport transport{&cpu, Memory::host};
        const Planned<SumCall> planned{.call = call,
                                       .transport = transport,
                                       .demands = {},
                                       .asked_threads = 1,
                                       .threads = 1,
                                       .decision = {},
                                       .variant_bytes = 0,
                                       .arrays = call.arrays(),
                                       .in_place = true};
        CallTrials<SumCall> trials(planned, choices);
        const std::vector<double> expected(choices.size(), 1.0);
        const auto measured = measure(trials, expected, std::chrono::seconds(10));
        return measured ? std::string(variants[measured->winner].variant.name) : "nothing";
    }
};

TEST_F(Trial, ARightChoiceWins) { EXPECT_EQ(winner_of({variant("slow", wait_long), variant("fast", add)}), "fast"); }

TEST_F(Trial, AWrongChoiceNeverWins) {
    EXPECT_EQ(winner_of({variant("slow", wait_long), variant("wrong", add_all_but_one)}), "nothing");
    EXPECT_EQ(winner_of({variant("slow", wait_long), variant("wrong", add_all_but_one), variant("fast", add)}), "fast");
}

// The results of the choice before it would be right.
TEST_F(Trial, AChoiceThatWritesNothingNeverWins) {
    EXPECT_EQ(winner_of({variant("slow", wait_long), variant("idle", add_nothing)}), "nothing");
    EXPECT_EQ(winner_of({variant("slow", wait_long), variant("fast", add), variant("idle", add_nothing)}), "fast");
}

template <class T>
bool same(std::vector<T> expected, std::vector<T> actual, const Slack& slack = {}) {
    return same_results(output_of<T>("result", std::ssize(expected)), std::as_bytes(std::span(expected)),
                        std::as_bytes(std::span(actual)), slack);
}

TEST(SameResults, NumbersMayBeRounded) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
    EXPECT_TRUE(same<float>({1, 1000}, {1, 1000}));
    EXPECT_FALSE(same<float>({1, 1000}, {1, 1000.5F}));
    EXPECT_TRUE(same<float>({1, 1000}, {1, 1000.5F}, {.relative = 1e-3}));
    EXPECT_FALSE(same<float>({1, 1000}, {1, 1002}, {.relative = 1e-3}));
    EXPECT_TRUE(same<float>({kNan, 1}, {-kNan, 1}));
    EXPECT_FALSE(same<float>({kNan, 1}, {1, 1}, {.relative = 1e3}));
    EXPECT_FALSE(same<float>({1, 1}, {kNan, 1}, {.relative = 1e3}));
    EXPECT_TRUE(same<float>({kInfinity, 1}, {kInfinity, 1.5F}, {.absolute = 1}));
    EXPECT_FALSE(same<float>({kInfinity, 1}, {1e30F, 1}, {.relative = 1e3}));
    EXPECT_FALSE(same<float>({1, 1}, {kInfinity, 1}, {.relative = 1e3}));
    EXPECT_FALSE(same<float>({1, 1}, {1}));
}

TEST(SameResults, BytesMayBeRoundedAndCountsMayNot) {
    EXPECT_TRUE(same<std::uint8_t>({9, 255}, {10, 254}, {.absolute = 1}));
    EXPECT_FALSE(same<std::uint8_t>({9, 255}, {9, 0}, {.absolute = 1}));
    EXPECT_FALSE(same<std::uint8_t>({9}, {10}));
    EXPECT_FALSE(same<std::int32_t>({9}, {10}, {.absolute = 1, .relative = 1}));
    EXPECT_FALSE(same<std::uint64_t>({9}, {10}, {.absolute = 1, .relative = 1}));
}

/// Two queries' lists of two neighbours: the j-th of query q is at [j * 2 + q].
struct Found {
    std::vector<std::int32_t> votes{0, 1};
    std::vector<float> distances{1, 3, 2, 3};
    std::vector<std::int32_t> indices{7, 2, 5, 4};

    [[nodiscard]] bool agrees() const {
        const Transport transport{&state_of(Device::cpu()), Memory::host};
        const TrialArrays none(transport, {}, nullptr, [](std::size_t, std::span<std::byte>) { return false; });
        KnnCall call{.problem = {.queries = 2, .points = 10, .dims = 1, .k = 2}, .model = nullptr};
        return call.agree(none, outputs_of(Found{}), outputs_of(*this), {.relative = 1e-6});
    }

    static Outputs outputs_of(const Found& found) {
        const auto bytes = [](const auto& values) {
            const auto span = std::as_bytes(std::span(values));
            return std::vector<std::byte>(span.begin(), span.end());
        };
        return {{}, bytes(found.votes), bytes(found.distances), bytes(found.indices)};
    }
};

TEST(SameNeighbours, OfEqualDistancesMayChangePlaces) {
    EXPECT_TRUE(Found{}.agrees());
    EXPECT_TRUE((Found{.votes = {0, 2}, .indices = {7, 4, 5, 2}}.agrees()));  // another vote follows from them
    EXPECT_TRUE((Found{.indices = {7, 2, 5, 9}}.agrees()));                   // as near as the last one
}

TEST(SameNeighbours, EverythingElseIsWrong) {
    EXPECT_FALSE((Found{.indices = {5, 2, 7, 4}}.agrees()));       // the farther one first
    EXPECT_FALSE((Found{.indices = {6, 2, 5, 4}}.agrees()));       // a stranger
    EXPECT_FALSE((Found{.distances = {1.1F, 3, 2, 3}}.agrees()));  // another distance
    EXPECT_FALSE((Found{.votes = {1, 1}}.agrees()));               // another vote of the same neighbours
    EXPECT_FALSE((Found{.indices = {7, 4, 9, 2}}.agrees()));       // no query has its neighbours
}

}  // namespace
}  // namespace espalier
