// Tables as people have them, through `espalier knn`: the right answer, or a refusal that names the option.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

class KnnTables : public testing::Test {
protected:
    [[nodiscard]] Finished run(const std::string& arguments, const std::string& before = {}) const {
        return run_espalier(folder, "knn " + arguments, before);
    }
    [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
        return quoted(folder.file(name, content)) + " ";
    }
    void expect_output(const std::string& arguments, const std::string& output) const {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.code, 0) << arguments << "\n" << finished.err;
        EXPECT_EQ(finished.out, output) << arguments;
    }
    void expect_failure(const std::string& arguments, int code, std::initializer_list<const char*> parts) const {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.code, code) << arguments << "\n" << finished.err;
        EXPECT_EQ(finished.out, "") << arguments;
        expect_holds(finished.err, parts);
    }

    TemporaryFolder folder;
};

TEST_F(KnnTables, LinesEndAsTheyLike) {
    const std::string all = "row,predicted,neighbour_1,distance_1\n1,p,1,0\n2,q,2,0\n3,p,3,0\n";
    const std::string test = "--test " + file("test.csv", "a,b\r1,2\r8,9\r5,5\r") + "--k 1 --neighbours --quiet ";
    for (const char* train : {"a,b,cls\r1,2,p\r8,9,q\r5,5,p", "a,b,cls\r1,2,p\r8,9,q\r5,5,p\r",
                              "a,b,cls\r\n1,2,p\r\n8,9,q\r\n5,5,p\r\n", "a,b,cls\n1,2,p\r8,9,q\r\n5,5,p\r",
                              "a,b,cls\r\"1\",2,\"p\"\r8,\"9\",q\r5,5,p", "\r\ra,b,cls\r\r1,2,p\r8,9,q\r5,5,p",
                              "\xEF\xBB\xBF"
                              "a,b,cls\r1,2,p\r8,9,q\r5,5,p\r\r"})
        expect_output("--train " + file("train.csv", train) + test, all);
    const std::string cr = file("cr.csv", "a,b,cls\r1,2,p\r8,9,q");
    expect_output("--train " + cr + "--test " + cr + "--k 1", "accuracy 1.000000 (2 of 2 rows)\n");
    // Line ends in quotes are part of the cell, and counted.
    expect_failure("--data " + file("q.csv", "a,b\r\"x\ry\",p\r\"x\r\ny\",q\rred,p,1\r"), 4,
                   {"q.csv: line 6: 3 fields"});
    expect_failure("--data " + file("q.csv", "a,b\r1,p\rtwo,q\r3,p\r"), 4, {"q.csv: line 3, column 'a'", "'two'"});
}

TEST_F(KnnTables, GroupedNumbersNeedAnOption) {
    std::string grouped = "income,cls\n", plain = "income,cls\n";
    for (int i = 0; i < 40; ++i) {
        const int thousands = i % 2 ? 60 + i : 10 + i / 2, rest = 100 + 7 * i;
        const std::string label = i % 2 ? ",hi\n" : ",lo\n";
        grouped += "\"" + std::to_string(thousands) + "," + std::to_string(rest) + ".53\"" + label;
        plain += std::to_string(1000 * thousands + rest) + ".53" + label;
    }
    const std::string with_commas = "--data " + file("grouped.csv", grouped) + "--k 3 --quiet ";
    expect_failure(with_commas, 4, {"line 2, column 'income'", "'10,100.53'", "--thousands ','", "--nominal 1"});
    const std::string right = run("--data " + file("plain.csv", plain) + "--k 3 --quiet").out;
    EXPECT_EQ(right.substr(0, 12), "accuracy 1.0");
    expect_output(with_commas + "--thousands ,", right);
    expect_failure(with_commas + "--thousands , --decimal ,", 2, {"--thousands and --decimal are both ','"});
    expect_failure(with_commas + "--thousands x", 2, {"--thousands"});
    const std::string german = "--train " + file("g.csv", "v;c\n1.234.567,8;a\n2,5;b\n") + "--test " +
                               file("t.csv", "v\n1.234.566\n3\n") + "--delimiter ';' --decimal , --k 1 --quiet ";
    expect_failure(german, 4, {"'1.234.567,8'", "--thousands '.'"});
    expect_output(german + "--thousands . --neighbours",
                  "row,predicted,neighbour_1,distance_1\n1,a,1,1.8000000000465661\n2,b,2,0.5\n");
    const std::string dates = "--train " + file("d.csv", "when,c\n2024-01-01,a\n2024-12-31,b\n2024-01-05,a\n") +
                              "--test " + file("t.csv", "when\n2024-01-03T12:00\n2025-01-01\n") + "--k 1 --quiet ";
    expect_failure(dates, 4, {"column 'when'", "'2024-01-01'", "--numeric 1", "--nominal 1", "--ignore 1"});
    expect_output(dates + "--numeric when --neighbours", "row,predicted,neighbour_1,distance_1\n1,a,3,1.5\n2,b,2,1\n");
}

