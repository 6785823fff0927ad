// Files of problems, as programs record them and as anybody may write them.

#include "harness/bench/records/listed_problems.hpp"

#include <gtest/gtest.h>

#include "kernels/json/bad_data.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench {
namespace {

class ListedProblems : public testing::Test {
protected:
    [[nodiscard]] std::vector<ListedProblem> read(const std::string& text) const {
        return read_listed_problems(folder_.file("asked", text));
    }
    [[nodiscard]] std::string refusal(const std::string& text) const try {
        static_cast<void>(read(text));
        return "read";
    } catch (const BadData& error) {
        return error.what();
    }

    TemporaryFolder folder_;
};

TEST_F(ListedProblems, AddUpLinesOfOneProblem) {
    const auto list = read(
        "schema=1 family=dot problem=elements=5 device=cpu-x-2t threads=2 calls=3 timed=2 nanoseconds=1e3\n"
        "# a comment\n"
        "schema=1 family=dot problem=elements=5 device=cpu-x-2t threads=2 calls=7 timed=3 nanoseconds=1.5e3\n"
        "family=dot problem=elements=5\n"
        "family=dot problem=elements=5 deterministic=1\n"
        "family=dot problem=elements=5 threads=1\r\n");
    ASSERT_EQ(list.size(), 4U) << "device, threads and determinism tell problems apart";
    EXPECT_EQ(list[0].device, "cpu-x-2t");
    EXPECT_EQ(list[0].threads, 2);
    EXPECT_EQ(list[0].calls, 10);
    EXPECT_EQ(list[0].timed, 5);
    EXPECT_DOUBLE_EQ(list[0].of_a_call(), 500);
    EXPECT_DOUBLE_EQ(list[0].of_all_calls(), 5000) << "those that did not wait took as long as those that did";
}

TEST_F(ListedProblems, MayBeAsLargeAsAnyDeviceCanDo) {
    EXPECT_EQ(read("family=knn problem=queries=65536;points=10000000;dims=1024;k=100;classes=1000\n").size(), 1U);
}

TEST_F(ListedProblems, ComeByTimeThenByCalls) {
    const auto list = read(
        "family=dot problem=elements=1 calls=5\n"
        "family=histogram problem=bytes=7 calls=1 timed=1 nanoseconds=10\n"
        "family=dot problem=elements=2 calls=9\n"
        "family=dot problem=elements=3 calls=2 timed=2 nanoseconds=30\n");
    std::string order;
    for (const ListedProblem& one : list) order += one.problem.substr(one.problem.find('=') + 1, 1);
    EXPECT_EQ(order, "3721");
}

TEST_F(ListedProblems, OfOtherFormsAreRefusedByLine) {
    const struct {
        const char *text, *why;
    } rows[] = {
        {"", "lists no problem: run a program with ESPALIER_RECORD="},
        {"# nothing\n\n", "lists no problem"},
        {"family=dot problem=elements=5\nfamily=dot\n", "line 2: it lacks problem="},
        {"problem=elements=5", "line 1: it lacks family="},
        {"family=dots problem=elements=5", "no family is called dots; did you mean 'dot'?"},
        {"family=dot problem=elements=-5", "line 1: "},
        {"family=dot problem=elem", "expected axis=value"},
        {"family=dot problem=bytes=5", "unknown axis 'bytes'"},
        {"family=dot problem=elements=5 calls=-3", "calls=-3 is no number from 0"},
        {"family=dot problem=elements=5 calls=1e300", "calls=1e300 is no number from 0"},
        {"family=dot problem=elements=5 nanoseconds=inf", "nanoseconds=inf is no number"},
        {"family=dot problem=elements=5 nanoseconds=nan", "nanoseconds=nan is no number"},
        {"family=dot problem=elements=5 nanoseconds=9.1e", "nanoseconds=9.1e is no number"},
        {"family=dot problem=elements=5 threads=1.5", "threads=1.5 is no whole number"},
        {"family=dot problem=elements=5 device=../x", "is no device key"},
        {"family=dot problem=elements=5 cals=3", "there is no field 'cals'; did you mean 'calls'?"},
        {"family=dot problem=elements=5 calls=3 calls=3", "it says calls= twice"},
        {"family=convolution_2d problem=width=999999999999;height=999999999999", "its sizes are beyond any device"},
        {"dot elements=5", "'dot' is no name=value"},
        {"schema=2 family=dot problem=elements=5", "another version of espalier wrote it, schema=2"},
        {"schema=1 family=dot problem=elements=5 device=cpu-x-2t threads=2 calls=3", "it was cut off"},
        {"\x7f\x45LF\x02\x01", "is no name=value"},
    };
    for (const auto& [text, why] : rows) {
        const std::string refused = refusal(text);
        EXPECT_NE(refused.find(why), std::string::npos) << text << ": " << refused;
    }
    EXPECT_NE(refusal("dot").find("mend the line, or remove it"), std::string::npos);
    EXPECT_EQ(refusal("a\x1b[31m=1").find('\x1b'), std::string::npos) << "nothing in it acts on a terminal";
}

}  // namespace
}  // namespace espalier::bench
