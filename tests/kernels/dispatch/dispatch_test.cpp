// Which variant runs where: the order of the trees, the walk down a leaf's ranking, forced
// variants and explanations, over trees and registries that are made here.

#include "kernels/dispatch/dispatch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "kernels/dispatch/explain.hpp"
#include "kernels/dispatch/loaded_tree.hpp"
#include "kernels/dispatch/tree_path.hpp"
#include "kernels/problems/convolution_2d.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "tests/kernels/dispatch/tree_text.hpp"

namespace {
std::atomic<int> allocations{0};
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace espalier {
namespace {

using convolution_2d::Buffers;
using convolution_2d::Problem;
using convolution_2d::VariantId;

constexpr auto kFast = static_cast<VariantId>(0);
constexpr auto kBaseline = static_cast<VariantId>(1);
constexpr auto kMissing = static_cast<VariantId>(2);
constexpr auto kGpuFast = static_cast<VariantId>(3);
constexpr auto kGpuBaseline = static_cast<VariantId>(4);
constexpr auto kVector = static_cast<VariantId>(5);

void run_nothing(Context&, const Problem&, const Buffers&, const Configuration&) {}

Support anything(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

Support narrow_images(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (problem.width > configuration["block"]) return Support::no("wider than a block");
    return Support::yes();
}

Support with_avx2(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (!device.avx2) return Support::no("needs AVX2");
    return problem.width > 100 ? Support::no("too wide") : Support::yes();
}

Variant<Problem> fast(std::string_view name) {
    return {.space = {{"block", {64, 128}}}, .supports = narrow_images, .run = run_nothing, .name = name};
}

Variant<Problem> baseline(std::string_view name) {
    return {.role = Role::baseline, .supports = anything, .run = run_nothing, .name = name};
}

const std::vector<Registered<Problem>> registry{
    {fast("fast"), DeviceKind::cpu, false, 0, "", ""},
    {baseline("baseline"), DeviceKind::cpu, false, 0, "", ""},
    {{.name = "missing"}, DeviceKind::cpu, false, 0, "", ""},
    {fast("gpu_fast"), DeviceKind::cuda, true, 90, "", ""},
    {baseline("gpu_baseline"), DeviceKind::cuda, false, 0, "", ""},
    {{.supports = with_avx2, .run = run_nothing, .name = "vector"}, DeviceKind::cpu, false, 0, "", ""},
};

constexpr Choice<Problem> cpu_small[] = {{kMissing, {{"block", 8}}, 1.0F},
                                         {kFast, {{"block", 128}}, 1.1F},
                                         {kFast, {{"block", 64}}, 1.2F},
                                         {kBaseline, {}, 3.0F}};
constexpr Choice<Problem> cpu_large[] = {{kBaseline, {}, 1.0F}};
constexpr Choice<Problem> cpu_vector[] = {{kVector, {}, 1.0F}, {kBaseline, {}, 9.0F}};
constexpr Choice<Problem> gpu[] = {{kGpuFast, {{"block", 128}}, 1.0F}, {kGpuBaseline, {}, 2.0F}};

constexpr Leaf<Problem> cpu_leaves[] = {{0, 10, 2.7F, 1.1F, 1.0F, 1.2F, cpu_small},
                                        {1, 20, 1.0F, 1.0F, 1.0F, 1.0F, cpu_large}};
constexpr Leaf<Problem> vector_leaves[] = {{0, 5, 9.0F, 1.0F, 1.0F, 1.0F, cpu_vector}};
constexpr Leaf<Problem> gpu_leaves[] = {{0, 5, 2.0F, 1.0F, 1.0F, 1.0F, gpu}};

constexpr ReadFeature<Problem> sizes[] = {[](const Problem& p) { return static_cast<double>(p.height); },
                                          [](const Problem& p) { return static_cast<double>(p.width); }};
constexpr Column sizes_asked[] = {{"height", 0}, {"width", 1}};
constexpr TreeNode by_height[] = {TreeNode::at_most(0, 100, 2), TreeNode::leaf(0), TreeNode::leaf(1)};
constexpr TreeNode one_leaf[] = {TreeNode::leaf(0)};

Selector<Problem> cpu_tree(std::string_view key, int threads, Isa isa, std::string_view design = "zen4") {
    const DeviceTraits traits{.isa = isa, .microarchitecture = design, .threads = threads};
    return {key, traits, "abc", sizes, sizes_asked, by_height, cpu_leaves};
}
Selector<Problem> vector_tree(std::string_view key, int threads, Isa isa) {
    return {key, {.isa = isa, .microarchitecture = "zen4", .threads = threads}, "abc", {}, {}, one_leaf, vector_leaves};
}
Selector<Problem> gpu_tree(std::string_view key, int sm, int sm_count = 132) {
    return {key, {.kind = DeviceKind::cuda, .sm = sm, .sm_count = sm_count}, "def", {}, {}, one_leaf, gpu_leaves};
}

DeviceInfo cpu_device(int threads, Isa isa, std::string_view design = "zen4") {
    DeviceInfo device;
    device.microarchitecture = design;
    device.threads = threads;
    device.avx2 = device.fma = device.avx512 = device.avx512_vnni = true;
    narrow(device, isa);
    device.key =
        "cpu-" + device.microarchitecture + "-" + std::string(to_string(isa)) + "-" + std::to_string(threads) + "t";
    return device;
}

DeviceInfo gpu_device(std::string_view key, int sm) {
    DeviceInfo device;
    device.kind = DeviceKind::cuda;
    device.key = key;
    device.sm = sm;
    device.sm_count = 132;
    return device;
}

/// Keys of the trees in the order in which they are asked.
std::string order(const std::vector<Selector<Problem>>& trees, const DeviceInfo& device) {
    SimilarTrees<Problem> walk(trees, device);
    std::string keys;
    while (const auto* tree = walk.next()) keys.append(keys.empty() ? "" : " ").append(tree->device_key);
    return keys;
}

Problem sized(std::int64_t width, std::int64_t height) { return {.width = width, .height = height, .channels = 1}; }

class Dispatch : public testing::Test {
protected:
    std::vector<Selector<Problem>> trees_{cpu_tree("cpu-zen4-avx2-4t", 4, Isa::avx2), gpu_tree("nvidia-h200", 90)};

    [[nodiscard]] Tables<Problem> tables() const { return {"convolution_2d", registry, trees_}; }

    /// "variant configuration" of what is decided, or "error: message".
    [[nodiscard]] std::string decided(const Problem& problem, const DeviceInfo& device,
                                      std::string_view forced = {}) const {
        const auto choice = parse_forced_variant(forced, "the test");
        const auto decision = decide(tables(), problem, device, choice ? &*choice : nullptr);
        if (!decision) return "error: " + decision.error().message;
        return std::string(decision.value().entry->variant.name) + " " + decision.value().configuration.text();
    }
};

/// The registry above, `names` of which may differ from run to run.
std::vector<Registered<Problem>> unsteady(std::initializer_list<std::string_view> names) {
    std::vector<Registered<Problem>> changed = registry;
    for (Registered<Problem>& entry : changed)
        if (std::ranges::find(names, entry.variant.name) != names.end()) entry.variant.nondeterminism = "it races";
    return changed;
}

// --- a choice that is the same as another configuration

/// As variants with threads are: on one thread `parallel` 1 is 0, and of narrow images `rows` 32 is 16 besides.
Support shared_out(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (configuration["parallel"] && device.threads == 1)
        return Support::no("one hardware thread: the same as parallel=0");
    if (configuration["rows"] != 16 && problem.width < 100) return Support::no("here the same as rows=16");
    return problem.height > 1000 ? Support::no("too high") : Support::yes();
}

/// What names no configuration, or only itself, is a refusal like any other.
Support going_in_circles(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    constexpr const char* kNamed[] = {"tiles=1", "block=1", "block=", "block=64", "block=65"};
    if (problem.width < 5) return Support::no("it is the same as " + std::string(kNamed[problem.width]));
    return Support::no(configuration["block"] == 64 ? "the same as block=128" : "the same as block=64");
}

const std::vector<Registered<Problem>> equal_ones{
    {{.space = {{"parallel", {1, 0}}, {"rows", {16, 32}}},
      .supports = shared_out,
      .run = run_nothing,
      .name = "shared"},
     DeviceKind::cpu,
     false,
     0,
     "",
     ""},
    {baseline("baseline"), DeviceKind::cpu, false, 0, "", ""},
    {{.space = {{"block", {64, 128}}}, .supports = going_in_circles, .run = run_nothing, .name = "circles"},
     DeviceKind::cpu,
     false,
     0,
     "",
     ""},
};
constexpr auto kShared = static_cast<VariantId>(0), kCircles = static_cast<VariantId>(2);
constexpr Choice<Problem> equal_ranking[] = {{kCircles, {{"block", 64}}, 1.0F},
                                             {kShared, {{"parallel", 1}, {"rows", 32}}, 1.1F},
                                             {kShared, {{"parallel", 0}, {"rows", 16}}, 1.2F},
                                             {kBaseline, {}, 50.0F}};
constexpr Leaf<Problem> equal_leaves[] = {{0, 10, 2.7F, 1.1F, 1.0F, 1.2F, equal_ranking}};

class EqualChoices : public testing::Test {
protected:
    [[nodiscard]] std::string decided(const Problem& problem, int threads, std::string_view forced = {}) const {
        const auto choice = parse_forced_variant(forced, "the test");
        const auto decision = decide(tables(), problem, cpu_device(threads, Isa::avx2), choice ? &*choice : nullptr);
        if (!decision) return "error: " + decision.error().message;
        return std::string(decision.value().entry->variant.name) + " " + decision.value().configuration.text();
    }
    [[nodiscard]] Tables<Problem> tables() const { return {"convolution_2d", equal_ones, trees_}; }
    std::vector<Selector<Problem>> trees_{
        {"cpu-zen4-avx2-4t", {.isa = Isa::avx2, .threads = 4}, "abc", {}, {}, one_leaf, equal_leaves}};
};

TEST_F(EqualChoices, RunAsWhatTheyAreTheSameAs) {
    EXPECT_EQ(decided(sized(200, 10), 4), "shared parallel=1;rows=32");
    EXPECT_EQ(decided(sized(200, 10), 1), "shared parallel=0;rows=32");
    EXPECT_EQ(decided(sized(50, 10), 4), "shared parallel=1;rows=16");
    EXPECT_EQ(decided(sized(50, 10), 1), "shared parallel=0;rows=16");  // one step after the other
}

TEST_F(EqualChoices, ThatCannotRunEitherAreSkipped) {
    EXPECT_EQ(decided(sized(50, 2000), 1), "baseline default");
    const Explanation why = explain(tables(), sized(50, 2000), cpu_device(1, Isa::avx2), nullptr).value();
    EXPECT_EQ(why.ranking[1].infeasible, "too high");
    EXPECT_EQ(why.ranking[1].same_as, "");
}

TEST_F(EqualChoices, ThatNameNothingAreRefusals) {
    for (std::int64_t width = 0; width < 7; ++width)
        EXPECT_EQ(decided(sized(width, 10), 4), "shared parallel=1;rows=16") << width;
    EXPECT_EQ(decided(sized(0, 10), 4, "circles").substr(0, 6), "error:");
}

TEST_F(EqualChoices, ForcedRunAsThatToo) {
    EXPECT_EQ(decided(sized(50, 10), 1, "shared:parallel=1;rows=32"), "shared parallel=0;rows=16");
    EXPECT_EQ(decided(sized(50, 10), 1, "shared"), "shared parallel=0;rows=16");
    EXPECT_EQ(decided(sized(200, 10), 4, "shared:parallel=1;rows=32"), "shared parallel=1;rows=32");
}

TEST_F(EqualChoices, AreExplained) {
    const Explanation why = explain(tables(), sized(50, 10), cpu_device(1, Isa::avx2), nullptr).value();
    EXPECT_EQ(why.configuration, "parallel=0;rows=16");
    EXPECT_EQ(why.ranking[1].infeasible, "");
    EXPECT_EQ(why.ranking[1].same_as, "parallel=0;rows=16");
    EXPECT_EQ(why.ranking[2].same_as, "");
    const std::string text = why.text();
    EXPECT_NE(text.find("  > 1.10x  shared (parallel=1;rows=32)  [here the same as parallel=0;rows=16]\n"
                        "    1.20x  shared (parallel=0;rows=16)\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("why: choice 2 of the tree"), std::string::npos) << text;
}

// Fewer threads for one call are no other device: its own tree is asked, and its key stays.
TEST_F(Dispatch, CallOnFewerThreadsAsksTheDevicesTrees) {
    trees_ = {cpu_tree("cpu-zen4-avx2-1t", 1, Isa::avx2), cpu_tree("cpu-zen4-avx2-16t", 16, Isa::avx2)};
    DeviceInfo device = cpu_device(8, Isa::avx2);
    EXPECT_EQ(order(trees_, device), "cpu-zen4-avx2-16t cpu-zen4-avx2-1t");
    device.all_threads = 8;
    device.threads = 1;
    EXPECT_EQ(order(trees_, device), "cpu-zen4-avx2-16t cpu-zen4-avx2-1t");
    const Explanation why = explain(tables(), sized(10, 10), device, nullptr).value();
    EXPECT_EQ(why.threads, 1);
    EXPECT_EQ(why.all_threads, 8);
    EXPECT_NE(why.text().find("threads: 1 of 8\n"), std::string::npos) << why.text();
    EXPECT_EQ(why.difference, "8 threads instead of 16");
}

TEST_F(Dispatch, DeterministicTakesTheNextChoiceThatIs) {
    const DeviceInfo device = cpu_device(4, Isa::avx2);
    const auto decided_of = [&](const std::vector<Registered<Problem>>& entries, const Problem& problem) {
        const auto decision = decide(Tables<Problem>{"convolution_2d", entries, trees_}, problem, device, nullptr,
                                     {.deterministic = true});
        return decision ? std::string(decision.value().entry->variant.name) : "error: " + decision.error().message;
    };
    EXPECT_EQ(decided_of(registry, sized(100, 50)), "fast");
    EXPECT_EQ(decided_of(unsteady({"fast"}), sized(100, 50)), "baseline");
    EXPECT_EQ(decided_of(unsteady({"baseline"}), sized(100, 50)), "fast");
    // Where the baseline is the only choice, whatever else runs the problem.
    EXPECT_EQ(decided_of(unsteady({"baseline"}), sized(10, 1000)), "fast");
    EXPECT_EQ(decided_of(unsteady({"baseline", "fast"}), sized(10, 1000)), "vector");
    const std::string nothing = decided_of(unsteady({"baseline", "fast", "vector"}), sized(10, 1000));
    EXPECT_NE(nothing.find("error: convolution_2d"), std::string::npos) << nothing;
    EXPECT_NE(nothing.find("do not ask for deterministic"), std::string::npos) << nothing;
}

TEST_F(Dispatch, DeterministicRefusesAForcedVariantThatIsNot) {
    const auto entries = unsteady({"fast"});
    const Tables<Problem> all{"convolution_2d", entries, trees_};
    const auto forced = parse_forced_variant("fast", "the test");
    EXPECT_TRUE(decide(all, sized(10, 10), cpu_device(4, Isa::avx2), &*forced));
    const auto refused = decide(all, sized(10, 10), cpu_device(4, Isa::avx2), &*forced, {.deterministic = true});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_NE(refused.error().message.find("it races"), std::string::npos) << refused.error().message;
}

TEST_F(Dispatch, ExplanationSaysWhetherEqualCallsAgree) {
    const auto entries = unsteady({"fast"});
    const Tables<Problem> all{"convolution_2d", entries, trees_};
    const auto any = explain(all, sized(100, 50), cpu_device(4, Isa::avx2), nullptr);
    EXPECT_EQ(any.value().variant, "fast");
    EXPECT_FALSE(any.value().deterministic());
    EXPECT_NE(any.value().text().find("equal calls may differ: it races"), std::string::npos) << any.value().text();
    const auto same = explain(all, sized(100, 50), cpu_device(4, Isa::avx2), nullptr, {.deterministic = true});
    EXPECT_EQ(same.value().variant, "baseline");
    EXPECT_TRUE(same.value().deterministic());
    EXPECT_EQ(same.value().ranking[1].infeasible, "equal calls may differ: it races");
}

TEST(SimilarTrees, VeryKeyComesFirst) {
    const std::vector trees{gpu_tree("nvidia-h100", 90), gpu_tree("nvidia-h200", 90)};
    EXPECT_EQ(order(trees, gpu_device("nvidia-h200", 90)), "nvidia-h200 nvidia-h100");
    EXPECT_EQ(order(trees, gpu_device("nvidia-h100", 90)), "nvidia-h100 nvidia-h200");
}

TEST(SimilarTrees, AreOfTheSameKindOfDevice) {
    const std::vector trees{gpu_tree("a", 80), cpu_tree("b", 2, Isa::avx2)};
    EXPECT_EQ(order(trees, cpu_device(2, Isa::generic)), "b");
    EXPECT_EQ(order(trees, gpu_device("x", 120)), "a");
    EXPECT_EQ(order({}, gpu_device("x", 120)), "");
}

TEST(SimilarTrees, GpuGoesByArchitectureThenSize) {
    const std::vector trees{gpu_tree("a", 75), gpu_tree("b", 80), gpu_tree("c", 86), gpu_tree("d", 90)};
    EXPECT_EQ(order(trees, gpu_device("x", 80)), "b c a d");
    EXPECT_EQ(order(trees, gpu_device("x", 89)), "b c a d");
    EXPECT_EQ(order(trees, gpu_device("x", 100)), "d b c a");
    EXPECT_EQ(order(trees, gpu_device("x", 70)), "a b c d");
    const std::vector sizes{gpu_tree("large", 90, 132), gpu_tree("small", 90, 16)};
    DeviceInfo device = gpu_device("x", 90);
    device.sm_count = 20;
    EXPECT_EQ(order(sizes, device), "small large");
    device.sm_count = 114;
    EXPECT_EQ(order(sizes, device), "large small");
}

TEST(SimilarTrees, CpuAvoidsPoorerTreesThenGoesByThreads) {
    const std::vector trees{cpu_tree("g8", 8, Isa::generic), cpu_tree("a2", 2, Isa::avx2),
                            cpu_tree("a16", 16, Isa::avx2), cpu_tree("x64", 64, Isa::avx512)};
    EXPECT_EQ(order(trees, cpu_device(1, Isa::avx512)), "x64 a2 a16 g8");  // far in threads, but the same instructions
    EXPECT_EQ(order(trees, cpu_device(4, Isa::avx2)), "a2 a16 x64 g8");    // a richer tree ranks AVX2, too
    EXPECT_EQ(order(trees, cpu_device(12, Isa::avx2)), "a16 a2 x64 g8");
    EXPECT_EQ(order(trees, cpu_device(64, Isa::generic)), "x64 g8 a16 a2");
    EXPECT_EQ(order(trees, cpu_device(2, Isa::avx512vnni)), "x64 a2 a16 g8");
}

TEST(SimilarTrees, CpuOfTheSameDesignWinsAmongEqualThreads) {
    const std::vector trees{cpu_tree("a", 8, Isa::avx2, "zen3"), cpu_tree("b", 8, Isa::avx2, "haswell"),
                            cpu_tree("c", 64, Isa::avx2, "haswell")};
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "haswell")), "b a c");
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "zen3")), "a b c");
}

