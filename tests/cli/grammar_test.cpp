// What commands understand and how they refuse: sizes, mistyped names, nonsense; and that no output is lost in silence.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "harness/cli/parse.hpp"
#include "kernels/core/similar_name.hpp"
#include "tests/support/run_program.hpp"

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
        Refusal{"", {"name a command"}}, Refusal{"nonsense --help", {"no command 'nonsense'", "espalier --help"}},
        Refusal{"--help nonsense", {"no command 'nonsense'"}}, Refusal{"swep -h", {"did you mean 'sweep'?"}},
        Refusal{"nonsense --version", {"no command 'nonsense'"}},
        Refusal{"nonsense more --quiet --help", {"no command 'nonsense'"}},
        Refusal{"knn --memroy 3", {"no option --memroy", "did you mean '--memory'?", "espalier knn --help"}},
        Refusal{"convolve --kernl x", {"no option --kernl", "did you mean '--kernel'?"}},
        Refusal{"convolve a.png b.png c", {"one word too many: 'c'"}},
        Refusal{"knn --data", {"--data: 1 required", "missing"}},
        Refusal{"knn --data x --json=maybe", {"--json = maybe: leave out the value"}},
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
        Refusal{"explain --family smallest_k -p keys=float61", {"bfloat16, int32", "did you mean 'float16'?"}},
        Refusal{"explain --family smallest_k -p order=anny", {"known: ascending, any", "did you mean 'any'?"}},
        Refusal{"explain --family convolution_2d -p chanels=3", {"did you mean 'channels'?"}},
        Refusal{"explain --family convolution_2d -p border=miror", {"did you mean 'mirror'?"}},
        Refusal{"explain --family convolution_2d --device cpu --variant cpu_scaler", {"did you mean 'cpu_scalar'?"}},
        Refusal{"list --family histgram", {"did you mean 'histogram'?"}},
        Refusal{"sweep --dry-run --device cpu --family dott", {"did you mean 'dot'?"}},
        Refusal{"sweep --dry-run --device cpu --variant cpu_scaler", {"did you mean 'cpu_scalar'?"}},
        Refusal{"sweep --dry-run --device cpu --family dot -p elemnts=3", {"did you mean 'elements'?"}}));

TEST(Help, OfTheProgramAndOfItsCommands) {
    const TemporaryFolder folder;
    const std::pair<const char*, const char*> asked[] = {
        {"--help", "Subcommands:"}, {"-h", "Subcommands:"}, {"sweep --help", "--family"}, {"show -h", "--filter"}};
    for (const auto& [arguments, part] : asked) {
        const auto finished = run_espalier(folder, arguments);
        EXPECT_EQ(finished.code, 0) << arguments;
        expect_holds(finished.out, {part});
    }
    EXPECT_EQ(run_espalier(folder, "--version").code, 0);
}

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

/// Each prints the same every time.
struct Messages {
    const char* arguments;
    int code;
};