TEST_F(KnnTables, ClassesThatAreEqualNumbersAreOne) {
    const std::string train = "--train " + file("train.csv", "x,cls\n1,0\n2,0\n8,1\n9,1\n") + "--k 1 --quiet ";
    for (const char* labels : {"0.0,1.0", "0,1", "-0,1e0", "0.000,+1"}) {
        const std::string text(labels);
        const auto comma = text.find(',');
        const std::string test = "x,cls\n1.5," + text.substr(0, comma) + "\n8.5," + text.substr(comma + 1) + "\n";
        expect_output(train + "--test " + file("test.csv", test), "accuracy 1.000000 (2 of 2 rows)\n");
    }
    expect_output(train + "--test " + file("test.csv", "x,cls\n1.5,1.0\n") + "-o -", "row,predicted,cls\n1,0,1\n");
}

TEST_F(KnnTables, AForcedPipelineRunsWhereNothingIsMissing) {
    const std::string table = file("variant.csv", "x,y,t\n1,2,a\n3,4,b\n5,6,a\n");
    const std::string arguments = "--train " + table + "--test " + table + "--k 1 --device cpu ";
    for (const std::string variant : {"cpu_two_stage", "cpu_fused_avx2", "cpu_fused_avx512"}) {
        const Finished option = run(arguments + "--variant " + variant);
        const Finished environment = run(arguments, "ESPALIER_FORCE_VARIANT=knn/" + variant + " ");
        const Finished plain = run(arguments, "ESPALIER_FORCE_VARIANT=" + variant + " ");
        if (option.code != 0) {  // a processor without these instructions
            EXPECT_EQ(option.err.find("missing"), std::string::npos) << option.err;
            expect_holds(option.err, {"AVX"});
            continue;
        }
        EXPECT_EQ(option.out, "accuracy 1.000000 (3 of 3 rows)\n");
        expect_holds(option.err, {("by knn/" + variant).c_str()});
        EXPECT_TRUE(environment.code == 0 || plain.code == 0) << environment.err << plain.err;
    }
    // With missing cells the same pipelines still say so.
    const std::string gap = file("gap.csv", "x,y,t\n1,2,a\n,4,b\n5,6,a\n");
    const Finished refused = run("--train " + gap + "--test " + gap + "--k 1 --device cpu --variant cpu_fused_avx2");
    EXPECT_NE(refused.code, 0);
    const Finished query = run("--train " + table + "--test " + gap + "--k 1 --device cpu --variant cpu_fused_avx2");
    EXPECT_NE(query.code, 0);
    EXPECT_EQ(query.out, "");
}

TEST_F(KnnTables, AnEmptyLabelColumnIsPredicted) {
    const std::string train = "--train " + file("train.csv", "x,y,t\n1,2,a\n3,4,b\n5,6,a\n") + "--k 1 --quiet ";
    for (const char* test : {"x,y,t\n1,2,\n4,4,\n", "1,2,\n4,4,\n", "t,x,y\nNA,1,2\n,4,4\n"})
        expect_output(train + "--test " + file("test.csv", test), "row,predicted\n1,a\n2,b\n");
    const Finished mixed = run(train + "--test " + file("test.csv", "x,y,t\n1,2,\n4,4,b\n"));
    EXPECT_EQ(mixed.code, 4);
    expect_holds(mixed.err, {"line 3, column 't'", "all of them, or none"});
    const Finished ignored = run("--train " + file("train.csv", "x,y,t\n1,2,a\n3,4,b\n5,6,a\n") + "--test " +
                                 file("test.csv", "x,y,t\n1,2,\n4,4,\n") + "--k 1 --ignore t");
    expect_holds(ignored.err, {"hint: the label is 'y', the last column that is not left out", "--label"});
}