TEST(SimilarTrees, CpuOfTheSameMakerWinsAmongOtherDesigns) {
    const std::vector trees{cpu_tree("intel", 8, Isa::avx2, "haswell"), cpu_tree("amd", 8, Isa::avx2, "zen3")};
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "zen5")), "amd intel");
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "amd-27-4")), "amd intel");
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "broadwell")), "intel amd");
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "intel-6-250")), "intel amd");
}

TEST(SimilarTrees, SizesAreComparedToTheSixteenth) {
    const auto with_sms = [](int count) { return DeviceTraits{.kind = DeviceKind::cuda, .sm = 90, .sm_count = count}; };
    for (int a = 1; a < 300; ++a) {
        EXPECT_EQ(log2_sixteenths(a), std::lround(16 * std::log2(a))) << a;
        for (int b = a; b < 300; ++b) {
            // Two roundings of half a sixteenth.
            const double apart = 16 * std::log2(static_cast<double>(b) / a);
            EXPECT_LE(std::abs(static_cast<double>(dissimilarity(with_sms(a), with_sms(b))) - apart), 1)
                << a << " " << b;
        }
    }
    for (const double size : {4.8e12, 3.35e12, 62914560.0, 0.3}) {
        EXPECT_EQ(log2_sixteenths(size), std::lround(16 * std::log2(size))) << size;
    }
    EXPECT_EQ(log2_sixteenths(0), kUnknownSize);
    EXPECT_EQ(dissimilarity(with_sms(0), with_sms(0)), 0);
}

