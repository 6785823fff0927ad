// Trees that the library reads at run time: they decide as the compiled ones do, what is wrong with a file is an error
// that loads nothing, and whatever a file says, a valid problem gets a variant that can run it.

#include "kernels/dispatch/loaded_trees.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/tree_path.hpp"
#include "tests/each_family.hpp"
#include "tests/kernels/api/api_helpers.hpp"
#include "tests/kernels/dispatch/tree_text.hpp"
#include "tests/support/invented_sweep.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/trials.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using namespace tree_text;

const std::string kHere = Device::cpu().key();

/// What the library runs for an inner product on this CPU.
Explanation dot_here(std::int64_t elements = 1000) { return value_of(explain_dot_product(Device::cpu(), elements)); }

/// Trees that were loaded so far: by other tests, too, where all of them are one process.
std::size_t in_use() { return value_of(loaded_selectors()).selectors.size(); }

/// Every tree of every device that is committed.
std::vector<fs::path> committed_trees() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(ESPALIER_COMMITTED_SELECTORS))
        if (entry.path().extension() == ".tree") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

/// Random problems: sizes of every magnitude and values at thresholds, where a tree is given.
template <class P>
P random_problem(std::mt19937_64& random) {
    P problem{};
    for (const Feature<P>& feature : P::features()) {
        if (feature.derived()) continue;
        const auto size = static_cast<double>(random() >> (44 + random() % 20));
        feature.assign(problem,
                       feature.categories.empty() ? size : static_cast<double>(random() % feature.categories.size()));
    }
    return problem;
}

template <class P>
void expect_same(const Leaf<P>& loaded, const Leaf<P>& compiled) {
    ASSERT_EQ(loaded.id, compiled.id);
    ASSERT_EQ(loaded.problems, compiled.problems);
    ASSERT_EQ(loaded.ranking.size(), compiled.ranking.size());
    for (std::size_t i = 0; i < loaded.ranking.size(); ++i) {
        ASSERT_EQ(loaded.ranking[i].variant, compiled.ranking[i].variant);
        ASSERT_EQ(loaded.ranking[i].configuration, compiled.ranking[i].configuration);
    }
}

TEST(LoadedTrees, DecideAsTheSameTreesCompiled) {
    int compared = 0;
    std::mt19937_64 random(3);
    for (const fs::path& file : committed_trees()) {
        SCOPED_TRACE(file.string());
        const TreeFile content = read_tree(read_bytes(file.string()));
        for_each_family([&]<class P>(const P*, const std::string& family) {
            if (family != content.family) return;
            const Tables<P> all = tables<P>();
            const auto loaded = tree_of<P>(content, all.registry);
            const auto compiled = std::ranges::find_if(all.selectors, [&](const Selector<P>& selector) {
                return selector.device_key == content.device_key && selector.file.empty();
            });
            ASSERT_NE(compiled, all.selectors.end());
            EXPECT_EQ(dissimilarity(loaded->selector.device, compiled->device), 0);
            EXPECT_EQ(loaded->selector.data_sha256, compiled->data_sha256);
            ASSERT_EQ(loaded->leaves.size(), compiled->leaves.size());
            for (std::size_t l = 0; l < loaded->leaves.size(); ++l) {
                expect_same(loaded->leaves[l], compiled->leaves[l]);
                ASSERT_EQ(path_to(loaded->selector, loaded->leaves[l]), path_to(*compiled, compiled->leaves[l]));
            }
            for (int i = trials(20'000); i > 0 && !testing::Test::HasFatalFailure(); --i) {
                const P problem = random_problem<P>(random);
                ASSERT_EQ(loaded->selector.leaf_of(problem).id, compiled->leaf_of(problem).id) << problem_key(problem);
            }
            ++compared;
        });
    }
    EXPECT_GT(compared, 50);
}

class LoadingTrees : public testing::Test {
protected:
    /// The path of a tree of this CPU in a folder of its own.
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        fs::create_directories(folder_.path() / name);
        return folder_.file(name + "/dot.tree", text);
    }

    TemporaryFolder folder_;
};

