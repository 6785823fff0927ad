// `espalier knn` as a user runs it. That its predictions are right is knn_sklearn_test.py's business; here it
// is what it prints and writes, what it refuses, and that three million rows pass in bounded memory.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "harness/apps/tables/split.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

constexpr const char* kTrain = "x,y,class\n0,0,low\n0,1,low\n1,0,low\n9,9,high\n9,8,high\n8,9,high\n";

class KnnCommand : public testing::Test {
protected:
    [[nodiscard]] Finished run(const std::string& arguments) const { return run_espalier(folder, "knn " + arguments); }

    void expect_failure(const std::string& arguments, int code, std::initializer_list<const char*> parts) const {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.code, code) << arguments << "\n" << finished.err;
        EXPECT_EQ(finished.out, "") << arguments;
        expect_holds(finished.err, parts);
    }

    TemporaryFolder folder;
    std::string train = "--train " + quoted(folder.file("train.csv", kTrain)) + " ";

    [[nodiscard]] std::string test(const std::string& content) const {
        return "--test " + quoted(folder.file("test.csv", content)) + " ";
    }
};

TEST_F(KnnCommand, PrintsTheAccuracy) {
    const auto finished = run(train + test("x,y,class\n1,1,low\n8,8,high\n7,7,low\n2,2,low\n") + "--k 3");
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.out, "accuracy 0.750000 (3 of 4 rows)\n");
    expect_holds(finished.err, {"train.csv: 6 rows; line 1 is a header", "  x: numeric, 0 to 9\n",
                                "  class: label, 2 classes: high, low\n", "4 rows against 6, 2 attributes, by knn/"});
}

TEST_F(KnnCommand, WritesPredictionsWithNeighbours) {
    const std::string output = folder / "out.csv";
    const auto finished =
        run(train + test("class,y,x\nlow,1,1\nhigh,9,10\n") + "--k 2 --neighbours --quiet -o " + quoted(output));
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    EXPECT_EQ(read_bytes(output),
              "row,predicted,class,neighbour_1,distance_1,neighbour_2,distance_2\n"
              "1,low,low,2,1,3,1\n"
              "2,high,high,4,1,5,1.4142135623730951\n");
}

TEST_F(KnnCommand, PredictsWithoutALabelToStdout) {
    const auto finished = run(train + test("x,y\n1,1\n9,9\n") + "--k 1 --quiet");
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.out, "row,predicted\n1,low\n2,high\n");
}

TEST_F(KnnCommand, NamesAndLabelsDoNothing) {
    // An escape that colours, a title, a mark that turns the direction of writing, a formula.
    const std::string data = "--train " +
                             quoted(folder.file("hostile.csv",
                                                "x\x1b[31m,y\n0,\x1b]0;title\x07\n"
                                                "5,\xE2\x80\xAEwol\n9,=1+1\n")) +
                             " ";
    const auto finished = run(data + test("x\x1b[31m\n1\n5\n9\n") + "--k 1");
    EXPECT_EQ(finished.out, "row,predicted\n1,\\x1b]0;title\\x07\n2,\\u202ewol\n3,'=1+1\n");
    expect_holds(finished.err, {"  x\\x1b[31m: numeric", "\\u202ewol"});
    EXPECT_EQ(finished.err.find_first_of("\x1b\x07\xE2"), std::string::npos);
    expect_failure(data + test("z\x1b[31m\n1\n"), 4, {"'z\\x1b[31m'"});
}

TEST_F(KnnCommand, AnswersInDoublePrecision) {
    // Seconds and labels that floats round to multiples of 128.
    const std::string data = "--train " +
                             quoted(folder.file("seconds.csv",
                                                "t,y\n1700000000,1700000001\n1700000003,1700000005\n"
                                                "1700000100,1700000100.25\n")) +
                             " ";
    const auto finished = run(data + test("t,y\n1700000001,1700000003\n1700000099.5,1700000102.25\n") +
                              "--k 1 --regression --json --neighbours -o " + quoted(folder / "out.csv"));
    EXPECT_EQ(read_bytes(folder / "out.csv"),
              "row,predicted,y,neighbour_1,distance_1\n"
              "1,1700000001,1700000003,1,1\n2,1700000100.25,1700000102.25,3,0.5\n");
    EXPECT_EQ(nlohmann::json::parse(finished.out).at("root_mean_square_error"), 2.0);
}