TEST(SimilarTrees, DifferenceNamesWhatDiffers) {
    const auto here = cpu_device(16, Isa::avx2, "zen3");
    const auto words = [&](const DeviceTraits& trained) { return difference(traits_of(here), trained); };
    EXPECT_EQ(words({.isa = Isa::avx2, .microarchitecture = "zen3", .threads = 16}), "");
    EXPECT_EQ(words({.isa = Isa::avx512, .microarchitecture = "", .threads = 2}),
              "avx2 instead of avx512, zen3 instead of an unknown design, 16 threads instead of 2");
    DeviceInfo card = gpu_device("x", 89);
    card.l2_bytes = std::size_t{96} << 20, card.shared_per_block_optin = 99 << 10,
    card.nominal_bytes_per_second = 864e9;
    EXPECT_EQ(difference(traits_of(card), {.kind = DeviceKind::cuda,
                                           .sm = 90,
                                           .sm_count = 132,
                                           .shared_per_block = 227 << 10,
                                           .l2_bytes = std::size_t{60} << 20,
                                           .bytes_per_second = 4.8e12}),
              "sm_89 instead of sm_90, 99 KiB of shared memory instead of 227, 96 MiB of L2 instead of 60, 864 GB/s "
              "instead of 4800");
}

TEST_F(Dispatch, WalksTheRankingToTheFirstChoiceThatIsLinkedAndSupportsTheProblem) {
    const auto device = cpu_device(4, Isa::avx2);
    EXPECT_EQ(decided(sized(100, 50), device), "fast block=128");    // the first is not linked
    EXPECT_EQ(decided(sized(200, 50), device), "baseline default");  // too wide for every block
    EXPECT_EQ(decided(sized(10, 500), device), "baseline default");  // another leaf
}