TEST_F(LoadingTrees, ChangesWhatTheLibraryRuns) {
    const auto before = dot_here();
    const std::string of_another_family = value_of(explain_count_bytes(Device::cpu(), 1000)).tree_file;
    const std::string other = before.variant == "cpu_scalar" ? "cpu_openmp" : "cpu_scalar";
    const std::string first = write("a", one_leaf("dot", kHere, {{other, "default"}, {"cpu_scalar", "default"}}));
    const auto loaded = value_of(load_selectors(first));
    ASSERT_EQ(loaded.size(), 1U);
    EXPECT_EQ(loaded[0].family, "dot");
    EXPECT_EQ(loaded[0].device, kHere);
    EXPECT_EQ(loaded[0].file, first);

    const std::size_t loaded_so_far = in_use();
    const auto after = dot_here();
    EXPECT_EQ(after.variant, other);
    EXPECT_EQ(after.tree, Explanation::Tree::exact);
    EXPECT_EQ(after.tree_file, first);
    EXPECT_EQ(after.leaf, 0);
    EXPECT_EQ(after.problems, 7);
    EXPECT_NE(after.reason.find("loaded from " + first), std::string::npos) << after.reason;
    EXPECT_NE(after.text().find("tree: loaded from " + first), std::string::npos) << after.text();
    float a = 2, b = 3, result = 0;
    expect_ok(dot_product(Device::cpu(), &a, &b, 1, &result));
    EXPECT_EQ(result, 6);

    // A plan keeps what it was made by; a tree that was loaded later takes the place of the earlier one.
    const auto plan = value_of(plan_dot_product(Device::cpu(), 1000));
    const std::string second = write("b", one_leaf("dot", kHere, {{"cpu_scalar", "default"}}));
    ASSERT_TRUE(load_selectors(fs::path(second).parent_path().string()));
    EXPECT_EQ(dot_here().tree_file, second);
    EXPECT_EQ(dot_here().variant, "cpu_scalar");
    EXPECT_EQ(value_of(plan.explain()).tree_file, first);
    EXPECT_EQ(value_of(plan.explain()).variant, other);
    EXPECT_EQ(in_use(), loaded_so_far);
    // Other families go on as they did.
    EXPECT_EQ(value_of(explain_count_bytes(Device::cpu(), 1000)).tree_file, of_another_family);
}

TEST_F(LoadingTrees, FollowsEachConditionOfTheTree) {
    const ordered_json nodes{split(0, "elements", 100, 1, 2), leaf(1, 0, {{"cpu_scalar", "default"}}),
                             leaf(2, 1, {{"cpu_openmp", "default"}, {"cpu_scalar", "default"}})};
    ASSERT_TRUE(load_selectors(write("a", sealed(tree("dot", kHere, nodes)))));
    EXPECT_EQ(dot_here(100).variant, "cpu_scalar");
    EXPECT_EQ(dot_here(100).path, "elements <= 100");
    EXPECT_EQ(dot_here(101).variant, "cpu_openmp");
    EXPECT_EQ(dot_here(101).path, "elements > 100");
}

TEST_F(LoadingTrees, OfOtherDevicesAreRankedByLikeness) {
    ordered_json text = tree("dot", "cpu-test-4t", ordered_json::array({leaf(0, 0, {{"cpu_scalar", "default"}})}));
    text["device"]["microarchitecture"] = "invented";
    ASSERT_TRUE(load_selectors(write("a", sealed(text))));
    DeviceInfo device;
    device.key = "cpu-test-5t";
    device.microarchitecture = "invented";
    device.avx2 = device.fma = true;
    device.threads = 5;
    const auto nearest = value_of(explain("dot", "elements=1000", device, nullptr));
    EXPECT_EQ(nearest.tree, Explanation::Tree::related);
    EXPECT_EQ(nearest.tree_device, "cpu-test-4t");
    EXPECT_EQ(nearest.difference, "5 threads instead of 4");
    device.threads = 16;
    device.microarchitecture = "emeraldrapids";
    EXPECT_EQ(value_of(explain("dot", "elements=1000", device, nullptr)).tree_device, "cpu-emeraldrapids-avx2-16t");
}

