// `espalier wisdom`: what it lists, leaves out, merges and refuses.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "espalier/version.hpp"
#include "kernels/dispatch/wisdom_entry.hpp"
#include "registries/dot/source_ids.hpp"
#include "tests/support/run_program.hpp"

namespace espalier {
namespace {

/// An entry of no source: stale, since every variant has one.
WisdomEntry learned(std::int64_t elements, const std::string& date = "2026-11-26T17:00:00Z") {
    return {.family = "dot",
            .problem = "elements=" + std::to_string(elements),
            .device = "cpu-x",
            .threads = 2,
            .driver = "-",
            .library = kVersion,
            .source = "-",
            .variant = "cpu_scalar",
            .configuration = "default",
            .date = date,
            .speedup = 1.25,
            .nanoseconds = 1500,
            .choices = 3};
}

class WisdomCommand : public testing::Test {
protected:
    [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
        return folder_.file(name, text);
    }
    [[nodiscard]] Finished wisdom(const std::string& arguments) const {
        return run_espalier(folder_, "wisdom " + arguments);
    }

    TemporaryFolder folder_;
};

TEST_F(WisdomCommand, ListsProblemsAndWhatRuns) {
    const std::string path = file("w", wisdom_line(learned(1000)) + "\n" + wisdom_line(learned(5)) + "\n");
    const Finished finished = wisdom(quoted(path));
    EXPECT_EQ(finished.code, 0) << finished.err;
    expect_holds(finished.out, {"dot elements=1000 on cpu-x, 2 threads\n"
                                "    cpu_scalar: 1.5 us, 1.25x the tree's choice, best of 3, 2026-11-26T17:00:00Z\n",
                                "    stale: the source of cpu_scalar has changed since it was measured"});
    expect_holds(finished.err, {"2 problems, 2 of them stale here\n"});
    EXPECT_EQ(wisdom("--used " + quoted(path)).out, "");
    EXPECT_EQ(wisdom("--family knn " + quoted(path)).out, "");
    EXPECT_EQ(wisdom("--device cpu-y " + quoted(path)).out, "");
    EXPECT_EQ(wisdom("--device cpu-x --family dot " + quoted(path)).out, finished.out);
}

TEST_F(WisdomCommand, SaysWhatIsUsedHere) {
    WisdomEntry used = learned(1000);
    used.source = dot::source_id::cpu_scalar;
    WisdomEntry other_library = used;
    other_library.problem = "elements=2000";
    other_library.library = "0.0.1";
    const std::string path = file("w", wisdom_line(used) + "\n" + wisdom_line(other_library) + "\n");
    const auto all = nlohmann::json::parse(wisdom("--json " + quoted(path)).out);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all.at(0).at("stale"), "");
    EXPECT_EQ(all.at(0).at("time_ns"), 1500);
    EXPECT_EQ(all.at(1).at("stale").get<std::string>().find("it was measured with espalier 0.0.1"), 0U);
    const auto in_use = nlohmann::json::parse(wisdom("--used --json " + quoted(path)).out);
    ASSERT_EQ(in_use.size(), 1U);
    EXPECT_EQ(in_use.at(0).at("problem"), "elements=1000");
}

TEST_F(WisdomCommand, MergesFilesOfWhichTheLaterCounts) {
    const std::string later = wisdom_line(learned(1000, "2026-11-27T17:00:00Z"));
    const std::string other = wisdom_line(learned(3000));
    const std::string first = file("a", "# first\n" + wisdom_line(learned(1000)) + "\n\n" + other + "\n");
    const std::string second = file("b", "damaged\n" + later);  // its last line without an end
    const Finished merged = wisdom(quoted(first) + " " + quoted(second) + " -o " + quoted(folder_ / "all"));
    EXPECT_EQ(merged.code, 0) << merged.err;
    expect_holds(merged.err, {"warning: ", "b: 1 damaged line left out, the first is line 1: "});
    const std::string text = read_bytes(folder_ / "all");
    EXPECT_EQ(text.substr(text.find('\n') + 1), later + "\n" + other + "\n");
    EXPECT_EQ(wisdom(quoted(folder_ / "all")).out, wisdom(quoted(first) + " " + quoted(second)).out);
}

TEST_F(WisdomCommand, RefusesWhatIsNoFileOfIt) {
    EXPECT_EQ(wisdom(quoted(folder_ / "missing")).code, 4);
    EXPECT_EQ(wisdom("").code, 2);
    const std::string path = file("input", wisdom_line(learned(1)) + "\n");
    EXPECT_EQ(wisdom(quoted(path) + " --output " + quoted(path)).code, 2);
    EXPECT_EQ(read_bytes(path), wisdom_line(learned(1)) + "\n");
    EXPECT_EQ(wisdom("--family nonsense " + quoted(file("w", ""))).code, 2);
    const Finished empty = wisdom(quoted(file("w", "")));
    EXPECT_EQ(empty.code, 0);
    EXPECT_EQ(empty.err, "0 problems, 0 of them stale here\n");
}

}  // namespace
}  // namespace espalier