TEST_F(Dispatch, AllocatesNothingWhenTheFirstChoiceFits) {
    const auto device = cpu_device(4, Isa::avx2);
    const Problem problem = sized(10, 500);
    const Tables<Problem> all = tables();
    const int before = allocations;
    const auto decision = decide(all, problem, device, nullptr);
    EXPECT_EQ(allocations, before);
    EXPECT_TRUE(decision);
}

TEST_F(Dispatch, FallsToTheBaselineWhenTheRankingHasNothingForTheDevice) {
    // A tree that names a Hopper variant only, asked for an emulated GPU that cannot run it.
    auto device = gpu_device("host-executor", 90);
    device.emulated = true;
    EXPECT_EQ(decided(sized(10, 10), device), "gpu_baseline default");
}

TEST_F(Dispatch, IsTheBaselineWithoutATree) {
    trees_ = {gpu_tree("nvidia-h200", 90)};
    EXPECT_EQ(decided(sized(10, 10), cpu_device(4, Isa::generic)), "baseline default");
}

TEST_F(Dispatch, AnotherMajorVersionRunsWhatItCan) {
    EXPECT_EQ(decided(sized(10, 10), gpu_device("nvidia-b200", 100)), "gpu_fast block=128");
    EXPECT_EQ(decided(sized(10, 10), gpu_device("nvidia-a100", 80)), "gpu_baseline default");  // needs 9.0
}