TEST_F(LoadingTrees, TakesEveryTreeOfAFolder) {
    for (const fs::path& tree : committed_trees()) {
        const fs::path device = folder_ / "trees" / tree.parent_path().filename();
        fs::create_directories(device);
        fs::copy_file(tree, device / tree.filename());
    }
    const auto all = value_of(load_selectors(folder_ / "trees"));
    EXPECT_EQ(all.size(), committed_trees().size());
    const std::size_t loaded_so_far = in_use();
    EXPECT_GE(loaded_so_far, all.size());
    EXPECT_EQ(value_of(load_selectors(folder_ / "trees")).size(), all.size());
    EXPECT_EQ(in_use(), loaded_so_far);
}

/// A change to a good tree, and what the message must hold.
struct Fault {
    const char* name;
    std::string text;
    std::vector<const char*> told;
};

std::vector<Fault> faults() {
    const ordered_json nodes{split(0, "elements", 100, 1, 2), leaf(1, 0, {{"cpu_scalar", "default"}}),
                             leaf(2, 1, {{"cpu_openmp", "default"}, {"cpu_scalar", "default"}})};
    const ordered_json good = tree("dot", kHere, nodes);
    const auto with = [&](const char* place, const ordered_json& value) {
        ordered_json changed = good;
        changed[ordered_json::json_pointer(place)] = value;
        return sealed(changed);
    };
    const auto without = [&](const char* member) {
        ordered_json changed = good;
        changed.erase(member);
        return sealed(changed);
    };
    std::string damaged = sealed(good), unsealed = good.dump(1) + "\n", twice = sealed(good), number = sealed(good);
    damaged[damaged.find("cpu_openmp")] = 'x';
    const auto reseal = [](std::string& text, const std::string& from, const std::string& to) {
        text.replace(text.find(from), from.size(), to);
        text = seal_tree(text.substr(0, text.rfind(",\n \"crc32\"")) + "\n}\n");
    };
    reseal(twice, "\"family\": \"dot\"", "\"family\": \"dot\",\n \"family\": \"dot\"");
    reseal(number, "100.0", "1e999");
    ordered_json deep = ordered_json::array(), wide = ordered_json::array();
    for (int i = 0; i < 70; ++i)
        deep.push_back(split(2 * i, "elements", 1, 2 * i + 1, 2 * i + 2)),
            deep.push_back(leaf(2 * i + 1, i, {{"cpu_scalar", "default"}}));
    deep.push_back(leaf(140, 70, {{"cpu_scalar", "default"}}));
    for (int i = 0; i < 4097; ++i) wide.push_back(leaf(i, i, {{"cpu_scalar", "default"}}));
    const ordered_json cpu_in_gpu{{"kind", "cuda"},        {"sm", 90},      {"sm_count", 132},
                                  {"shared_per_block", 1}, {"l2_bytes", 1}, {"bytes_per_second", 1}};
    return {
        {"Empty", "", {"no checksum", "espalier train"}},
        {"NoTree", "{}\n", {"no checksum"}},
        {"Unsealed", unsealed, {"no checksum", "older", "espalier train"}},
        {"Damaged", damaged, {"checksum does not match", "espalier train"}},
        {"CutOff", sealed(good).substr(0, 500), {"no checksum", "cut off"}},
        {"Larger", std::string(std::size_t{5} << 20, ' '), {"larger than 4 MiB"}},
        {"NewerSchema", with("/schema", "espalier.tree/3"), {"espalier.tree/2", "update"}},
        {"OtherSchema", with("/schema", "espalier.case/1"), {"no tree"}},
        {"MemberTwice", twice, {"occurs twice"}},
        {"NumberTooLarge", number, {"double"}},
        {"UnknownMember", with("/more", 1), {"members that this version does not know"}},
        {"WithoutDevice", without("device"), {"\"device\" is missing"}},
        {"UnknownFamily", with("/family", "dott"), {"'dott'", "did you mean 'dot'"}},
        {"OtherKindOfDevice", with("/device", cpu_in_gpu), {"cpu_scalar", "never runs on a GPU"}},
        {"NoKindOfDevice", with("/device/kind", "tpu"), {"neither cpu nor cuda"}},
        {"UnknownInstructions", with("/device/isa", "avx10"), {"isa"}},
        {"NegativeThreads", with("/device/threads", -1), {"threads", "out of range"}},
        {"KeyWithASlash", with("/device_key", "../x"), {"device_key"}},
        {"NoNodes", with("/nodes", ordered_json::array()), {"nodes"}},
        {"TooManyNodes", with("/nodes", wide), {"nodes", "4096"}},
        {"TooDeep", with("/nodes", deep), {"64 tests"}},
        {"Cycle", with("/nodes/0/left", 0), {"node 0", "pre-order"}},
        {"BranchTwice", with("/nodes/0/right", 1), {"node 0", "pre-order"}},
        {"BranchOutside", with("/nodes/0/right", 3), {"right", "out of range"}},
        {"IdTwice", with("/nodes/2/id", 1), {"node 2", "id"}},
        {"LeafNumberTwice", with("/nodes/2/leaf", 0), {"node 2", "leaf"}},
        {"NodeMissing", with("/nodes", ordered_json::array({nodes[0], nodes[1]})), {"node 0", "out of range"}},
        {"TwoTrees",
         with("/nodes",
              ordered_json::array({leaf(0, 0, {{"cpu_scalar", "default"}}), leaf(1, 1, {{"cpu_scalar", "default"}})})),
         {"one tree"}},
        {"ThresholdIsText", with("/nodes/0/threshold", "nan"), {"threshold", "not a number"}},
        {"ThresholdIsNull", with("/nodes/0/threshold", nullptr), {"threshold", "not a number"}},
        {"UnknownFeature", with("/nodes/0/feature", "element"), {"'element'", "did you mean 'elements'"}},
        {"UnknownPair", with("/nodes/0/feature", "elements / k"), {"'k'"}},
        {"CategoryOfANumber",
         sealed(tree("dot", kHere,
                     {{{"id", 0}, {"feature", "elements"}, {"categories", {"x"}}, {"left", 1}, {"right", 2}},
                      nodes[1],
                      nodes[2]})),
         {"category of elements"}},
        {"EmptyRanking", with("/nodes/1/ranking", ordered_json::array()), {"ranks nothing"}},
        {"UnknownVariant",
         with("/nodes/2/ranking/0/variant", "cpu_opnmp"),
         {"'cpu_opnmp'", "did you mean 'cpu_openmp'"}},
        {"UnknownConfiguration", with("/nodes/2/ranking/0/configuration", "block=7"), {"cpu_openmp", "'block=7'"}},
        {"NoBaseline", with("/nodes/1/ranking/0/variant", "cpu_openmp"), {"cpu_openmp", "no baseline"}},
        {"HugeFigure", with("/nodes/1/margin", 1e200), {"margin", "out of range"}},
    };
}