TEST_F(KnnTables, WhatSaysNothingIsLeftOut) {
    const std::string train = "--train " + file("train.csv", "x,c\n1,a\n9,b\n") + "--k 1 --quiet ";
    const std::string test = "--test " + file("test.csv", "note,x\nhello,1\nyou,9\n");
    expect_failure(train + test, 4, {"column 'note' is not in the training table", "--ignore"});
    expect_output(train + test + "--ignore note", "row,predicted\n1,a\n2,b\n");
    expect_failure(train + test + "--ignore note,nothing", 4, {"has no column 'nothing' for --ignore"});
    expect_failure("--data " + file("e.csv", "a,b,c,y\n1,,,p\n2,,NA,q\n"), 4, {"columns 'b', 'c'", "--ignore 2,3"});
    std::string indexed = ",f,c\n";
    for (int i = 0; i < 20; ++i) indexed += std::to_string(i) + "," + std::to_string(i % 2) + (i % 2 ? ",a\n" : ",b\n");
    const std::string data = "--data " + file("index.csv", indexed) + "--k 1 ";
    expect_holds(run(data).err, {"hint: column 'column 1' numbers the rows (0 to 19)", "--ignore 1"});
    expect_output(data + "--ignore 1 --quiet", "accuracy 1.000000 (6 of 6 rows)\n");
}

TEST_F(KnnTables, OtherSeparatorsAndComments) {
    const std::string right = "row,predicted\n1,a\n2,b\n";
    const std::string test = "--test " + file("test.csv", "x,y\n1,1\n9,9\n") + "--k 1 --quiet ";
    for (const char* train : {"sep=;\nx;y;c\n1;1;a\n9;9;b\n", "\"sep=;\"\r\nx;y;c\r\n1;1;a\r\n9;9;b\r\n",
                              "\xEF\xBB\xBFsep=;\rx;y;c\r1;1;a\r9;9;b\r", "sep=\t\nx\ty\tc\n1\t1\ta\n9\t9\tb\n",
                              "sep=,\nx,y,c\n1,1,a\n9,9,b\n"})
        expect_output("--train " + file("train.csv", train) + test, right);
    expect_failure("--train " + file("train.csv", "sep=;\nx;y;c\n1;1;a\n") + test + "--delimiter tab", 4,
                   {"train.csv: line 1: 'sep=;'", "--delimiter"});
    expect_output("--train " + file("train.csv", "# made by \"hand\nx,y,c\n  # 1,1,b\n1,1,a\n\n9,9,b\n# end\n") + test +
                      "--comment '#'",
                  right);
    expect_failure("--train " + file("train.csv", "x,y,c\n1,1,a\n# a comment\n9,9,b\n") + test, 4,
                   {"train.csv: line 3", "--comment '#'"});
    expect_failure("--train " + file("train.csv", "x,y,c\n1,1,a\n") + test + "--comment ,", 2, {"--comment"});
    const std::string blanks = "--train " + file("b.csv", "  x   y\tc\n 1  1  a  \n9\t \t9 \"b\"\n") + "--test " +
                               file("t.csv", "x y\n1  1\n 9   9\n") + "--delimiter blanks --k 1 --quiet ";
    expect_output(blanks, right);
}

TEST_F(KnnTables, ArffAndLibsvmAreTables) {
    const std::string arff = "@relation t\n@attribute x numeric\n@attribute y numeric\n@attribute c {a,b}\n@data\n";
    const std::string right = "row,predicted\n1,a\n2,b\n";
    const std::string test = "--test " + file("test.csv", "x,y\n1,1\n9,9\n") + "--k 1 --quiet ";
    expect_output("--train " + file("train.arff", arff + "1,1,a\n9,9,b\n") + test, right);
    expect_output("--train " + file("by_content", "% who\n\n" + arff + "{0 1, 1 1}\n{0 9, 1 9, 2 b}\n") + test, right);
    expect_output("--train " + file("train.csv", "x,y,c\n1,1,a\n9,9,b\n") + "--test " +
                      file("test.arff", arff + "1,1,?\n9,9,?\n") + "--k 1 --quiet",
                  right);
    const std::string svm = file("train.svm", "1 1:1 3:1\n-1 1:9 2:1 # far\n");
    expect_output("--train " + svm + "--test " + file("test.svm", "-1 1:8\n1 3:0.5\n") + "--k 1 --quiet -o -",
                  "row,predicted,label\n1,-1,-1\n2,1,1\n");
    expect_failure("--train " + svm + "--test " + file("more.svm", "1 4:1\n") + "--k 1", 4,
                   {"more.svm: line 1", "index 4 is beyond the 3 attributes"});
    expect_failure("--data " + file("bad.arff", arff + "1,one,a\n"), 4, {"bad.arff: line 6", "'one'", "'y'"});
    expect_failure("--format csv --data " + svm + "--k 1", 4, {"train.svm", "--delimiter"});
}