TEST_F(Dispatch, SkipsTreesWhoseLeafCannotRunHere) {
    trees_ = {vector_tree("near", 4, Isa::avx2), cpu_tree("far", 64, Isa::avx512)};
    EXPECT_EQ(decided(sized(10, 10), cpu_device(4, Isa::generic)), "fast block=128");  // no AVX2: the farther tree's
    EXPECT_EQ(decided(sized(10, 10), cpu_device(4, Isa::avx2)), "vector default");
    EXPECT_EQ(decided(sized(10, 500), cpu_device(4, Isa::generic)), "baseline default");  // the fastest, far away
}

TEST_F(Dispatch, TakesAnotherLeafBeforeTheBaseline) {
    // In the leaf of images this wide nothing runs here; the leaf of low ones ranks what does.
    constexpr static Choice<Problem> wide[] = {{kMissing, {}, 1.0F}, {kBaseline, {}, 5.0F}};
    constexpr static Leaf<Problem> leaves[] = {cpu_leaves[0], {1, 3, 1.0F, 1.0F, 1.0F, 1.0F, wide}};
    constexpr static TreeNode nodes[] = {TreeNode::at_most(1, 10, 2), TreeNode::leaf(0), TreeNode::leaf(1)};
    trees_ = {{"cpu-zen4-avx2-4t",
               {.isa = Isa::avx2, .microarchitecture = "zen4", .threads = 4},
               "",
               sizes,
               sizes_asked,
               nodes,
               leaves}};
    EXPECT_EQ(decided(sized(100, 50), cpu_device(4, Isa::avx2)), "fast block=128");
    const auto why = explain(tables(), sized(100, 50), cpu_device(4, Isa::avx2), nullptr);
    ASSERT_TRUE(why);
    EXPECT_TRUE(why.value().other_leaf);
    EXPECT_NE(why.value().reason.find("another leaf"), std::string::npos) << why.value().reason;
    EXPECT_EQ(decided(sized(1000, 50), cpu_device(4, Isa::avx2)), "baseline default");  // too wide for anything
}