TEST_F(LoadingTrees, RefusesWhatIsWrongAndGoesOnAsBefore) {
    const auto before = dot_here();
    const std::size_t loaded_before = in_use();
    for (const Fault& fault : faults()) {
        SCOPED_TRACE(fault.name);
        const std::string path = write("a", fault.text);
        const auto refused = load_selectors(path);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::bad_file);
        EXPECT_NE(refused.error().message.find(path), std::string::npos) << refused.error().message;
        for (const char* told : fault.told) expect_holds(refused.error().message, {told});
        EXPECT_EQ(dot_here().variant, before.variant);
        EXPECT_EQ(dot_here().tree_file, before.tree_file);
    }
    EXPECT_EQ(in_use(), loaded_before);
}

TEST_F(LoadingTrees, RefusesAFolderWithOneBadTreeWhole) {
    const std::string good = one_leaf("dot", kHere, {{"cpu_scalar", "default"}});
    static_cast<void>(write("all/a", good));
    const std::string bad = write("all/b", good + " ");
    const auto before = dot_here();
    const auto refused = load_selectors(folder_ / "all");
    ASSERT_FALSE(refused);
    expect_holds(refused.error().message, {bad.c_str(), "checksum"});
    EXPECT_EQ(dot_here().tree_file, before.tree_file);
    static_cast<void>(write("all/b", good));
    const auto twice = load_selectors(folder_ / "all");
    ASSERT_FALSE(twice);
    expect_holds(twice.error().message, {"all/a/dot.tree", "all/b/dot.tree", "both trees of dot", "remove one"});
}

