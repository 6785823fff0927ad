// Files that are no tree, or a tree with something wrong: an error that says what, and nothing of it is loaded.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/kernels/dispatch/loading_trees.hpp"
#include "tests/kernels/dispatch/tree_text.hpp"

namespace espalier {
namespace {

using namespace tree_text;

/// A change to a good tree, and what the message must hold.
struct Fault {
    const char* name;
    std::string text;
    std::vector<const char*> told;
};

/// One test and two leaves.
ordered_json good_nodes() {
    return {split(0, "elements", 100, 1, 2), leaf(1, 0, {{"cpu_scalar", "default"}}),
            leaf(2, 1, {{"cpu_openmp", "default"}, {"cpu_scalar", "default"}})};
}
ordered_json good_tree() { return tree("dot", kHere, good_nodes()); }

std::string with(const char* place, const ordered_json& value) {
    ordered_json changed = good_tree();
    changed[ordered_json::json_pointer(place)] = value;
    return sealed(changed);
}

std::string without(const char* member) {
    ordered_json changed = good_tree();
    changed.erase(member);
    return sealed(changed);
}

/// The good tree's text with `to` in the place of `from`, and the checksum of that.
std::string rewritten(const std::string& from, const std::string& to) {
    std::string text = sealed(good_tree());
    text.replace(text.find(from), from.size(), to);
    return seal_tree(text.substr(0, text.rfind(",\n \"crc32\"")) + "\n}\n");
}

/// Seventy tests below each other.
ordered_json too_deep() {
    ordered_json nodes = ordered_json::array();
    for (int i = 0; i < 70; ++i) {
        nodes.push_back(split(2 * i, "elements", 1, 2 * i + 1, 2 * i + 2));
        nodes.push_back(leaf(2 * i + 1, i, {{"cpu_scalar", "default"}}));
    }
    nodes.push_back(leaf(140, 70, {{"cpu_scalar", "default"}}));
    return nodes;
}

ordered_json leaves(int count) {
    ordered_json nodes = ordered_json::array();
    for (int i = 0; i < count; ++i) nodes.push_back(leaf(i, i, {{"cpu_scalar", "default"}}));
    return nodes;
}

std::vector<Fault> faults_of_files() {
    const std::string good = sealed(good_tree());
    std::string damaged = good;
    damaged[damaged.find("cpu_openmp")] = 'x';
    return {
        {"Empty", "", {"no checksum", "espalier train"}},
        {"NoTree", "{}\n", {"no checksum"}},
        {"Unsealed", good_tree().dump(1) + "\n", {"no checksum", "older", "espalier train"}},
        {"Damaged", damaged, {"checksum does not match", "espalier train"}},
        {"CutOff", good.substr(0, 500), {"no checksum", "cut off"}},
        {"Larger", std::string(std::size_t{5} << 20, ' '), {"larger than 4 MiB"}},
        {"NewerSchema", with("/schema", "espalier.tree/3"), {"espalier.tree/2", "update"}},
        {"OtherSchema", with("/schema", "espalier.case/1"), {"no tree"}},
        {"MemberTwice",
         rewritten("\"family\": \"dot\"", "\"family\": \"dot\",\n \"family\": \"dot\""),
         {"occurs twice"}},
        {"NumberTooLarge", rewritten("100.0", "1e999"), {"double"}},
        {"UnknownMember", with("/more", 1), {"members that this version does not know"}},
        {"WithoutDevice", without("device"), {"\"device\" is missing"}},
        {"UnknownFamily", with("/family", "dott"), {"'dott'", "did you mean 'dot'"}},
    };
}

std::vector<Fault> faults_of_devices() {
    const ordered_json cpu_in_gpu{{"kind", "cuda"},        {"sm", 90},      {"sm_count", 132},
                                  {"shared_per_block", 1}, {"l2_bytes", 1}, {"bytes_per_second", 1}};
    return {
        {"OtherKindOfDevice", with("/device", cpu_in_gpu), {"cpu_scalar", "never runs on a GPU"}},
        {"NoKindOfDevice", with("/device/kind", "tpu"), {"neither cpu nor cuda"}},
        {"UnknownInstructions", with("/device/isa", "avx10"), {"isa"}},
        {"NegativeThreads", with("/device/threads", -1), {"threads", "out of range"}},
        {"KeyWithASlash", with("/device_key", "../x"), {"device_key"}},
    };
}

std::vector<Fault> faults_of_nodes() {
    const ordered_json category{{"id", 0}, {"feature", "elements"}, {"categories", {"x"}}, {"left", 1}, {"right", 2}};
    return {
        {"NoNodes", with("/nodes", ordered_json::array()), {"nodes"}},
        {"TooManyNodes", with("/nodes", leaves(4097)), {"nodes", "4096"}},
        {"TooDeep", with("/nodes", too_deep()), {"64 tests"}},
        {"Cycle", with("/nodes/0/left", 0), {"node 0", "pre-order"}},
        {"BranchTwice", with("/nodes/0/right", 1), {"node 0", "pre-order"}},
        {"BranchOutside", with("/nodes/0/right", 3), {"right", "out of range"}},
        {"IdTwice", with("/nodes/2/id", 1), {"node 2", "id"}},
        {"LeafNumberTwice", with("/nodes/2/leaf", 0), {"node 2", "leaf"}},
        {"NodeMissing",
         with("/nodes", ordered_json::array({good_nodes()[0], good_nodes()[1]})),
         {"node 0", "out of range"}},
        {"TwoTrees", with("/nodes", leaves(2)), {"one tree"}},
        {"ThresholdIsText", with("/nodes/0/threshold", "nan"), {"threshold", "not a number"}},
        {"ThresholdIsNull", with("/nodes/0/threshold", nullptr), {"threshold", "not a number"}},
        {"UnknownFeature", with("/nodes/0/feature", "element"), {"'element'", "did you mean 'elements'"}},
        {"UnknownPair", with("/nodes/0/feature", "elements / k"), {"'k'"}},
        {"CategoryOfANumber", with("/nodes/0", category), {"category of elements"}},
    };
}

std::vector<Fault> faults_of_rankings() {
    return {
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
    for (const auto& faults : {faults_of_files(), faults_of_devices(), faults_of_nodes(), faults_of_rankings()})
        for (const Fault& fault : faults) {
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

}  // namespace
}  // namespace espalier
