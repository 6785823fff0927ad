#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/bench/tune/space/launch.hpp"
#include "harness/bench/tune/space/search.hpp"
#include "kernels/json/bad_data.hpp"
#include "tests/bench/tune/described.hpp"

namespace espalier::bench::tune {
namespace {

TEST(Space, HoldsWhatTheConditionsLeave) {
    const TemporaryFolder folder;
    const Description description = described(folder, small_description());
    const Space space(description, 0);
    const auto all = space.all(100);
    ASSERT_TRUE(all);
    EXPECT_EQ(*all, (std::vector<Configuration>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {2, 0}}));
    EXPECT_EQ(space.unrestricted(), 9);
    EXPECT_FALSE(space.all(5));
    EXPECT_TRUE(space.holds({1, 1}));
    EXPECT_FALSE(space.holds({1, 2}));
    std::mt19937_64 random(1);
    std::set<Configuration> drawn;
    for (int i = 0; i < 200; ++i) drawn.insert(*space.draw(random));
    EXPECT_EQ(drawn.size(), 6U);
}

/// Twelve parameters of ten values each: only pruning gets through 10^12 configurations.
nlohmann::json large_description(const char* condition) {
    nlohmann::json json = small_description();
    nlohmann::json &parameters = json["ConfigurationSpace"]["TuningParameters"],
                   &conditions = json["ConfigurationSpace"]["Conditions"];
    for (int i = 0; i < 10; ++i) {
        const std::string name = "p" + std::to_string(i), before = i == 0 ? "tile" : "p" + std::to_string(i - 1);
        parameters.push_back({{"Name", name}, {"Type", "int"}, {"Values", "list(range(1, 11))"}});
        conditions.push_back({{"Expression", name + condition + before}, {"Parameters", {name, before}}});
    }
    return json;
}

TEST(Space, PrunesWhileItEnumerates) {
    const TemporaryFolder folder;
    const Description description = described(folder, large_description(" == "));
    const auto all = Space(description, 0).all(1000);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->size(), 6U);
}

TEST(Space, ConditionsOfSizesDifferByProblem) {
    const TemporaryFolder folder;
    nlohmann::json json = small_description();
    json["ConfigurationSpace"]["Conditions"][0]["Expression"] = "block_size_x * tile <= n and ProblemSize[0] == n";
    const Description description = described(folder, json);
    EXPECT_EQ(Space(description, 0).all(100)->size(), 3U);
    EXPECT_EQ(Space(description, 1).all(100)->size(), 9U);
}

TEST(Search, RefusesConditionsThatLeaveNothing) {
    const TemporaryFolder folder;
    nlohmann::json json = small_description();
    json["ConfigurationSpace"]["Conditions"][0]["Expression"] = "tile > 4";
    const Description description = described(folder, json);
    expect_holds(message_of<BadData>([&] { Search(description, 0, 1000, 1); }), {"Conditions", "loosen one"});
}

TEST(Search, GoesThroughAllOfFew) {
    const TemporaryFolder folder;
    const Description description = described(folder, small_description());
    Search search(description, 0, 1000, 1);
    std::set<Configuration> seen;
    for (auto next = search.propose(4, {}); !next.empty(); next = search.propose(4, {}))
        seen.insert(next.begin(), next.end());
    EXPECT_EQ(seen.size(), 6U);
    EXPECT_TRUE(search.exhaustive());
}

/// Times that the values of the first three of the large space's parameters make; smallest at one place.
double invented_time(const Configuration& one) {
    double time = 1000;
    for (std::size_t p = 2; p < 8; ++p) time *= 1 + 0.1 * std::abs(static_cast<double>(one[p]) - 4);
    return time;
}

TEST(Search, SurrogateFindsBetterThanChance) {
    const TemporaryFolder folder;
    const Description description = described(folder, large_description(" >= 0 * "));
    const auto best_of = [&](bool told) {
        Search search(description, 0, 1000, 7);
        EXPECT_FALSE(search.exhaustive());
        std::vector<Trial> trials;
        double best = 1e18;
        std::set<Configuration> seen;
        while (trials.size() < 320) {
            const auto next = search.propose(64, told ? std::span<const Trial>(trials) : std::span<const Trial>());
            EXPECT_EQ(next.size(), 64U);
            for (const Configuration& one : next) {
                EXPECT_TRUE(seen.insert(one).second);
                trials.push_back({one, invented_time(one)});
                best = std::min(best, invented_time(one));
            }
        }
        return best;
    };
    EXPECT_LT(best_of(true), 0.8 * best_of(false));
}

TEST(Launch, ShapesFollowTheDescription) {
    const TemporaryFolder folder;
    nlohmann::json json = small_description();
    Description description = described(folder, json);
    LaunchShape shape = launch_shape(description, description.launch, {1, 1}, 1);
    EXPECT_EQ(shape.block[0], 64U);
    EXPECT_EQ(shape.grid[0], 8U);
    EXPECT_EQ(shape.refusal, "");

    json["KernelSpecification"]["GridDivX"] = {"block_size_x"};
    description = described(folder, json);
    EXPECT_EQ(launch_shape(description, description.launch, {1, 1}, 1).grid[0], 16U);

    json["KernelSpecification"]["LocalSize"]["Y"] = "32";
    description = described(folder, json);
    expect_holds(launch_shape(description, description.launch, {1, 1}, 1).refusal, {"2048 threads", "at most 1024"});
}

}  // namespace
}  // namespace espalier::bench::tune