TEST_F(KnnCommand, SpeaksJson) {
    const auto finished =
        run(train + test("1,1,low\n") + "-k 3 --json --explain --weights distance --metric manhattan");
    expect_holds(finished.err, {"knn queries=", "runs: ", "why: "});
    const auto json = nlohmann::json::parse(finished.out);
    EXPECT_EQ(json.at("accuracy"), 1.0);
    EXPECT_EQ(json.at("correct"), 1);
    EXPECT_EQ(json.at("metric"), "manhattan");
    EXPECT_EQ(json.at("vote"), "distance_weighted");
    EXPECT_EQ(json.at("train_rows"), 6);
}

TEST_F(KnnCommand, ARowThatSharesNothingWithTheTrainingHasNoAnswer) {
    const auto finished = run(train + test("x,y,class\n,,low\n1,NA,low\n") + "--k 1 -o " + quoted(folder / "out.csv"));
    EXPECT_EQ(finished.out, "accuracy 0.500000 (1 of 2 rows)\n");
    expect_holds(finished.err, {"share no known attribute with any training row: 1;"});
    EXPECT_EQ(read_bytes(folder / "out.csv"), "row,predicted,class\n1,?,low\n2,low,low\n");
}

TEST_F(KnnCommand, RowsWithoutALabelAreSkippedAndCounted) {
    const std::string table = quoted(folder.file("some.csv", "x,class\n0,low\n1,\n9,high\n8,?\n2,low\n7,high\n"));
    const auto trained = run("--train " + table + " " + test("x\n1\n8.5\n") + "--k 1 --neighbours");
    EXPECT_EQ(trained.code, 0) << trained.err;
    EXPECT_EQ(trained.out, "row,predicted,neighbour_1,distance_1\n1,low,1,1\n2,high,3,0.5\n");
    expect_holds(trained.err, {"some.csv: 4 rows", "2 rows without a label skipped, the first in line 3",
                               "2 rows against 4, 1 attribute"});
    const auto split =
        run("--data " + table + " --test-rows 2 --k 1 --json --quiet --neighbours -o " + quoted(folder / "out.csv"));
    EXPECT_EQ(split.err, "");
    EXPECT_EQ(nlohmann::json::parse(split.out).at("skipped_rows"), 2);
    EXPECT_EQ(read_bytes(folder / "out.csv"),
              "row,predicted,class,neighbour_1,distance_1\n5,low,low,1,2\n6,high,high,3,2\n");
    // A row to be predicted is never left out in silence.
    expect_failure(train + test("x,y,class\n1,1,low\n1,1,?\n") + "--k 1", 4, {"the label is missing"});
}

TEST_F(KnnCommand, UnknownValuesAreErrorsOrEqualNone) {
    const std::string nominal =
        "--train " + quoted(folder.file("n.csv", "sky,x,c\nred,1,a\nblue,2,b\nred,5,b\n")) + " --k 1 ";
    const std::string queries = test("sky,x\ngreen,0.25\nblue,1\n");
    expect_failure(nominal + queries + "--quiet -o " + quoted(folder / "out.csv"), 4, {"'green'", "--unknown ignore"});
    const auto ignored = run(nominal + queries + "--unknown ignore --neighbours");
    EXPECT_EQ(ignored.code, 0) << ignored.err;
    EXPECT_EQ(ignored.out, "row,predicted,neighbour_1,distance_1\n1,a,1,1.25\n2,a,1,1\n");
    expect_holds(ignored.err, {"cells with a value that no training row has: 1 in 'sky'; they equal none"});
    const auto json = run(nominal + queries + "--unknown ignore --json --quiet");
    EXPECT_EQ(json.err, "");
    EXPECT_EQ(nlohmann::json::parse(json.out).at("unknown_cells"), 1);
}

