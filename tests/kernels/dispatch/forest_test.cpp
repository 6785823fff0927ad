// Forests that plans ask in place of a tree: their files, and what is decided by them.

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

#include "kernels/dispatch/explain.hpp"
#include "kernels/dispatch/predict.hpp"
#include "kernels/json/crc64.hpp"
#include "tests/kernels/dispatch/invented_trees.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::invented_trees {
namespace {

using Kind = ForestInput::Kind;
constexpr auto kLeaf = ChoiceForest::Node::kLeaf;

/// Of the tree that `Dispatch` has: up to 32 wide the first choice is best, beyond that the second, a little.
ForestFile small_forest() {
    ForestFile file{
        .family = "convolution_2d",
        .device_key = "cpu-zen4-avx2-4t",
        .data_sha256 = "abc",
        .features = {"width", "border", "channels"},
        .categories = {"", "", "mirror"},
        .choices = {{"fast", "block=64"}, {"fast", "block=128"}, {"baseline", "default"}, {"unheard_of", "a=1"}}};
    file.forest = {.inputs = {{Kind::logarithm, 0, 0}, {Kind::evenness, 0, 0}, {Kind::is, 1, 0}},
                   .factors = {1, 0, 0},
                   .choices = 4,
                   .trees = {{0, 0}, {3, 2}},
                   .nodes = {{5, 0, 2}, {0, kLeaf, 0}, {0, kLeaf, 1}, {5, 3, 2}, {0, kLeaf, 0}, {0, kLeaf, 1}},
                   .leaves = {2, 9, 40, 0, 9, 4, 40, 0, 2, 9, 40, 0, 9, 4, 40, 0}};
    return file;
}

std::string sealed(std::string bytes) {
    bytes.resize(bytes.size() - 8);
    const std::uint64_t crc = crc64_of(bytes);
    for (int byte = 0; byte < 8; ++byte) bytes += static_cast<char>(crc >> (8 * byte) & 0xFF);
    return bytes;
}

TEST(ForestFile, ReadsAsItWasWritten) {
    const std::string bytes = forest_bytes(small_forest());
    const ForestFile read = read_forest(bytes);
    EXPECT_EQ(forest_bytes(read), bytes);
    EXPECT_EQ(read.forest.leaves, small_forest().forest.leaves);
    EXPECT_EQ(sealed(bytes), bytes);
}

/// Adds a branch of random shape, in pre-order, and its leaves, whose values are mostly those of the leaf before.
void grow(ChoiceForest& forest, int depth, std::mt19937_64& random) {
    const std::size_t at = forest.nodes.size(), leaves = forest.leaves.size() / forest.choices;
    if (depth == 0 || random() % 4 == 0) {
        forest.nodes.push_back({0, kLeaf, static_cast<std::uint16_t>(leaves - forest.trees.back().leaf)});
        for (std::size_t c = 0; c < forest.choices; ++c)
            forest.leaves.push_back(leaves == 0 || random() % 3 == 0
                                        ? static_cast<std::uint8_t>(random())
                                        : forest.leaves[forest.leaves.size() - forest.choices]);
        return;
    }
    forest.nodes.push_back({static_cast<float>(random() % 100), static_cast<std::uint16_t>(random() % 4), 0});
    grow(forest, depth - 1, random);
    forest.nodes[at].next = static_cast<std::uint16_t>(forest.nodes.size() - at);
    grow(forest, depth - 1, random);
}

TEST(ForestFile, KeepsTreesOfAnyShape) {
    std::mt19937_64 random(2);
    for (std::size_t choices = 1; choices < 40; ++choices) {
        ForestFile file = small_forest();
        file.choices.assign(choices, {"fast", "block=64"});
        ChoiceForest& forest = file.forest;
        forest.choices = choices;
        forest.trees.clear(), forest.nodes.clear(), forest.leaves.clear();
        for (int tree = 0; tree < 5; ++tree) {
            forest.trees.push_back({static_cast<std::uint32_t>(forest.nodes.size()),
                                    static_cast<std::uint32_t>(forest.leaves.size() / choices)});
            grow(forest, tree * 2, random);
        }
        const ChoiceForest read = read_forest(forest_bytes(file)).forest;
        EXPECT_EQ(read.leaves, forest.leaves) << choices;
        const auto of_node = [](const ChoiceForest::Node& n) { return std::tuple(n.threshold, n.input, n.next); };
        EXPECT_TRUE(std::ranges::equal(read.nodes, forest.nodes, {}, of_node, of_node)) << choices;
        const auto of_tree = [](const ChoiceForest::Tree& t) { return std::pair(t.node, t.leaf); };
        EXPECT_TRUE(std::ranges::equal(read.trees, forest.trees, {}, of_tree, of_tree)) << choices;
    }
}

TEST(ForestFile, DamageIsRefused) {
    const std::string bytes = forest_bytes(small_forest());
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_THROW(read_forest(bytes.substr(0, length)), BadData) << length;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        std::string flipped = bytes;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
        EXPECT_THROW(read_forest(flipped), BadData) << bit;
    }
    EXPECT_THROW(read_forest(bytes + '\0'), BadData);
    EXPECT_THROW(read_forest(std::string(ForestFile::kMostBytes + 1, 'x')), BadData);
}