TEST_F(Dispatch, NeverRunsAVariantBelowItsArchitecture) {
    trees_ = {gpu_tree("nvidia-a100", 80)};
    EXPECT_EQ(decided(sized(10, 10), gpu_device("nvidia-a100", 80)), "gpu_baseline default");
    EXPECT_EQ(decided(sized(10, 10), gpu_device("x", 80), "gpu_fast"),
              "error: the test asks for convolution_2d/gpu_fast: needs compute capability 90, this is 80; leave the "
              "choice to the library or name one of gpu_fast, gpu_baseline");
}

TEST_F(Dispatch, RunsCodeForOneArchitectureOnNoOther) {
    auto exact = registry;
    exact[3].exact_sm = true;
    trees_ = {gpu_tree("nvidia-b200", 100), gpu_tree("nvidia-h200", 90)};
    const Tables<Problem> all{"convolution_2d", exact, trees_};
    EXPECT_EQ(decide(all, sized(1, 1), gpu_device("nvidia-h200", 90), nullptr).value().entry, &exact[3]);
    EXPECT_EQ(decide(all, sized(1, 1), gpu_device("nvidia-b200", 100), nullptr).value().entry, &exact[4]);
}

TEST_F(Dispatch, SaysWhyWhenEvenTheBaselineDeclines) {
    auto refusing = registry;
    refusing[1].variant.supports = [](const Problem&, const Configuration&, const DeviceInfo&) {
        return Support::no("the grid is full");
    };
    const Tables<Problem> tables{"convolution_2d", refusing, {}};
    const auto decision = decide(tables, sized(1, 1), cpu_device(1, Isa::generic), nullptr);
    ASSERT_FALSE(decision);
    EXPECT_EQ(decision.error().code, ErrorCode::unsupported);
    EXPECT_NE(decision.error().message.find("the grid is full"), std::string::npos);
}

TEST_F(Dispatch, SaysWhenABuildHasNothingForAKindOfDevice) {
    const std::span cpu_only(registry.data(), 3);
    const auto decision =
        decide(Tables<Problem>{"convolution_2d", cpu_only, {}}, sized(1, 1), gpu_device("x", 90), nullptr);
    ASSERT_FALSE(decision);
    EXPECT_EQ(decision.error().code, ErrorCode::unsupported);
}

TEST_F(Dispatch, AForcedVariantRunsWithTheNamedConfigurationElseTheTreesElseItsDefault) {
    const auto device = cpu_device(4, Isa::avx2);
    EXPECT_EQ(decided(sized(10, 10), device, "fast:block=64"), "fast block=64");
    EXPECT_EQ(decided(sized(10, 10), device, "fast"), "fast block=128");  // the leaf ranks 128 first
    EXPECT_EQ(decided(sized(10, 500), device, "fast"), "fast block=64");  // that leaf does not rank it
    EXPECT_EQ(decided(sized(10, 10), device, "baseline"), "baseline default");
}

TEST_F(Dispatch, AForcedVariantThatCannotRunIsAnErrorNeverAnotherVariant) {
    const auto device = cpu_device(4, Isa::avx2);
    const auto code = [&](const Problem& problem, std::string_view text) {
        const auto forced = parse_forced_variant(text, "the test");
        const auto decision = decide(tables(), problem, device, &*forced);
        EXPECT_FALSE(decision) << text;
        return decision ? ErrorCode::internal : decision.error().code;
    };
    EXPECT_EQ(code(sized(10, 10), "fastest"), ErrorCode::unknown_variant);
    EXPECT_EQ(code(sized(10, 10), "missing"), ErrorCode::unknown_variant);
    EXPECT_EQ(code(sized(10, 10), "fast:block=63"), ErrorCode::unknown_variant);
    EXPECT_EQ(code(sized(200, 10), "fast"), ErrorCode::unsupported);
    EXPECT_EQ(code(sized(10, 10), "gpu_baseline"), ErrorCode::unsupported);
}

TEST(ForcedVariants, ParsesSeveralFamiliesAndConfigurations) {
    const auto forced = ForcedVariants::parse("convolution_2d/fast:block=64;items=2");
    ASSERT_TRUE(forced) << forced.error().message;
    const ForcedVariant* found = forced.value().find("convolution_2d");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->variant, "fast");
    EXPECT_EQ(found->configuration, "block=64;items=2");
    EXPECT_EQ(forced.value().find("histogram"), nullptr);
    ASSERT_TRUE(ForcedVariants::parse(""));
}