TEST_F(LoadingTrees, RefusesWhatIsNoFile) {
    const auto message = [&](const std::string& path) {
        const auto refused = load_selectors(path);
        return refused ? "loaded" : refused.error().message;
    };
    expect_holds(message(folder_ / "nothing"), {"nothing", "no such file"});
    expect_holds(message(folder_.path().string()), {"no <device-key>.tree"});
    expect_holds(message(""), {"no such file"});
    const std::string pipe = folder_ / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_holds(message(pipe), {"neither a file nor a folder"});
    expect_holds(message("/dev/zero"), {"neither a file nor a folder"});
    expect_holds(message(std::string(5000, 'x')), {"cannot be read"});
    std::filesystem::create_directory_symlink("loop", folder_.path() / "loop");
    EXPECT_NE(message(folder_ / "loop"), "loaded");
    for (int i = 0; i < 1025; ++i) static_cast<void>(folder_.file(std::to_string(i) + ".tree", ""));
    expect_holds(message(folder_.path().string()), {"1024", "kernels/selectors/<family>"});
}

/// A device that a hostile tree may be asked for.
std::vector<DeviceInfo> devices() {
    std::vector<DeviceInfo> all = bench::invented_devices();
    all.push_back(DeviceInfo{.key = "cpu-test-4t"});
    return all;
}

/// What is decided by this tree alone can run, or nothing can.
template <class P>
void expect_total(const Tables<P>& all, const P& problem, const DeviceInfo& device) {
    const auto decision = decide(all, problem, device, nullptr);
    if (decision) {
        const Support support = supports(*decision.value().entry, problem, decision.value().configuration, device);
        ASSERT_TRUE(support) << decision.value().entry->variant.name << ": " << support.reason;
        return;
    }
    const auto alone = decide(Tables<P>{all.family, all.registry, {}}, problem, device, nullptr);
    ASSERT_FALSE(alone) << "the baseline runs it, but: " << decision.error().message;
}

/// A tree of the right form that nobody learned: any tests, any choices of the device's kind in any order.
template <class P>
ordered_json hostile_nodes(std::span<const Registered<P>> registry, DeviceKind kind, std::mt19937_64& random) {
    std::vector<const Registered<P>*> own;
    const Registered<P>* baseline = nullptr;
    for (const Registered<P>& entry : registry)
        if (entry.kind == kind && entry.linked()) {
            own.push_back(&entry);
            if (entry.variant.role == Role::baseline) baseline = &entry;
        }
    const auto any_leaf = [&](int id, int number) {
        ordered_json node = leaf(id, number, {});
        for (std::size_t i = random() % 4; i > 0; --i) {
            const Registered<P>& entry = *own[random() % own.size()];
            const auto configurations = entry.variant.space.enumerate();
            node["ranking"].push_back({{"variant", entry.variant.name},
                                       {"configuration", configurations[random() % configurations.size()].text()},
                                       {"slowdown", static_cast<double>(random() % 100)}});
        }
        node["ranking"].push_back({{"variant", baseline->variant.name},
                                   {"configuration", baseline->variant.space.enumerate().front().text()},
                                   {"slowdown", 1}});
        return node;
    };
    ordered_json nodes = ordered_json::array();
    int leaves = 0;
    const auto features = P::features();
    const auto grow = [&](const auto& self, int depth) -> void {
        const std::size_t id = nodes.size();
        const Feature<P>& feature = features[random() % features.size()];
        if (depth == 0 || !feature.known) return nodes.push_back(any_leaf(static_cast<int>(id), leaves++));
        ordered_json node{{"id", id}, {"feature", feature.name}};
        if (!feature.categories.empty())
            node["categories"] = {feature.categories[random() % feature.categories.size()]};
        else
            node["threshold"] = std::ldexp(static_cast<double>(random() % 1000) - 300, static_cast<int>(random() % 60));
        nodes.push_back(node);
        nodes[id]["left"] = nodes.size();
        self(self, depth - 1);
        nodes[id]["right"] = nodes.size();
        self(self, depth - 1);
    };
    grow(grow, static_cast<int>(random() % 5));
    return nodes;
}