TEST(ForestFile, HostileOnesLeadNowhere) {
    const std::string bytes = forest_bytes(small_forest());
    std::mt19937_64 random(1);
    std::size_t refused = 0, read = 0;
    for (int trial = 0; trial < 20'000; ++trial) {
        std::string hostile = bytes;
        for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes)
            hostile[8 + random() % (bytes.size() - 16)] = static_cast<char>(random());
        try {
            const ChoiceForest forest = read_forest(sealed(hostile)).forest;
            std::vector<float> columns(forest.columns(), static_cast<float>(random() % 20));
            std::vector<std::uint32_t> totals(forest.choices);
            forest.ask(columns.data(), totals.data());
            ++read;
        } catch (const BadData&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 1000U);
    EXPECT_GT(read, 1000U);  // names, thresholds and slowdowns may be anything
}

class Predict : public Dispatch {
protected:
    void write(const std::string& bytes) {
        std::filesystem::create_directories(folder_ / "convolution_2d");
        std::ofstream(folder_ / "convolution_2d/cpu-zen4-avx2-4t.forest", std::ios::binary) << bytes;
        set_forest_folder(folder_.path().string());
    }

    [[nodiscard]] DispatchResult<Problem> predicted(const Problem& problem, const Demands& demands = {},
                                                    const ForcedVariant* forced = nullptr) const {
        const Tables<Problem> all{"convolution_2d", registry_, trees_};
        DispatchResult<Problem> decision = decide(all, problem, here_, forced, demands).value();
        predict(decision, all, problem, here_, demands);
        return decision;
    }
    [[nodiscard]] std::string runs(const Problem& problem, const Demands& demands = {}) const {
        const auto decision = predicted(problem, demands);
        return std::string(decision.forest ? "forest " : "tree ") + std::string(decision.entry->variant.name) + " " +
               decision.configuration.text();
    }

    TemporaryFolder folder_;
    std::vector<Registered<Problem>> registry_ = registry;
    DeviceInfo here_ = cpu_device(4, Isa::avx2);
};

TEST_F(Predict, GoesByTheForest) {
    write(forest_bytes(small_forest()));
    EXPECT_EQ(runs(sized(20, 20)), "forest fast block=64");
    EXPECT_EQ(runs(sized(100, 20)), "forest fast block=128");
    const Tables<Problem> all{"convolution_2d", registry_, trees_};
    const Explanation why = explain(all, sized(20, 20), here_, nullptr, {}, Effort::predict).value();
    ASSERT_EQ(why.predicted.size(), 3U);  // this program has no fourth choice
    EXPECT_NEAR(why.predicted_slowdown, std::exp2(2.0 / 64), 1e-9);
    EXPECT_NE(why.text().find("predicted by the forest of cpu-zen4-avx2-4t: 1.02x"), std::string::npos) << why.text();
    EXPECT_TRUE(explain(all, sized(20, 20), here_, nullptr).value().predicted.empty());
}