TEST(ForcedVariants, RefusesWhatItCannotMean) {
    for (const auto* text : {"global", "convolution_2d/", "/global", "no_such_family/global", ",",
                             "convolution_2d/:block=1", "convolution_2d/a,convolution_2d/b"}) {
        const auto forced = ForcedVariants::parse(text);
        ASSERT_FALSE(forced) << text;
        EXPECT_EQ(forced.error().code, ErrorCode::unknown_variant);
        EXPECT_NE(forced.error().message.find("ESPALIER_FORCE_VARIANT"), std::string::npos);
    }
}

/// The tree of one leaf over the registry above.
std::unique_ptr<LoadedTreeOf<Problem>> loaded(const std::string& device, tree_text::Ranking ranking) {
    return tree_of<Problem>(read_tree(tree_text::one_leaf("convolution_2d", device, ranking)), registry);
}

TEST_F(Dispatch, LoadedTreeGoesBeforeTheCompiledOneOfItsDevice) {
    const auto tree = loaded("cpu-zen4-avx2-4t", {{"vector", "default"}, {"baseline", "default"}});
    const auto compiled = trees_;
    trees_ = {tree->selector};
    trees_.insert(trees_.end(), compiled.begin(), compiled.end());
    const DeviceInfo device = cpu_device(4, Isa::avx2);
    EXPECT_EQ(decided(sized(100, 50), device), "vector default");
    // Where nothing in the loaded one runs, the compiled one is next.
    EXPECT_EQ(decided(sized(110, 50), device), "fast block=128");
    EXPECT_EQ(decided(sized(10, 10), gpu_device("nvidia-h200", 90)), "gpu_fast block=128");
}

TEST_F(Dispatch, LoadedTreeMayRankWhatIsNotLinked) {
    const auto tree =
        loaded("cpu-zen4-avx2-4t",
               {{"missing", "block=8;items=2"}, {"fast", "block=64"}, {"fast", "block=128"}, {"baseline", "default"}});
    trees_ = {tree->selector};
    const DeviceInfo device = cpu_device(4, Isa::avx2);
    EXPECT_EQ(decided(sized(100, 50), device), "fast block=128");
    const auto why = explain(tables(), sized(100, 50), device, nullptr).value();
    EXPECT_EQ(why.ranking[0].variant, "missing");
    EXPECT_EQ(why.ranking[0].configuration, "block=8;items=2");
    EXPECT_EQ(why.ranking[0].infeasible, "it is not in this build");
    EXPECT_EQ(decided(sized(10, 10), device, "missing").substr(0, 6), "error:");
    for (const char* wrong : {"block", "block=", "=8", "block=8x", "a=1;b=2;c=3;d=4;e=5;f=6", "block=99999999999"})
        EXPECT_THROW(loaded("x", {{"missing", wrong}, {"baseline", "default"}}), BadData) << wrong;
}

TEST_F(Dispatch, ChoosingByALoadedTreeAllocatesNothing) {
    const auto tree = loaded("cpu-zen4-avx2-4t", {{"baseline", "default"}});
    trees_ = {tree->selector};
    const auto device = cpu_device(4, Isa::avx2);
    const Tables<Problem> all = tables();
    const Problem problem = sized(10, 10);
    const int before = allocations;
    const auto decision = decide(all, problem, device, nullptr);
    EXPECT_EQ(allocations, before);
    EXPECT_TRUE(decision);
}

// Its key is this device's, but its kind is not.
TEST_F(Dispatch, LoadedTreeOfAnotherKindOfDeviceIsNotAsked) {
    const auto tree = loaded("nvidia-h200", {{"vector", "default"}, {"baseline", "default"}});
    trees_.insert(trees_.begin(), tree->selector);
    EXPECT_EQ(decided(sized(10, 10), gpu_device("nvidia-h200", 90)), "gpu_fast block=128");
}

TEST_F(Dispatch, LoadedTreeAsksForCategoriesAndPairs) {
    using tree_text::leaf;
    using tree_text::ordered_json;
    const tree_text::Ranking fast{{"fast", "block=64"}, {"baseline", "default"}};
    const tree_text::Ranking vector{{"vector", "default"}, {"baseline", "default"}};
    const auto leaf_of = [&](const ordered_json& question, const Problem& problem) {
        ordered_json nodes{question, leaf(1, 0, fast), leaf(2, 1, vector)};
        nodes[0].update({{"id", 0}, {"left", 1}, {"right", 2}});
        const std::string text = tree_text::sealed(tree_text::tree("convolution_2d", "x", nodes));
        const auto tree = tree_of<Problem>(read_tree(text), registry);
        return path_to(tree->selector, tree->selector.leaf_of(problem));
    };
    Problem problem = sized(10, 20);
    problem.border = Border::mirror;
    const ordered_json of_border{{"feature", "border"}, {"categories", {"mirror"}}};
    EXPECT_EQ(leaf_of(of_border, problem), "border == mirror");
    problem.border = Border::zero;
    EXPECT_EQ(leaf_of(of_border, problem), "border != mirror");
    EXPECT_EQ(leaf_of({{"feature", "border"}, {"categories", {"mirror", "zero"}}}, problem),
              "border == zero or mirror");
    EXPECT_THROW(leaf_of({{"feature", "border"}, {"categories", {"zero", "zero"}}}, problem), BadData);
    EXPECT_THROW(leaf_of({{"feature", "border"}, {"categories", {"none"}}}, problem), BadData);
    EXPECT_THROW(leaf_of({{"feature", "border"}, {"threshold", 1}}, problem), BadData);
    EXPECT_THROW(leaf_of({{"feature", "border * width"}, {"threshold", 1}}, problem), BadData);
    EXPECT_THROW(leaf_of({{"feature", "width / height"}, {"categories", {"zero"}}}, problem), BadData);
    EXPECT_EQ(leaf_of({{"feature", "width / height"}, {"threshold", 0.5}}, problem), "width / height <= 0.5");
    EXPECT_EQ(leaf_of({{"feature", "width / height"}, {"threshold", 0.4}}, problem), "width / height > 0.4");
    EXPECT_EQ(leaf_of({{"feature", "width * height"}, {"threshold", 200}}, problem), "width * height <= 200");
    EXPECT_EQ(leaf_of({{"feature", "width * height"}, {"threshold", 199}}, problem), "width * height > 199");
}