TEST_F(KnnCommand, ScalesByTheTrainingRows) {
    // Unscaled the second column decides; its deviation is 1000, the first one's 1.
    const std::string wide = "--train " + quoted(folder.file("wide.csv", "x,y,c\n-1,-1000,a\n1,1000,b\n")) + " --k 1 ";
    const std::string query = test("x,y\n4,-3000\n") + "--neighbours --quiet ";
    EXPECT_EQ(run(wide + query).out.substr(0, 51), "row,predicted,neighbour_1,distance_1\n1,a,1,2000.006");
    const std::string scaled = run(wide + query + "--scale standard").out;
    EXPECT_EQ(scaled, "row,predicted,neighbour_1,distance_1\n1,b,2,5\n");
    expect_failure(wide + query + "--scale minmax", 2, {"--scale", "none, standard"});
    // The test rows of a split have no part in it.
    const auto split =
        run("--data " + quoted(folder.file("s.csv", "x,c\n-1,a\n1,b\n99,b\n")) +
            " --test-rows 1 --k 1 --scale standard --json --quiet --neighbours -o " + quoted(folder / "out.csv"));
    EXPECT_EQ(nlohmann::json::parse(split.out).at("scale"), "standard");
    EXPECT_EQ(read_bytes(folder / "out.csv"), "row,predicted,c,neighbour_1,distance_1\n3,b,b,2,98\n");
}

TEST_F(KnnCommand, ContradictoryOptionsAreUsageErrors) {
    const std::string good = test("1,1,low\n");
    expect_failure("", 2, {"--train and --test", "--data"});
    expect_failure(train, 2, {"--train and --test"});
    expect_failure(train + good + "--data x.csv", 2, {"--data"});
    expect_failure(train + good + "--k 7", 2, {"--k is 7", "6 rows", "smaller k"});
    expect_failure(train + good + "--k 0", 2, {"--k must be 1 or more"});
    expect_failure(train + good + "--metric jaccard", 2, {"--metric", "jaccard"});
    expect_failure(train + good + "--delimiter ab", 2, {"--delimiter"});
    expect_failure(train + good + "--memory 150B", 2, {"--memory", "raise it"});
    expect_failure(train + good + "--variant nothing", 2, {"nothing", "cpu_two_stage"});
    expect_failure("--data " + quoted(folder / "train.csv") + " --test-rows 6", 2, {"--test-rows 6", "6 rows"});
    expect_failure("--data " + quoted(folder / "train.csv") + " --split 1.5", 2, {"--split", "between 0 and 1"});
    const std::string nominal = "--data " + quoted(folder.file("n.csv", "sky,c\nred,a\nblue,b\nred,a\n"));
    expect_failure(nominal + " --k 1 --metric euclidean", 2, {"'sky' is nominal", "mixed_euclidean", "--ignore 1"});
}

TEST_F(KnnCommand, BadDataLeavesTheOldPredictionsAlone) {
    const std::string output = folder.file("out.csv", "old");
    const std::string write = "--k 1 -o " + quoted(output);
    expect_failure(train + "--test nowhere.csv " + write, 4, {"nowhere.csv", "no such file"});
    expect_failure(train + test("x,y,class\n1,1,low\n1,1\n") + write, 4, {"test.csv: line 3: 2 fields"});
    expect_failure(train + test("x,y,class\n1,1,low\n1,one,low\n") + write, 4, {"line 3, column 'y'", "'one'"});
    expect_failure(train + test("x,y,class\n1,1,middle\n") + write, 4, {"'middle' does not occur", "high, low"});
    expect_failure(train + test("x,z,class\n1,1,low\n") + write, 4, {"'z' is not in the training table"});
    EXPECT_EQ(read_bytes(output), "old");
}