/// Runs in a folder of inputs, through the shell, with the standard error where `errors` redirects it.
class LostMessages : public testing::TestWithParam<Messages> {
protected:
    void SetUp() override {
        if (!std::filesystem::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full here";
        std::string table = "x,y,class\n";
        for (int i = 0; i < 40; ++i) table += fmt::format("{},{},{}\n", i, i * i % 7, i < 20 ? "low" : "high");
        static_cast<void>(folder_.file("a.csv", table));
        ASSERT_EQ(run("synthesize record --receivers 10 --duration 2s --file-length 1s --gap 1.2,0.1", "2>&1"), 0)
            << read_bytes(folder_ / "out");
    }

    [[nodiscard]] int run(const std::string& arguments, const std::string& errors) const {
        const std::string command = "cd " + quoted(folder_.path().string()) + " && " + quoted(ESPALIER_PROGRAM) + " " +
                                    arguments + " >out " + errors + " </dev/null";
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

    TemporaryFolder folder_;
};

TEST_P(LostMessages, ChangeNothingElse) {
    ASSERT_EQ(run(GetParam().arguments, "2>err"), GetParam().code) << read_bytes(folder_ / "err");
    const std::string whole = read_bytes(folder_ / "out");
    EXPECT_NE(read_bytes(folder_ / "err"), "") << "says nothing that could be lost";
    for (const char* lost : {"2>/dev/full", "2>&-"}) {
        EXPECT_EQ(run(GetParam().arguments, lost), GetParam().code) << lost;
        EXPECT_EQ(read_bytes(folder_ / "out"), whole) << lost;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Commands, LostMessages,
    testing::Values(Messages{"knn --data a.csv --explain", 0}, Messages{"knn --train a.csv --test a.csv -o -", 0},
                    Messages{"locate record/record.json --velocity 2500 --grid 3x3x3 -o - --explain", 0},
                    Messages{"histogram a.csv --format csv --explain", 0},
                    Messages{"sweep --dry-run --device cpu --family dot --variant cpu_scalar", 0},
                    Messages{"show nowhere", 4}, Messages{"knn --data nowhere.csv", 4}, Messages{"knn --k x", 2}));

/// A terminal that nobody sits at.
class Terminal {
public:
    Terminal() : keyboard_(posix_openpt(O_RDWR | O_NOCTTY)) {
        if (keyboard_ >= 0 && grantpt(keyboard_) == 0 && unlockpt(keyboard_) == 0) name_ = ptsname(keyboard_);
    }
    ~Terminal() { close(keyboard_); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }

    /// What is written there until nobody holds it open any more.
    [[nodiscard]] std::string read_to_end() const {
        std::string text;
        char chunk[4096];
        for (ssize_t got = 0; (got = read(keyboard_, chunk, sizeof chunk)) > 0;)
            text.append(chunk, static_cast<std::size_t>(got));
        return text;
    }

private:
    int keyboard_;
    std::string name_;
};

class Progress : public testing::Test {
protected:
    /// What a run says on a terminal; its stdout goes to the file "out".
    [[nodiscard]] std::string said_on_terminal(const std::string& arguments) const {
        const Terminal terminal;
        if (terminal.name().empty()) return {};
        const std::string command = "TERM=xterm OMP_NUM_THREADS=1 " + quoted(ESPALIER_PROGRAM) + " " + arguments +
                                    " >" + quoted(folder_ / "out") + " 2>" + terminal.name() + " </dev/null";
        const int held = open(terminal.name().c_str(), O_RDWR | O_NOCTTY);  // or reading ends before the run begins
        int code = -1;
        std::thread run([&] {
            code = std::system(command.c_str());
            close(held);
        });
        const std::string said = terminal.read_to_end();
        run.join();
        EXPECT_EQ(code, 0) << said;
        return said;
    }

    TemporaryFolder folder_;
};

// A run is over before a line of progress is due where a processor is fast: then it gets four times as much to do.
TEST_F(Progress, OfLocateIsOnTerminalsOnly) {
    std::string arguments, said;
    int windows = 20;  // of a second each
    while (true) {
        const std::string record = quoted(folder_ / fmt::format("record-{}", windows));
        ASSERT_EQ(
            run_espalier(folder_, fmt::format("synthesize --receivers 32 --duration {}s {}", windows, record)).code, 0);
        arguments = "locate --velocity 2500 --grid 12x12x12 --window 500 --device cpu --variant cpu_scalar -o - " +
                    record + "/record.json";
        said = said_on_terminal(arguments);
        if (said.empty()) GTEST_SKIP() << "no terminals here";
        if (said.find(" gone") != std::string::npos) break;
        ASSERT_LT(windows, 1280) << said;
        windows *= 4;
    }
    const std::string of_all = fmt::format(" of {}, ", windows);
    expect_holds(said, {of_all.c_str(), " s of record, ", " gone, ", " left", "\r\x1b[K"});
    const auto silent = run_espalier(folder_, arguments);
    EXPECT_EQ(read_bytes(folder_ / "out"), silent.out);
    EXPECT_EQ(silent.err.find(" gone"), std::string::npos) << silent.err;
    EXPECT_EQ(said_on_terminal(arguments + " --quiet").find(" gone"), std::string::npos);
}

TEST_F(Progress, OfKnnHasTheTimeLeft) {
    std::string said;
    for (int rows = 12'000; said.find(" gone") == std::string::npos; rows *= 4) {
        ASSERT_LE(rows, 192'000) << said;
        std::string table;
        for (int i = 0; i < rows; ++i) {
            for (int a = 0; a < 40; ++a) table += fmt::format("{},", (i * (a + 7) * 2654435761U >> 8) % 1000);
            table += i % 3 == 0 ? "a\n" : "b\n";
        }
        said = said_on_terminal(
            fmt::format("knn --device cpu --test-rows {} --data {}", rows / 2, quoted(folder_.file("t.csv", table))));
        if (said.empty()) GTEST_SKIP() << "no terminals here";
        EXPECT_EQ(read_bytes(folder_ / "out").substr(0, 9), "accuracy ");
    }
    expect_holds(said, {" rows, ", " gone, ", " left"});
}

/// Paths that colour, that end a C1 sequence and that turn the direction of writing.
TEST(Json, PathsDoNothing) {
    const TemporaryFolder folder;
    const std::string name = "\x1b[31m\xC2\x9B\xE2\x80\xAE\xFF\x7F\xC3\xA4.csv";
    const auto finished = run_espalier(folder, "histogram --json " + quoted(folder.file(name, "text")));
    EXPECT_EQ(finished.code, 0) << finished.err;
    for (const char c : finished.out) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
    expect_holds(finished.out, {R"(\u001b[31m\u009b\u202e\ufffd\u007f\u00e4.csv)"});
}

}  // namespace
}  // namespace espalier::bench::cli
