// `espalier judge` as a user runs it: measured on this machine, and graded from records that were made up.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/bench/families/domain.hpp"
#include "harness/bench/judge/over_data.hpp"
#include "harness/bench/records/results.hpp"
#include "tests/support/invented_sweep.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

/// Tests run beside others.
constexpr const char* kBesideOthers = "ESPALIER_WAIT_FOR_QUIET=0 ESPALIER_ALLOW_DISTURBED=true ";

class JudgeCommand : public testing::Test {
protected:
    [[nodiscard]] Finished run(const std::string& command, const std::string& arguments,
                               const std::string& before = {}) const {
        return run_espalier(folder_, command + " --results " + quoted(results_.string()) + " " + arguments,
                            kBesideOthers + before);
    }
    [[nodiscard]] Finished train(const std::string& arguments = {}) const {
        return run("train", "--predicted 200 " + arguments);
    }

    TemporaryFolder folder_;
    std::filesystem::path results_ = folder_.path() / "results";
};

TEST_F(JudgeCommand, MeasuresUnseenProblemsOfThisMachine) {
    const std::string options = "--device cpu --family dot --problems 3 --seconds 0.05s --max-time 60s --json";
    const Finished first = run("judge", options);
    ASSERT_EQ(first.code, 0) << first.err;
    const auto output = nlohmann::json::parse(first.out).at(0);
    EXPECT_EQ(output.at("family"), "dot");
    EXPECT_EQ(output.at("unseen").at("problems"), 3);
    const auto drawn = draw_problems(*find_family("dot"), DeviceKind::cpu, 2026, Stream::unseen, 3);
    for (const auto& verdict : output.at("verdicts")) {
        EXPECT_EQ(std::ranges::count(drawn, verdict.at("problem").get<std::string>()), 1);
        EXPECT_GE(verdict.at("regret").get<double>(), 1);
    }
    // There is no tree of this device in these results, so that nothing says which one the figures would be of.
    EXPECT_EQ(output.at("kept"), false);
    const auto unseen = unseen_folder(results_ / output.at("device").get<std::string>());
    EXPECT_TRUE(std::filesystem::exists(unseen / "dot.jsonl.xz"));
    EXPECT_EQ(load_results(unseen).cases.size() % 3, 0U);

    // Measured once, graded as often as one likes.
    const Finished again = run("judge", options + " --resume");
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.out, first.out);
    const Finished one = run("judge", options + " --resume --variant dot/cpu_openmp");
    ASSERT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(one.out, first.out) << "the others stay as they are";
    const Finished graded = run("judge", "--from-results --json --family dot");
    ASSERT_EQ(graded.code, 0) << graded.err;
    EXPECT_EQ(graded.out, first.out);
    EXPECT_EQ(run_espalier(folder_, "verify " + quoted(results_.string())).code, 0);
}

TEST_F(JudgeCommand, ForeseesWithoutMeasuring) {
    const auto drawn = draw_problems(*find_family("histogram"), DeviceKind::cpu, 2026, Stream::unseen, 4);
    const auto with_others = learn::with_other_data(*find_family("histogram"), DeviceKind::cpu, drawn, 3);
    EXPECT_GT(with_others.size(), drawn.size());
    for (const auto& [options, problems] :
         {std::pair(std::string("--data 1"), drawn), std::pair(std::string(), with_others)}) {
        const Finished dry = run("judge", "--family histogram --problems 4 --dry-run " + options);
        ASSERT_EQ(dry.code, 0) << dry.err;
        expect_holds(dry.err, {(std::to_string(problems.size()) + " problems").c_str()});
        for (const std::string& key : problems) expect_holds(dry.out, {("|" + key + "|").c_str()});
    }
    EXPECT_FALSE(std::filesystem::exists(results_));
}

TEST_F(JudgeCommand, EndsAsASweepDoesWhereADeviceIsLeftOut) {
    for (const char* const command : {"judge", "sweep"}) {
        const Finished dry = run(command, "--family histogram --device cpu,17 --dry-run");
        EXPECT_EQ(dry.code, 3) << command << ": " << dry.err;
        expect_holds(dry.err, {"left out: device 17:"});
    }
}

TEST_F(JudgeCommand, RefusesWhatCannotBeJudged) {
    const Finished family = run("judge", "--family polyphase");
    EXPECT_EQ(family.code, 2);
    expect_holds(family.err, {"no domain"});
    EXPECT_EQ(run("judge", "--family dots").code, 2);
    const Finished alone = run("judge", "--family dot --variant cpu_openmp");
    EXPECT_EQ(alone.code, 2);
    expect_holds(alone.err, {"--resume"});
    const Finished nothing = run("judge", "--from-results --family dot");
    EXPECT_EQ(nothing.code, 4);
    expect_holds(nothing.err, {"no unseen problems"});
}

/// A device with a trained tree and with unseen problems on file.
class JudgedDevice : public JudgeCommand {
protected:
    void SetUp() override {
        save(device_folder_, family_.default_problems(DeviceKind::cpu, Effort::standard));
        save(unseen_folder(device_folder_), draw_problems(family_, DeviceKind::cpu, 7, Stream::unseen, 30));
        ASSERT_EQ(train().code, 0);
    }