TEST_F(KnnCommand, BadInputNamesFileLineAndColumnAndLeavesNothing) {
    const std::string results = folder / "results";
    std::filesystem::create_directory(results);
    const std::string write = "--k 1 -o " + quoted(results + "/out.csv");
    const auto expect = [&](const std::string& arguments, std::initializer_list<const char*> parts) {
        expect_failure(arguments + " " + write, 4, parts);
        EXPECT_TRUE(std::filesystem::is_empty(results)) << arguments << " left something behind";
    };
    const auto trained_on = [&](const std::string& content) {
        return "--train " + quoted(folder.file("bad.csv", content)) + " " + test("x,y,class\n1,1,low\n");
    };
    // Empty sets.
    expect(trained_on(""), {"bad.csv: is empty"});
    expect(trained_on("\n \n"), {"bad.csv: is empty"});
    expect(trained_on("x,y,class\n"), {"bad.csv: has a header and no rows"});
    expect(train + test(""), {"test.csv: is empty"});
    expect(train + test("x,y,class\n"), {"test.csv: has a header and no rows"});
    expect("--data " + quoted(folder.file("one.csv", "1,1,low\n")), {"one.csv: has one row"});
    // Numbers of attributes that do not agree.
    expect(train + test("1,2,3,low\n"), {"test.csv: line 1: 4 columns where the training table has 3"});
    expect(train + test("\n1\n"), {"test.csv: line 2: 1 column where the training table has 3"});
    expect(train + test("x,y,z,class\n1,2,3,low\n"), {"test.csv: line 1: column 'z'", "--ignore"});
    expect(train + test("x,class\n1,low\n"), {"test.csv: line 1: column 'y' of the training table is missing"});
    expect(trained_on("x,y,class\n1,1,low\n1,2,3,low\n"), {"bad.csv: line 3: 4 fields", "3 columns"});
    // A nominal value or a class that training has not seen.
    const std::string nominal = "--train " + quoted(folder.file("n.csv", "sky,x,c\nred,1,a\nblue,2,b\n")) + " ";
    expect(nominal + test("sky,x,c\nred,1,a\ngreen,2,b\n"),
           {"test.csv: line 3, column 'sky': value 'green'", "red, blue", "leave it empty", "--unknown ignore"});
    expect(nominal + test("sky,x,c\nred,1,z\n"), {"test.csv: line 2, column 'c': class 'z'", "known: a, b"});
    // A column without any value, and labels that are missing.
    expect(trained_on("x,y,class\n,1,low\n?,2,high\nNA,3,low\n"), {"bad.csv: column 'x' has no value", "--ignore 1"});
    expect(trained_on("x,y,class\n1,1,\n1,2,\n"), {"bad.csv: no row has a label in column 'class'", "--label"});
    expect(train + test("x,y,class\n1,1,low\n1,1,?\n"), {"test.csv: line 3, column 'class': the label is missing"});
    expect(train + test("x,y,class\n1,1,low\n") + "--label species",
           {"train.csv: has no column 'species'", "x, y, class"});
    expect(trained_on("x,y,v\n1,1,3.5\n2,2,many\n") + "--regression",
           {"bad.csv: line 3, column 'v': 'many' is not a number", "without --regression"});
}

TEST_F(KnnCommand, AFaultFarDownLeavesNothingOfThePredictionsBeforeIt) {
    const std::string results = folder / "results";
    std::filesystem::create_directory(results);
    std::string rows = "x,y,class\n";
    for (int i = 0; i < 200'000; ++i) rows += "1,1,low\n";  // several chunks
    expect_failure(train + test(rows + "1,1,unheard\n") + "--k 1 -o " + quoted(results + "/out.csv"), 4,
                   {"test.csv: line 200002, column 'class'", "'unheard'"});
    EXPECT_TRUE(std::filesystem::is_empty(results));
}

TEST_F(KnnCommand, ThreeMillionRowsStreamInBoundedMemory) {
    constexpr std::int64_t kRows = 3'000'000;
    const std::string pipe = folder / "pipe.csv";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] {
        std::ofstream out(pipe, std::ios::binary);
        out << "x,y,class\n";
        for (std::int64_t i = 0; i < kRows; ++i) out << i % 10 << ',' << i % 10 << (i % 10 < 5 ? ",low\n" : ",high\n");
    });
    const auto finished = run(train + "--test " + quoted(pipe) + " --k 1 --quiet -o " + quoted(folder / "out.csv"));
    writer.join();
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.out, "accuracy 1.000000 (3000000 of 3000000 rows)\n");
    std::ifstream predictions(folder / "out.csv");
    std::string line, last;
    std::int64_t lines = 0;
    for (; std::getline(predictions, line); ++lines) last = line;
    EXPECT_EQ(lines, kRows + 1);
    EXPECT_EQ(last, "3000000,high,high");
