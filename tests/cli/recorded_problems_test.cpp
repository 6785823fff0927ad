// ESPALIER_RECORD and `sweep --problems`: what a program asks for is counted, and can be measured.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/run_program.hpp"

namespace espalier {
namespace {

class RecordedProblems : public testing::Test {
protected:
    [[nodiscard]] Finished histogram(std::size_t bytes, const std::string& record) const {
        return run_espalier(folder_,
                            "histogram --device cpu --quiet " + quoted(folder_.file("data", std::string(bytes, 'a'))),
                            "ESPALIER_RECORD=" + quoted(record) + " ");
    }
    [[nodiscard]] Finished dry_run(const std::string& listed) const {
        return run_espalier(folder_,
                            "sweep --device cpu --dry-run --share-device --family histogram,dot --variant "
                            "histogram/cpu_scalar,dot/cpu_scalar --problems " +
                                quoted(listed) + " --output " + quoted(folder_ / "journal"));
    }

    TemporaryFolder folder_;
};

TEST_F(RecordedProblems, EveryProcessAppendsALineOfEachProblem) {
    const std::string record = folder_ / "asked";
    EXPECT_EQ(histogram(1000, record).code, 0);
    EXPECT_EQ(histogram(2000, record).code, 0);
    const std::string text = read_bytes(record);
    EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
    expect_holds(text, {"schema=1 family=histogram problem=bytes=1000 device=cpu-",
                        " calls=1 timed=1 nanoseconds=", "\nschema=1 family=histogram problem=bytes=2000 device=cpu-"});
}

TEST_F(RecordedProblems, AreSweptThoseFirstThatTookLongest) {
    const std::string listed = folder_.file("asked",
                                            "# of a program\n"
                                            "family=histogram problem=bytes=1000 calls=1\n\n"
                                            "family=histogram problem=bytes=70 calls=5 timed=5 nanoseconds=100\n"
                                            "family=histogram problem=bytes=60 calls=2 timed=2 nanoseconds=70\n"
                                            "family=dot problem=elements=5\n"
                                            "family=histogram problem=bytes=60 calls=2 timed=2 nanoseconds=70\n");
    const Finished planned = dry_run(listed);
    EXPECT_EQ(planned.code, 0) << planned.err;
    const std::string& cases = planned.out;
    const std::size_t dot = cases.find("dot/cpu_scalar|elements=5"), longest = cases.find("|bytes=60"),
                      next = cases.find("|bytes=70"), last = cases.find("|bytes=1000");
    ASSERT_TRUE(dot < longest && longest < next && next < last && last != std::string::npos) << cases;
    expect_holds(planned.err, {"4 cases of 4 problems"});
}

TEST_F(RecordedProblems, WhatAProgramWroteIsUnderstood) {
    const std::string record = folder_ / "asked";
    EXPECT_EQ(histogram(4321, record).code, 0);
    const Finished planned = dry_run(record);
    EXPECT_EQ(planned.code, 0) << planned.err;
    expect_holds(planned.out, {"histogram/cpu_scalar|bytes=4321"});
}

TEST_F(RecordedProblems, AFileThatCannotBeWrittenCostsNothingElse) {
    const Finished without = histogram(1000, folder_ / "asked"), with = histogram(1000, folder_ / "missing/asked");
    EXPECT_EQ(with.code, 0) << with.err;
    EXPECT_EQ(with.out, without.out);
}

TEST_F(RecordedProblems, LinesThatAreNoneAreNamed) {
    const auto refused = [&](const std::string& text) {
        const Finished finished = dry_run(folder_.file("asked", text));
        EXPECT_EQ(finished.code, 4) << text;
        return finished.err;
    };
    EXPECT_NE(refused("").find("lists no problem"), std::string::npos);
    EXPECT_NE(refused("\nfamily=dot\n").find("line 2: it lacks problem="), std::string::npos);
    EXPECT_NE(refused("family=nonsense problem=elements=5\n").find("line 1: no family is called nonsense"),
              std::string::npos);
    EXPECT_NE(refused("family=dot problem=elements=-5\n").find("line 1: "), std::string::npos);
    EXPECT_NE(refused("family=dot problem=elements=5 calls=many\n").find("calls=many is no number"), std::string::npos);
    EXPECT_NE(refused("dot elements=5\n").find("'dot' is no name=value"), std::string::npos);
    EXPECT_EQ(dry_run(folder_ / "missing").code, 4);
}

}  // namespace
}  // namespace espalier