TEST(Selector, IsAskedAboutASingleRowInOneLayout) {
    using P = smallest_k::Problem;
    static const Leaf<P> leaves[]{{.id = 0}, {.id = 1}};
    static constexpr ReadFeature<P> features[]{[](const P& p) { return static_cast<double>(p.layout); }};
    static constexpr Column columns[]{{"layout", 0}};
    static constexpr TreeNode nodes[]{
        TreeNode::one_of(0, std::uint64_t{1} << static_cast<int>(MatrixLayout::transposed), 2), TreeNode::leaf(0),
        TreeNode::leaf(1)};
    Selector<P> selector{};
    selector.features = features, selector.columns = columns, selector.nodes = nodes, selector.leaves = leaves;
    const auto leaf_of = [&](std::int64_t rows, MatrixLayout layout) {
        P problem;
        problem.rows = rows, problem.layout = layout;
        return selector.leaf_of(problem).id;
    };
    EXPECT_EQ(leaf_of(2, MatrixLayout::transposed), 0);
    EXPECT_EQ(leaf_of(2, MatrixLayout::row_major), 1);
    EXPECT_EQ(leaf_of(1, MatrixLayout::transposed), 1);
    EXPECT_EQ(leaf_of(1, MatrixLayout::row_major), 1);
}

TEST_F(Dispatch, ExplainsTheLeafTheRankingAndTheTree) {
    const auto explained = explain(tables(), sized(100, 50), cpu_device(4, Isa::avx2), nullptr);
    ASSERT_TRUE(explained);
    const Explanation& why = explained.value();
    EXPECT_EQ(why.variant, "fast");
    EXPECT_EQ(why.configuration, "block=128");
    EXPECT_EQ(why.tree, Explanation::Tree::exact);
    EXPECT_EQ(why.tree_device, "cpu-zen4-avx2-4t");
    EXPECT_EQ(why.leaf, 0);
    EXPECT_EQ(why.path, "height <= 100");
    EXPECT_FLOAT_EQ(static_cast<float>(why.margin), 2.7F);
    ASSERT_EQ(why.ranking.size(), 4U);
    EXPECT_EQ(why.ranking[0].infeasible, "it is not in this build");
    EXPECT_EQ(why.ranking[1].infeasible, "");
    EXPECT_EQ(why.ranking[2].infeasible, "wider than a block");
    EXPECT_NE(why.reason.find("choice 2"), std::string::npos) << why.reason;
    EXPECT_NE(why.reason.find("very device"), std::string::npos) << why.reason;
    EXPECT_NE(why.text().find("> 1.10x  fast (block=128)"), std::string::npos) << why.text();
}

TEST_F(Dispatch, ExplainsARelatedTreeABaselineAndAForcedVariant) {
    const auto related = explain(tables(), sized(1, 1), cpu_device(8, Isa::avx512), nullptr);
    ASSERT_TRUE(related);
    EXPECT_EQ(related.value().tree, Explanation::Tree::related);
    EXPECT_EQ(related.value().difference, "avx512 instead of avx2, 8 threads instead of 4");
    EXPECT_NE(related.value().reason.find("cpu-zen4-avx2-4t (here: avx512"), std::string::npos);

    const Tables<Problem> gpu_only{"convolution_2d", registry, std::span(trees_).last(1)};
    const auto without = explain(gpu_only, sized(1, 1), cpu_device(4, Isa::generic), nullptr);
    ASSERT_TRUE(without);
    EXPECT_EQ(without.value().tree, Explanation::Tree::none);
    EXPECT_EQ(without.value().leaf, -1);
    EXPECT_NE(without.value().reason.find("baseline"), std::string::npos);

    const ForcedVariant forced{"baseline", "", "the test"};
    const auto asked = explain(tables(), sized(1, 1), cpu_device(4, Isa::avx2), &forced);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked.value().forced_by, "the test");
    EXPECT_EQ(asked.value().reason, "the test asks for it");
}

}  // namespace
}  // namespace espalier