#if !defined(__SANITIZE_ADDRESS__)
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    EXPECT_LT(usage.ru_maxrss, 128 * 1024) << "KiB";
#endif
}

/// The most memory that `espalier knn` had at once for these words, in bytes; 0 if it failed.
std::size_t peak_of(const std::vector<std::string>& words) {
    std::vector<std::string> all{ESPALIER_PROGRAM, "knn", "--quiet", "--device", "cpu"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        execv(ESPALIER_PROGRAM, arguments.data());
        _exit(127);
    }
    int status = 0;
    rusage usage{};
    if (wait4(child, &status, 0, &usage) != child || status != 0) return 0;
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

/// Rows of whole numbers of three digits and a label.
std::string whole_numbers(int rows, int columns) {
    std::string text;
    unsigned state = 1;
    for (int i = 0; i < rows; ++i) {
        for (int c = 1; c < columns; ++c) {
            state = state * 1664525 + 1013904223;
            text += static_cast<char>('1' + (state >> 24) % 9);
            text += static_cast<char>('0' + (state >> 16) % 10);
            text += static_cast<char>('0' + (state >> 8) % 10);
            text += ',';
        }
        text += i % 2 ? "a\n" : "b\n";
    }
    return text;
}

TEST_F(KnnCommand, MemoryIsTwiceTheNumbersAtMost) {
    constexpr std::size_t kBeside = 64 << 20;  // the program, the columns, and what is being read, compared and written
    for (const auto& [rows, columns] : {std::pair{300, 20'000}, {600'000, 6}}) {
        const std::string table = folder.file("table.csv", whole_numbers(rows, columns));
        const std::string few = folder.file("few.csv", whole_numbers(20, columns));
        const std::size_t numbers = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * 8;
        const std::size_t peak = peak_of({"--train", table, "--test", few, "--k", "3", "-o", folder / "out.csv"});
        EXPECT_GT(peak, numbers) << rows << " x " << columns;
#if !defined(__SANITIZE_ADDRESS__)
        EXPECT_LT(peak, 2 * numbers + kBeside) << rows << " x " << columns;
        EXPECT_LT(peak_of({"--data", table, "--k", "3", "--test-rows", "50"}), 2 * numbers + kBeside)
            << rows << " x " << columns;
#endif
    }
}

TEST(Split, IsThePublishedShuffle) {
    // The first outputs of SplitMix64 with seed 0 are E220A8397B1DCDAF, 6E789E6AA1B965F4, 06C45D188009454F;
    // modulo 4, 3 and 2 they are 3, 0 and 1, so that only rows 2 and 0 change places: 2 1 0 3.
    const auto split = io::random_split(4, 0.5, 0);
    EXPECT_EQ(split.test, (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(split.train, (std::vector<std::size_t>{0, 3}));
    for (const double fraction : {1e-9, 0.999999}) {
        const auto extreme = io::random_split(5, fraction, 3);
        EXPECT_FALSE(extreme.test.empty());
        EXPECT_FALSE(extreme.train.empty());
        EXPECT_EQ(extreme.test.size() + extreme.train.size(), 5U);
    }
    EXPECT_EQ(io::tail_split(5, 2).test, (std::vector<std::size_t>{3, 4}));
}

}  // namespace
}  // namespace espalier::bench