TEST_F(KnnTables, ExactMetricsWeightsAndRadius) {
    const std::string train = "--train " + file("train.csv", "x,y,c\n0,0,a\n1,4,b\n4,4,b\n0,9,a\n") + "--quiet ";
    const std::string test = "--test " + file("test.csv", "x,y\n0,3\n50,50\n");
    // |0 - 1|^3 + |3 - 4|^3 = 2, and its cube root.
    expect_output(train + "--test " + file("one.csv", "x,y\n0,3\n") + "--k 1 --neighbours --metric minkowski --p 3",
                  "row,predicted,neighbour_1,distance_1\n1,b,2,1.2599210498948732\n");
    expect_output(train + test + "--radius 3 --neighbours",
                  "row,predicted,neighbours,distances\n1,a,2 1,1.4142135623730951 3\n2,?,,\n");
    expect_output(train + test + "--k 1 --attribute-weights y=0,1=2", "row,predicted\n1,a\n2,b\n");
    expect_failure(train + test + "--attribute-weights z=1", 2, {"'z'", "no attribute"});
    expect_failure(train + test + "--attribute-weights c=1", 2, {"'c'", "the label"});
    expect_failure(train + test + "--attribute-weights x=-1", 2, {"0 or more"});
    expect_failure(train + test + "--attribute-weights x=0,y=0", 2, {"no column"});
    expect_failure(train + test + "--radius -1", 2, {"--radius"});
    expect_failure(train + test + "--k 5000", 2, {"4 rows"});
    const std::string places =
        "--train " + file("places.csv", "lat,lon,c\n52.52,13.4,berlin\n48.86,2.35,paris\n") + "--quiet --k 1 ";
    expect_output(places + "--metric haversine --test " + file("lyon.csv", "lat,lon\n45.76,4.84\n"),
                  "row,predicted\n1,paris\n");
    expect_failure(places + "-o " + quoted(folder / "none.csv") + " --metric haversine --test " +
                       file("swapped.csv", "lat,lon\n4.84,45.76\n95,1\n"),
                   2, {"latitude", "95"});
    const std::string words = "--train " + file("words.csv", "u,v,w,c\na,b,c,p\na,x,x,q\n") + "--quiet --k 2 ";
    expect_output(words + "--metric hamming --neighbours --test " + file("word.csv", "u,v,w\na,b,x\n"),
                  "row,predicted,neighbour_1,distance_1,neighbour_2,distance_2\n"
                  "1,p,1,0.3333333333333333,2,0.3333333333333333\n");
}

TEST_F(KnnTables, ClassesHaveProbabilities) {
    const std::string train =
        "--train " + file("train.csv", "x,c\n0,low\n1,low\n3,\"high, up\"\n100,far\n") + "--quiet ";
    const std::string test = "--test " + file("test.csv", "x\n0\n2\n\n") + "--probabilities ";
    expect_output(train + test + "--k 3",
                  "row,predicted,probability_far,\"probability_high, up\",probability_low\n"
                  "1,low,0,0.3333333333333333,0.6666666666666666\n"
                  "2,low,0,0.3333333333333333,0.6666666666666666\n");
    expect_output(train + test + "--k 3 --weights distance",
                  "row,predicted,probability_far,\"probability_high, up\",probability_low\n"
                  "1,low,0,0,1\n2,low,0,0.4,0.6\n");
    const std::string gap = "--test " + file("gap.csv", "x,z\n,1\n") + "--probabilities ";
    const std::string wide = "--train " + file("wide.csv", "x,z,c\n1,,a\n2,,b\n3,1,a\n") + "--quiet --k 1 ";
    expect_output(wide + "--ignore z --test " + file("none.csv", "x\n?\n") + "--probabilities",
                  "row,predicted,probability_a,probability_b\n1,?,?,?\n");
    expect_output(wide + gap, "row,predicted,probability_a,probability_b\n1,a,1,0\n");
    expect_failure(train + test + "--regression", 2, {"--probabilities", "--regression"});
}