TEST_F(Predict, PassesOverWhatCannotRun) {
    ForestFile file = small_forest();
    file.forest.leaves = {0, 9, 40, 0, 0, 4, 40, 0, 0, 9, 40, 0, 0, 4, 40, 0};
    write(forest_bytes(file));
    EXPECT_EQ(runs(sized(100, 20)), "forest fast block=128");  // wider than a block of 64
    EXPECT_EQ(runs(sized(200, 20)), "forest baseline default");
}

TEST_F(Predict, MeetsDemands) {
    write(forest_bytes(small_forest()));
    registry_ = unsteady({"fast"});
    EXPECT_EQ(runs(sized(20, 20), {.deterministic = true}), "forest baseline default");
    registry_ = registry;
    registry_.front().variant.waits = "it waits";
    EXPECT_EQ(runs(sized(20, 20), {.only_enqueues = true}), "forest baseline default");
}

TEST_F(Predict, LeavesSlowOnesToTheTree) {
    ForestFile file = small_forest();
    for (std::uint8_t& value : file.forest.leaves) value = static_cast<std::uint8_t>(value + 60);
    write(forest_bytes(file));
    EXPECT_EQ(runs(sized(20, 20)), "tree fast block=128");
}

TEST_F(Predict, ChangesNothingThatIsForced) {
    write(forest_bytes(small_forest()));
    const auto forced = parse_forced_variant("baseline", "the test");
    EXPECT_EQ(predicted(sized(20, 20), {}, &*forced).forest, nullptr);
}

TEST_F(Predict, GoesByTheTreeWithoutAForest) {
    set_forest_folder(folder_.path().string());
    EXPECT_EQ(runs(sized(20, 20)), "tree fast block=128");
}

TEST_F(Predict, FindsTheForestOfALoadedTreeBesideIt) {
    set_forest_folder("/forests");
    EXPECT_EQ(detail::forest_path("dot", "cpu-zen4", ""), "/forests/dot/cpu-zen4.forest");
    EXPECT_EQ(detail::forest_path("dot", "cpu-zen4", "/own/cpu-zen4.tree"), "/own/cpu-zen4.forest");
}

TEST_F(Predict, UselessFilesAreIgnoredWithTheReason) {
    const auto ignored_with = [&](const ForestFile& file, const std::string& why) {
        const TemporaryFolder other;  // a file is read once
        std::filesystem::create_directories(other / "convolution_2d");
        std::ofstream(other / "convolution_2d/cpu-zen4-avx2-4t.forest", std::ios::binary) << forest_bytes(file);
        set_forest_folder(other.path().string());
        EXPECT_EQ(runs(sized(20, 20)), "tree fast block=128");
        EXPECT_NE(ignored_forests("convolution_2d").find(why), std::string::npos) << ignored_forests("convolution_2d");
    };
    ForestFile file = small_forest();
    file.data_sha256 = "abd";
    ignored_with(file, "it was not trained from the data of the tree");
    file = small_forest();
    file.family = "dot";
    ignored_with(file, "it is of dot on cpu-zen4-avx2-4t");
    file = small_forest();
    file.features[0] = "depth";
    ignored_with(file, "it asks for 'depth'");
    file = small_forest();
    file.categories[2] = "torus";
    ignored_with(file, "border has no category 'torus'");
    file = small_forest();
    file.forest.inputs[0].feature = 1;
    ignored_with(file, "it takes border for what it is not");
}

}  // namespace
}  // namespace espalier::invented_trees