TEST(HostileTrees, LeaveEveryProblemAVariantThatRunsIt) {
    std::mt19937_64 random(11);
    for_each_family([&]<class P>(const P*, const std::string& family) {
        SCOPED_TRACE(family);
        const Tables<P> known = tables<P>();
        for (int t = trials(100); t > 0 && !testing::Test::HasFatalFailure(); --t) {
            const auto all_devices = devices();
            const DeviceInfo& device = all_devices[random() % all_devices.size()];
            ordered_json text = tree(family, device.key, hostile_nodes<P>(known.registry, device.kind, random));
            if (device.kind == DeviceKind::cuda)
                text["device"] = {{"kind", "cuda"},        {"sm", 90},      {"sm_count", 1},
                                  {"shared_per_block", 1}, {"l2_bytes", 1}, {"bytes_per_second", 1}};
            const auto loaded = tree_of<P>(read_tree(sealed(text)), known.registry);
            const Tables<P> alone{family, known.registry, {&loaded->selector, 1}};
            for (int i = 0; i < 50 && !testing::Test::HasFatalFailure(); ++i)
                expect_total(alone, random_problem<P>(random), device);
        }
    });
}

/// One of many small damages.
std::string mutated(std::string text, std::mt19937_64& random) {
    static const std::vector<std::string> words{
        "0",   "-1",     "1e308", "18446744073709551616", "null", "[]", "{}", "\"\"", "\"cpu_scalar\"", "true", "99999",
        "0.5", "\"id\"", "NaN"};
    for (std::size_t changes = 1 + random() % 3; changes > 0 && !text.empty(); --changes) {
        const std::size_t at = random() % text.size();
        switch (random() % 6) {
            case 0: text[at] = static_cast<char>(random()); break;
            case 1: text.erase(at, 1 + random() % 40); break;
            case 2: text.insert(at, words[random() % words.size()]); break;
            case 3: text.insert(random() % text.size(), text.substr(at, random() % 200)); break;
            case 4: {  // another number or word in the place of one
                const std::size_t value = text.find(": ", at);
                if (value == std::string::npos) break;
                const std::size_t end = text.find_first_of(",\n", value);
                text.replace(value + 2, end - value - 2, words[random() % words.size()]);
                break;
            }
            default: {  // a digit by another: what keeps its form more often than not
                const std::size_t digit = text.find_first_of("0123456789", at);
                if (digit != std::string::npos) text[digit] = static_cast<char>('0' + random() % 10);
            }
        }
    }
    return text;
}

// Nine in ten get the checksum of what they have become, or none of them would be looked into.
TEST(HostileTrees, TenThousandMutantsAreRefusedOrTotal) {
    std::vector<std::string> seeds;
    for (const fs::path& file : committed_trees())
        if (fs::file_size(file) < 8000) seeds.push_back(read_bytes(file.string()));
    ASSERT_GT(seeds.size(), 10U);
    std::mt19937_64 random(17);
    const auto all_devices = devices();
    int accepted = 0, refused = 0;
    for (int i = 0; i < 10'000 && !testing::Test::HasFatalFailure(); ++i) {
        std::string text = mutated(seeds[random() % seeds.size()], random);
        if (const auto end = text.rfind(",\n \"crc32\""); random() % 10 != 0 && end != std::string::npos)
            text = seal_tree(text.substr(0, end) + "\n}\n");
        try {
            const TreeFile content = read_tree(text);
            for_each_family([&]<class P>(const P*, const std::string& family) {
                if (family != content.family) return;
                const Tables<P> known = tables<P>();
                const auto loaded = tree_of<P>(content, known.registry);
                const Tables<P> alone{family, known.registry, {&loaded->selector, 1}};
                for (const DeviceInfo& device : all_devices) expect_total(alone, random_problem<P>(random), device);
                ++accepted;
            });
        } catch (const BadData&) {
            ++refused;
        }
    }
    EXPECT_GT(accepted, 500);
    EXPECT_GT(refused, 5000);
}

