// What commands understand and how they refuse: sizes, mistyped names, nonsense; and that no output is lost in silence.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/cli/parse.hpp"
#include "kernels/core/similar_name.hpp"
#include "tests/run_program.hpp"

namespace espalier::bench::cli {
namespace {

TEST(Bytes, UnitsInAnyCase) {
    const std::pair<const char*, std::uint64_t> sizes[] = {{"1", 1},
                                                           {"4096", 4096},
                                                           {"1b", 1},
                                                           {"2k", 2000},
                                                           {"2kB", 2000},
                                                           {"2 KiB", 2048},
                                                           {"500M", 500'000'000},
                                                           {"500MB", 500'000'000},
                                                           {"1.5GB", 1'500'000'000},
                                                           {"1.5gib", 1'610'612'736},
                                                           {"2Ti", 2'199'023'255'552}};
    for (const auto& [text, bytes] : sizes) EXPECT_EQ(bytes_in(text), bytes) << text;
}

TEST(Bytes, NonsenseIsNoSize) {
    for (const char* text :
         {"", "0", "-1", "18446744073709551616", "nan", "inf", "1x", "GB", "1i", "0.1", "1e30", "1 2"})
        EXPECT_FALSE(bytes_in(text)) << text;
}

TEST(SimilarName, OffersTheNearest) {
    const auto nearest = [](const char* word) {
        SimilarName meant(word);
        for (const char* name : {"euclidean", "manhattan", "chebyshev", "cosine"}) meant.offer(name);
        return meant.name();
    };
    EXPECT_EQ(nearest("manhatan"), "manhattan");
    EXPECT_EQ(nearest("Cosien"), "cosine");
    EXPECT_EQ(nearest("cheb"), "chebyshev");
    EXPECT_EQ(nearest("hamming"), "");
    EXPECT_EQ(nearest("c"), "");
}

struct Refusal {
    const char* arguments;
    std::vector<const char*> parts;
};

class Refused : public testing::TestWithParam<Refusal> {
protected:
    TemporaryFolder folder_;
};

TEST_P(Refused, InTwoLinesAtMost) {
    const auto finished = run_espalier(folder_, GetParam().arguments);
    EXPECT_EQ(finished.code, 2) << GetParam().arguments << "\n" << finished.err;
    EXPECT_EQ(finished.out, "");
    for (const char* part : GetParam().parts) expect_holds(finished.err, {part});
    EXPECT_LE(std::ranges::count(finished.err, '\n'), 2) << finished.err;
    EXPECT_EQ(finished.err.find("Options::"), std::string::npos) << finished.err;
}

INSTANTIATE_TEST_SUITE_P(
    Grammar, Refused,
    testing::Values(
        Refusal{"knnn --data x", {"no command 'knnn'", "did you mean 'knn'?", "espalier --help"}},
        Refusal{"", {"name a command"}},
        Refusal{"knn --memroy 3", {"no option --memroy", "did you mean '--memory'?", "espalier knn --help"}},
        Refusal{"convolve --kernl x", {"no option --kernl", "did you mean '--kernel'?"}},
        Refusal{"convolve a.png b.png c", {"one word too many: 'c'"}}, Refusal{"knn --data", {"--data needs a value"}},
        Refusal{"knn --data x --json=maybe", {"--json takes no value"}},
        Refusal{"knn --data x --k five", {"--k: 'five' is not a whole number"}},
        Refusal{"knn --data x --metric manhatan", {"did you mean 'manhattan'?"}},
        Refusal{"knn --data x --memory 0", {"--memory", "500MB"}}, Refusal{"knn --data x --memory -1", {"--memory"}},
        Refusal{"knn --data x --memory 18446744073709551616", {"--memory"}},
        Refusal{"knn --data x --test-rows 0", {"--test-rows", "more than 0"}},
        Refusal{"knn --data x --seed -1", {"--seed", "from 0 on"}},
        Refusal{"knn --data x --split nan", {"--split", "finite"}},
        Refusal{"knn --train x --test y --split 0.4", {"--train", "--split", "exclude each other"}},
        Refusal{"knn --train x --test y --seed 4", {"--train", "--seed"}},
        Refusal{"knn --train x --test y --test-rows 4", {"--train", "--test-rows"}},
        Refusal{"knn --train - --test -", {"both", "standard input"}},
        Refusal{"explain --family dots", {"did you mean 'dot'?"}},
        Refusal{"explain --family convolution_2d -p channels=7", {"channels is 7: 1, 3 and 4 are supported"}},
        Refusal{"explain --family smallest_k -p k=0", {"k is 0"}},
        Refusal{"explain --family convolution_2d -p chanels=3", {"did you mean 'channels'?"}},
        Refusal{"explain --family convolution_2d -p border=miror", {"did you mean 'mirror'?"}},
        Refusal{"explain --family convolution_2d --device cpu --variant cpu_scaler", {"did you mean 'cpu_scalar'?"}},
        Refusal{"list --family histgram", {"did you mean 'histogram'?"}},
        Refusal{"sweep --dry-run --device cpu --family dott", {"did you mean 'dot'?"}},
        Refusal{"sweep --dry-run --device cpu --variant cpu_scaler", {"did you mean 'cpu_scalar'?"}},
        Refusal{"sweep --dry-run --device cpu --family dot -p elemnts=3", {"did you mean 'elements'?"}}));

enum class Sink { full, closed, unread };

/// The exit code of the program with its stdout to that; stderr goes to a file.
int run_into(Sink sink, const std::vector<std::string>& words, const std::string& errors) {
    std::vector<std::string> all{ESPALIER_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> pointers;
    for (std::string& word : all) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        int pipe_ends[2] = {-1, -1};
        if (sink == Sink::unread && pipe(pipe_ends) == 0) close(pipe_ends[0]);
        dup2(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        dup2(sink == Sink::full ? open("/dev/full", O_WRONLY) : pipe_ends[1], STDOUT_FILENO);
        if (sink == Sink::closed) close(STDOUT_FILENO);
        execv(pointers[0], pointers.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class LostOutput : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(LostOutput, IsNoSuccess) {
    const TemporaryFolder folder;
    const std::string errors = folder / "errors.txt";
    EXPECT_EQ(run_into(Sink::full, GetParam(), errors), 4);
    expect_holds(read_bytes(errors), {"the output is lost: No space left on device"});
    EXPECT_EQ(run_into(Sink::closed, GetParam(), errors), 4);
    expect_holds(read_bytes(errors), {"the output is lost"});
    EXPECT_EQ(run_into(Sink::unread, GetParam(), errors), 141);
    EXPECT_EQ(read_bytes(errors).find("espalier:"), std::string::npos) << read_bytes(errors);
}

INSTANTIATE_TEST_SUITE_P(Commands, LostOutput,
                         testing::Values(std::vector<std::string>{"--help"}, std::vector<std::string>{"--version"},
                                         std::vector<std::string>{"list", "--json"},
                                         std::vector<std::string>{"doctor", "--device", "cpu", "--no-ceilings"},
                                         std::vector<std::string>{"explain", "--family", "dot", "--device", "cpu"},
                                         std::vector<std::string>{"histogram", "-", "--device", "cpu", "--quiet"}));

}  // namespace
}  // namespace espalier::bench::cli
