// ESPALIER_SELECTORS: trees that the environment names.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/kernels/dispatch/loading_trees.hpp"
#include "tests/kernels/dispatch/tree_text.hpp"
#include "tests/support/run_program.hpp"

namespace espalier {
namespace {

using namespace tree_text;

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