    void save(const std::filesystem::path& folder, const std::vector<std::string>& problems) const {
        save_results(folder, {.device = device_, .cases = invented_sweep(family_, device_, problems, 3), .missing = {}},
                     Packing::packed);
    }
    [[nodiscard]] Finished judge(bool with_its_tree = true) const {
        return run("judge", "--from-results --device " + device_.key,
                   with_its_tree ? "ESPALIER_SELECTORS=" + quoted((results_ / "selectors").string()) + " " : "");
    }
    [[nodiscard]] nlohmann::ordered_json entry() const {
        return nlohmann::ordered_json::parse(read_bytes(selector_)).at("families").at("dot");
    }

    const Family& family_ = *find_family("dot");
    DeviceInfo device_ = invented_devices().at(1);
    std::filesystem::path device_folder_ = results_ / device_.key;
    std::string selector_ = (device_folder_ / "selector.json").string();
    std::string tree_ = (results_ / "selectors/dot" / (device_.key + ".tree")).string();
};

TEST_F(JudgedDevice, FiguresGoToTheSelectorAndStayWithTheirTree) {
    const Finished judged = judge();
    ASSERT_EQ(judged.code, 0) << judged.err;
    expect_holds(judged.out, {"worst: elements="});
    const auto unseen = entry().at("unseen");
    EXPECT_EQ(unseen.at("problems"), 30);
    EXPECT_GE(unseen.at("regret_max"), unseen.at("p99"));
    const std::string with_figures = read_bytes(selector_);
    const Finished same = train();
    EXPECT_EQ(same.code, 0);
    EXPECT_EQ(same.err.find("earlier tree"), std::string::npos);
    EXPECT_EQ(read_bytes(selector_), with_figures);
    EXPECT_EQ(train("--check").code, 0);

    // Of another tree.
    std::string text = with_figures;
    const auto at = text.find("\"tree_sha256\": \"") + 16;
    text[at] = text[at] == '0' ? '1' : '0';
    std::ofstream(selector_, std::ios::binary) << text;
    const Finished other = train();
    EXPECT_EQ(other.code, 0);
    expect_holds(other.err, {"earlier tree", "--from-results"});
    EXPECT_FALSE(entry().contains("unseen"));
    EXPECT_EQ(judge().code, 0);
    EXPECT_EQ(read_bytes(selector_), with_figures);
}

TEST_F(JudgedDevice, FiguresOfATreeThatIsNotInTheResultsAreNotKept) {
    const Finished judged = judge(false);
    EXPECT_EQ(judged.code, 0) << judged.err;
    expect_holds(judged.err, {"not kept"});
    EXPECT_FALSE(entry().contains("unseen"));
}

TEST_F(JudgedDevice, TimesOfOtherSourceAreTold) {
    EXPECT_EQ(judge().err.find("old times"), std::string::npos);
    DeviceResults results = load_results(unseen_folder(device_folder_));
    for (CaseRecord& record : results.cases) record.provenance.source_id = std::string(64, '0');
    save_results(unseen_folder(device_folder_), results);
    expect_holds(judge().err, {"graded by old times", "dot/cpu_scalar"});
}

TEST_F(JudgedDevice, TrainingReadsNoUnseenProblem) {
    const std::string tree = read_bytes(tree_);
    const auto unseen = unseen_folder(device_folder_);
    save(unseen, draw_problems(family_, DeviceKind::cpu, 8, Stream::unseen, 50));
    EXPECT_EQ(train("--check").code, 0);
    for (const char* file : {"dot.jsonl.xz", "device.json"}) std::ofstream(unseen / file) << "no records\n";
    EXPECT_EQ(train("--check").code, 0) << "it does not even look";
    EXPECT_EQ(read_bytes(tree_), tree);
}

TEST_F(JudgedDevice, VerifyLooksIntoUnseenProblemsToo) {
    const auto verify = [&] { return run_espalier(folder_, "verify " + quoted(results_.string())); };
    const Finished sound = verify();
    EXPECT_EQ(sound.code, 0) << sound.err;
    expect_holds(sound.out, {unseen_folder(device_folder_).string().c_str()});
    std::ofstream(unseen_folder(device_folder_) / "dot.jsonl.xz") << "no records\n";
    EXPECT_EQ(verify().code, 4);
    EXPECT_EQ(run_espalier(folder_, "verify " + quoted(device_folder_.string())).code, 4);
}

TEST_F(JudgedDevice, WritesTheDocumentedSchema) {
    ASSERT_EQ(judge().code, 0);
    const char* validate =
        "import json, sys, jsonschema; "
        "jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))";
    const std::string command = quoted(ESPALIER_PYTHON) + " -c " + quoted(validate) + " " +
                                quoted(ESPALIER_SCHEMAS "/selector.schema.json") + " " + espalier::quoted(selector_);
    EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace espalier::bench