TEST_F(KnnTables, LabelsThatTrainingNeverSawMayCountAsWrong) {
    const std::string both = "--train " + file("train.csv", "x,c\n1,a\n9,b\n") + "--test " +
                             file("test.csv", "x,c\n1,a\n2,new\n9,b\n8,\"other, too\"\n") + "--k 1 ";
    expect_failure(both, 4, {"class 'new' does not occur", "--unknown-labels wrong"});
    const Finished counted = run(both + "--unknown-labels wrong -o " + quoted(folder / "out.csv"));
    EXPECT_EQ(counted.out, "accuracy 0.500000 (2 of 4 rows)\n");
    expect_holds(counted.err, {"rows whose class no training row has: 2; counted as wrong"});
    EXPECT_EQ(read_bytes(folder / "out.csv"), "row,predicted,c\n1,a,a\n2,a,new\n3,b,b\n4,b,\"other, too\"\n");
    EXPECT_EQ(nlohmann::json::parse(run(both + "--unknown-labels wrong --json --quiet").out).at("unknown_labels"), 2);
}

TEST_F(KnnTables, EachRowByAllOthers) {
    // Rows 1 and 2 are the same: each is the other's nearest. A row that is left out has no say in itself.
    const std::string data = "--data " + file("t.csv", "x,c\n5,a\n5,b\n6,a\n9,\n20,b\n") + "--quiet --leave-one-out ";
    const Finished one = run(data + "--k 1 --neighbours -o " + quoted(folder / "out.csv"));
    EXPECT_EQ(one.out, "accuracy 0.250000 (1 of 4 rows)\n") << one.err;
    EXPECT_EQ(read_bytes(folder / "out.csv"),
              "row,predicted,c,neighbour_1,distance_1\n1,b,a,2,0\n2,a,b,1,0\n3,a,a,1,1\n5,a,b,3,14\n");
    // 300 equal rows: the row itself is not among the first two.
    std::string equal = "x,c\n";
    for (int i = 0; i < 300; ++i) equal += i == 299 ? "1,b\n" : "1,a\n";
    expect_output("--data " + file("equal.csv", equal) + "--k 1 --leave-one-out --quiet",
                  "accuracy 0.996667 (299 of 300 rows)\n");
    const Finished regression =
        run("--data " + file("r.csv", "x,y\n1,10\n2,20\n4,40\n") + "--k 1 --leave-one-out --quiet --regression -o -");
    EXPECT_EQ(regression.out, "row,predicted,y\n1,20,10\n2,10,20\n3,20,40\n");
    expect_failure(data + "--k 4", 2, {"k is 4", "4 rows, one of which is left out", "smaller k"});
    expect_failure(data + "--k 1 --scale standard", 2, {"--leave-one-out", "--scale"});
    expect_failure("--train a.csv --test b.csv --leave-one-out", 2, {"--leave-one-out"});
    expect_failure("--data " + file("one.csv", "x,c\n5,a\n") + "--leave-one-out", 4, {"one row"});
}

TEST_F(KnnTables, TheBestNumberOfNeighboursIsChosen) {
    // Every fourth label is wrong: one neighbour repeats the mistake, seven outvote it.
    std::string noisy = "x,c\n";
    for (int i = 0; i < 60; ++i)
        noisy += std::to_string(i < 30 ? i : 1000 + i) + ((i % 4 == 0) != (i < 30) ? ",a\n" : ",b\n");
    const std::string data = "--data " + file("noisy.csv", noisy) + "--test-rows 4 ";
    const Finished chosen = run(data + "--choose-k 7,1,3 --json");
    EXPECT_EQ(chosen.code, 0) << chosen.err;
    expect_holds(chosen.err, {"k = 1: accuracy 0.", "k = 3: accuracy 0.", "k = 7: accuracy 0.", "is taken"});
    const auto best = nlohmann::json::parse(chosen.out).at("k");
    double highest = -1;
    std::int64_t expected = 0;
    for (const std::int64_t k : {1, 3, 7}) {
        std::string train = "x,c\n";
        for (std::size_t from = 4, i = 0; i < 56; ++i, from = noisy.find('\n', from) + 1)
            train += noisy.substr(from, noisy.find('\n', from) + 1 - from);
        const auto alone = nlohmann::json::parse(
            run("--data " + file("train.csv", train) + "--leave-one-out --json --quiet --k " + std::to_string(k)).out);
        if (alone.at("accuracy") > highest) {
            highest = alone.at("accuracy");
            expected = k;
        }
    }
    EXPECT_EQ(best, expected);
    EXPECT_NE(best, 1);
    expect_failure(data + "--choose-k 1,100", 2, {"k is 100", "smaller k"});
    expect_failure(data + "--choose-k 0,1", 2, {"--choose-k"});
    expect_failure(data + "--choose-k 1,x", 2, {"--choose-k"});
    expect_failure(data + "--choose-k 1,3 --k 1", 2, {"--choose-k"});
}

}  // namespace
}  // namespace espalier::bench