// Dispatches on other threads take the one tree or the other, whole, and what they took stays good.
TEST_F(LoadingTrees, MayHappenWhileOthersDecide) {
    const std::string a = write("a", one_leaf("dot", kHere, {{"cpu_openmp", "default"}, {"cpu_scalar", "default"}}));
    const std::string b = write("b", one_leaf("dot", kHere, {{"cpu_scalar", "default"}}));
    ASSERT_TRUE(load_selectors(a));
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0}, of_a{0}, of_b{0};
    std::vector<std::thread> deciding;
    for (int t = 0; t < 4; ++t)
        deciding.emplace_back([&] {
            while (!done) {
                const auto why = explain_dot_product(Device::cpu(), 1000);
                const bool first = why && why.value().tree_file == a && why.value().variant == "cpu_openmp";
                const bool second = why && why.value().tree_file == b && why.value().variant == "cpu_scalar";
                (first ? of_a : second ? of_b : wrong)++;
            }
        });
    for (int i = 0; i < trials(2000) || (of_a == 0 || of_b == 0); ++i) {
        ASSERT_TRUE(load_selectors(i % 2 ? a : b));
        if (i % 100 == 0) {  // a file that is replaced, and one that is not whole yet
            static_cast<void>(
                write("c", one_leaf("dot", "cpu-other-" + std::to_string(i), {{"cpu_scalar", "default"}})));
            ASSERT_TRUE(load_selectors(folder_ / "c"));
            static_cast<void>(write("c", "{"));
            ASSERT_FALSE(load_selectors(folder_ / "c"));
        }
    }
    done = true;
    for (std::thread& thread : deciding) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(of_a, 0);
    EXPECT_GT(of_b, 0);
}

/// ESPALIER_SELECTORS is read once per process: each of these is a process of its own.
class SelectorsOfEnvironment : public LoadingTrees {
protected:
    [[nodiscard]] Finished espalier(const std::string& paths, const std::string& arguments) const {
        return run_espalier(folder_, arguments, "ESPALIER_SELECTORS=" + quoted(paths) + " ");
    }
    const std::string tree_ =
        write("a", one_leaf("dot", kHere, {{"cpu_openmp", "default"}, {"cpu_scalar", "default"}}));
    const std::string explain_ = "explain --family dot -p elements=1000 --device cpu";
};

TEST_F(SelectorsOfEnvironment, ArePathsOfFilesAndFolders) {
    for (const std::string& paths : {tree_, folder_ / "a", folder_.path().string(), ":" + tree_ + ":"}) {
        const auto run = espalier(paths, explain_);
        ASSERT_EQ(run.code, 0) << run.err;
        expect_holds(run.out, {"runs: cpu_openmp", "very device", "tree: loaded from ", "a/dot.tree"});
        EXPECT_EQ(run.err, "");
    }
    const std::string later = write("later", one_leaf("dot", kHere, {{"cpu_scalar", "default"}}));
    const auto run = espalier(tree_ + ":" + later, explain_ + " --json");
    const auto why = nlohmann::json::parse(run.out);
    EXPECT_EQ(why.at("variant"), "cpu_scalar");
    EXPECT_EQ(why.at("tree_file"), later);
    EXPECT_EQ(why.at("ignored"), "");
    expect_holds(espalier(tree_, "doctor --no-ceilings --device cpu").out,
                 {("selector of dot on " + kHere + ": loaded from " + tree_).c_str()});
    EXPECT_EQ(nlohmann::json::parse(espalier(tree_, "doctor --no-ceilings --device cpu --json").out)
                  .at("selectors")
                  .at("loaded")
                  .at(0)
                  .at("file"),
              tree_);
}

TEST_F(SelectorsOfEnvironment, AreLeftOutAloudWhereTheyAreWrong) {
    const std::string bad = write("bad", "{");
    const auto run = espalier(bad + ":" + tree_ + ":nowhere", explain_);
    EXPECT_EQ(run.code, 0);
    expect_holds(run.out, {"runs: cpu_openmp", "ignored: ESPALIER_SELECTORS: ", "bad/dot.tree: it has no checksum",
                           "ignored: ESPALIER_SELECTORS: nowhere: there is no such file"});
    expect_holds(run.err, {"espalier: left out: ESPALIER_SELECTORS: ", "no checksum", "nowhere"});
    const auto alone = espalier(bad, explain_ + " --json");
    EXPECT_EQ(alone.code, 0);
    EXPECT_EQ(nlohmann::json::parse(alone.out).at("tree_file"), "");
    expect_holds(nlohmann::json::parse(alone.out).at("ignored").get<std::string>(), {"no checksum"});
    expect_holds(espalier(bad, "doctor --no-ceilings --device cpu").out, {"selectors: those that are compiled in"});
    EXPECT_EQ(espalier("", explain_).err, "");
    EXPECT_EQ(espalier(bad, "list --help").err, "");  // which chooses nothing
}

}  // namespace
}  // namespace espalier
