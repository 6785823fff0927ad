// `espalier train` as a user and as CI run it: files written, checked, kept whole, and mistakes.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/bench/records/results.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "tests/support/invented_sweep.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

class TrainCommand : public testing::Test {
protected:
    void SetUp() override {
        const Family& family = *find_family("convolution_2d");
        for (const DeviceInfo& device : invented_devices()) save_sweep(family, device, 3);
    }

    void save_sweep(const Family& family, const DeviceInfo& device, std::uint64_t seed,
                    Effort effort = Effort::quick) const {
        DeviceResults results{.device = device};
        results.cases = invented_sweep(family, device, family.default_problems(device.kind, effort), seed);
        save_results(results_ / device.key, results);
    }

    /// From few predicted problems: most of the time goes there.
    [[nodiscard]] Finished train(const std::string& arguments = "", int predicted = 200) const {
        return run_espalier(folder_, "train --results " + quoted(results_.string()) + " --output " +
                                         quoted(folder_ / "selectors") + " --predicted " + std::to_string(predicted) +
                                         " " + arguments);
    }

    [[nodiscard]] std::string selector(const std::string& device) const {
        return folder_ / ("selectors/convolution_2d/" + device + ".tree");
    }

    TemporaryFolder folder_;
    std::filesystem::path results_ = folder_.path() / "results";
};

/// The same CPU without AVX-512: it runs other code.
DeviceInfo narrowed(DeviceInfo wide) {
    wide.key = "cpu-avx2-64t";
    wide.avx512 = wide.avx512_vnni = false;
    return wide;
}

TEST_F(TrainCommand, TrainsEveryDeviceAndChecksItsOwnWork) {
    const auto first = train();
    ASSERT_EQ(first.code, 0) << first.err;
    for (const DeviceInfo& device : invented_devices()) {
        expect_holds(first.out, {device.key.c_str()});
        expect_holds(read_bytes(selector(device.key)), {("\"device_key\": \"" + device.key + "\"").c_str()});
        const auto summary = nlohmann::json::parse(read_bytes((results_ / device.key / "selector.json").string()));
        const auto& entry = summary.at("families").at("convolution_2d");
        EXPECT_GE(entry.at("regret_geomean").get<double>(), 1);
        EXPECT_GE(entry.at("best_single_geomean").get<double>(), entry.at("regret_geomean").get<double>());
        EXPECT_TRUE(entry.at("dispatch_ns").is_null());
    }
    const auto check = train("--check");
    EXPECT_EQ(check.code, 0) << check.err;
    EXPECT_EQ(check.out, first.out);
}

// Without a compiler: what was trained is loaded, and decides as the tree that it is.
TEST_F(TrainCommand, TellsHowToUseItsTreesWithoutACompiler) {
    const auto run = train("--device cpu-avx512-64t");
    ASSERT_EQ(run.code, 0) << run.err;
    const std::string setting = "ESPALIER_SELECTORS='" + (folder_ / "selectors") + "'";
    expect_holds(run.err, {setting.c_str(), "without a compiler"});
    const auto tree = nlohmann::json::parse(read_bytes(selector("cpu-avx512-64t")));
    const auto explained = run_espalier(
        folder_,
        "explain --family convolution_2d --device cpu-avx512-64t --json --results " + quoted(results_.string()),
        setting + " ");
    ASSERT_EQ(explained.code, 0) << explained.err;
    const auto why = nlohmann::json::parse(explained.out);
    EXPECT_EQ(why.at("tree"), "exact");
    EXPECT_EQ(why.at("tree_file"), selector("cpu-avx512-64t"));
    EXPECT_EQ(why.at("tree_data_sha256"), tree.at("data_sha256"));
    // Nothing where nothing was written.
    for (const char* option : {"--check", "--quiet"})
        EXPECT_EQ(train(option).err.find("ESPALIER_SELECTORS"), std::string::npos) << option;
}

TEST_F(TrainCommand, TreesAloneAreTheSameTrees) {
    ASSERT_EQ(train("--trees").code, 0);
    const DeviceInfo device = invented_devices().front();
    EXPECT_FALSE(std::filesystem::exists(results_ / device.key / "selector.json"));
    ASSERT_EQ(train().code, 0);
    const std::string evaluated = read_bytes(selector(device.key));
    ASSERT_EQ(train("--trees").code, 0) << "of the size that was chosen by evaluating";
    EXPECT_EQ(read_bytes(selector(device.key)), evaluated);
    EXPECT_EQ(train("--check --trees").code, 0);
    std::ofstream(selector(device.key), std::ios::binary) << evaluated << "\n";
    EXPECT_EQ(train("--check --trees").code, 4);
    EXPECT_EQ(train("--trees --json").code, 2);
}

// Of committed results: invented ones give a tree of one leaf, which does not say it.
TEST_F(TrainCommand, PredictsAsManyProblemsAsItIsTold) {
    const std::string command = "train --trees --family distance --device cpu-emeraldrapids-generic-2t --results " +
                                quoted(ESPALIER_RESULTS) + " --output " + quoted(folder_ / "selectors");
    const std::string file = folder_ / "selectors/distance/cpu-emeraldrapids-generic-2t.tree";
    ASSERT_EQ(run_espalier(folder_, command + " --predicted 300").code, 0);
    expect_holds(read_bytes(file), {"\"predicted_problems\": 300,"});
    EXPECT_EQ(run_espalier(folder_, command + " --predicted 300 --check").code, 0);
    EXPECT_EQ(run_espalier(folder_, command + " --predicted 0 --check").code, 4);
}

TEST_F(TrainCommand, WritesFilesOfTheDocumentedSchemas) {
    const std::string problem = find_family("convolution_2d")->default_problems(DeviceKind::cpu, Effort::quick).front();
    const std::string weights = folder_.file("asked", "family=convolution_2d problem=" + problem + "\n");
    ASSERT_EQ(train().code, 0);
    ASSERT_EQ(train("--device cpu-avx512-64t --weights " + quoted(weights)).code, 0);
    expect_holds(read_bytes(selector("cpu-avx512-64t")), {"\"weights\": {"});
    const char* validate =
        "import json, sys, jsonschema; "
        "jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))";
    for (const DeviceInfo& device : invented_devices())
        for (const auto& [schema, file] :
             {std::pair<std::string, std::string>{"selector", (results_ / device.key / "selector.json").string()},
              {"tree", selector(device.key)}}) {
            const std::string command = quoted(ESPALIER_PYTHON) + " -c " + quoted(validate) + " " +
                                        quoted(ESPALIER_SCHEMAS "/" + schema + ".schema.json") + " " + quoted(file) +
                                        " 2>" + quoted(folder_ / "complaint.txt");
            EXPECT_EQ(std::system(command.c_str()), 0) << device.key << " " << file;
        }
}

TEST_F(TrainCommand, CheckNamesWhatDiffersAndWritesNothing) {
    ASSERT_EQ(train().code, 0);
    const std::string path = selector("gpu-sm90"), good = read_bytes(path);
    std::string bad = good;
    bad[bad.find("ranking")] = 'R';
    std::ofstream(path, std::ios::binary) << bad;
    auto check = train("--check");
    EXPECT_EQ(check.code, 4);
    expect_holds(check.err, {"gpu-sm90.tree: differs from line", "run `espalier train`"});
    EXPECT_EQ(read_bytes(path), bad);

    std::filesystem::remove(path);
    check = train("--check");
    EXPECT_EQ(check.code, 4);
    expect_holds(check.err, {"gpu-sm90.tree: is missing"});
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_EQ(train().code, 0);
    EXPECT_EQ(read_bytes(path), good);
}

TEST_F(TrainCommand, WeightsOfAProgramNeedTheirFileToCheck) {
    const Family& family = *find_family("convolution_2d");
    const std::string problem = family.default_problems(DeviceKind::cpu, Effort::quick).front();
    const std::string line = "family=convolution_2d problem=" + problem + " calls=3\n";
    const std::string weights = "--weights " + quoted(folder_.file("asked", line)),
                      others = "--weights " + quoted(folder_.file("others", line + line)),
                      device = "--device cpu-avx512-64t ";
    ASSERT_EQ(train(device).code, 0);
    Finished check = train(device + weights + " --check");
    EXPECT_EQ(check.code, 4);
    expect_holds(check.err, {"cpu-avx512-64t.tree: it was trained without weights: check it without --weights"});

    ASSERT_EQ(train(device + weights).code, 0);
    const auto summary = nlohmann::json::parse(read_bytes((results_ / "cpu-avx512-64t/selector.json").string()));
    const auto& entry = summary.at("families").at("convolution_2d").at("weights");
    EXPECT_EQ(entry.at("by"), "calls");
    EXPECT_EQ(entry.at("problems"), 1);
    expect_holds(read_bytes(selector("cpu-avx512-64t")), {entry.at("file_sha256").get<std::string>().c_str()});
    EXPECT_EQ(train(device + weights + " --check").code, 0);
    check = train(device + "--check");
    EXPECT_EQ(check.code, 4);
    expect_holds(check.err,
                 {"it was trained with weights, of a file with SHA-256 ", "check it with --weights and that"});
    check = train(device + others + " --check");
    EXPECT_EQ(check.code, 4);
    expect_holds(check.err, {"it was trained with other weights, of a file with SHA-256 "});
}

TEST_F(TrainCommand, WeightsOfNothingThatWasMeasuredWriteNothing) {
    const auto refused = [&](const std::string& text) {
        const Finished run = train("--weights " + quoted(folder_.file("asked", text)));
        EXPECT_EQ(run.code, 4) << text;
        return run.err;
    };
    EXPECT_NE(refused("family=dot problem=elements=77\n").find("`espalier sweep --problems "), std::string::npos);
    EXPECT_NE(refused("family=dot problem=elements=77 calls=-1\n").find("line 1: calls=-1"), std::string::npos);
    EXPECT_NE(refused("").find("lists no problem"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(selector("cpu-avx512-64t")));
    const std::string results = (results_ / "cpu-avx512-64t/selector.json").string();
    EXPECT_FALSE(std::filesystem::exists(results));
}

TEST_F(TrainCommand, CheckNoticesASelectorWithoutResults) {
    ASSERT_EQ(train().code, 0);
    std::filesystem::remove_all(results_ / "gpu-sm80");
    const auto check = train("--check");
    EXPECT_EQ(check.code, 4);
    expect_holds(check.err, {"gpu-sm80.tree: has no results"});
}

TEST_F(TrainCommand, KeepsWhatOthersMeasuredForTheSameData) {
    ASSERT_EQ(train("--device gpu-sm90").code, 0);
    const std::string path = (results_ / "gpu-sm90" / "selector.json").string();
    auto summary = nlohmann::ordered_json::parse(read_bytes(path));
    summary["families"]["convolution_2d"]["dispatch_ns"] = 12.5;
    std::ofstream(path) << summary.dump(2) << "\n";
    EXPECT_EQ(train("--device gpu-sm90 --check").code, 0);
    summary["families"]["convolution_2d"]["data_sha256"] = "of other data";
    std::ofstream(path) << summary.dump(2) << "\n";
    EXPECT_EQ(train("--device gpu-sm90 --check").code, 4);
}

// Killed whenever: a file is what it was or what it was to become, never a mixture.
TEST_F(TrainCommand, LeavesWholeFilesWhenKilled) {
    const std::vector<std::string> files{selector("gpu-sm90"), (results_ / "gpu-sm90" / "selector.json").string()};
    const auto contents = [&] {
        std::vector<std::string> all;
        for (const std::string& file : files) all.push_back(read_bytes(file));
        return all;
    };
    const auto devices = invented_devices();
    const auto device = std::find_if(devices.begin(), devices.end(), [](auto& d) { return d.key == "gpu-sm90"; });
    const auto measure = [&](std::uint64_t seed) { save_sweep(*find_family("convolution_2d"), *device, seed); };
    ASSERT_EQ(train("--device gpu-sm90").code, 0);
    const auto old_files = contents();
    measure(4);
    ASSERT_EQ(train("--device gpu-sm90").code, 0);
    const auto new_files = contents();
    for (std::size_t f = 0; f < files.size(); ++f) ASSERT_NE(old_files[f], new_files[f]);
    for (int i = 0; i < 30; ++i) {
        measure(i % 2 ? 4 : 3);
        const std::string command = "timeout -s KILL 0.0" + std::to_string(10 + 3 * i) + " " +
                                    quoted(ESPALIER_PROGRAM) + " train --predicted 200 --device gpu-sm90 --results " +
                                    quoted(results_.string()) + " --output " + quoted(folder_ / "selectors") +
                                    " >/dev/null 2>&1";
        static_cast<void>(std::system(command.c_str()));
        const auto now = contents();
        for (std::size_t f = 0; f < files.size(); ++f)
            EXPECT_TRUE(now[f] == old_files[f] || now[f] == new_files[f]) << files[f];
    }
    EXPECT_EQ(train("--device gpu-sm90").code, 0);
    EXPECT_EQ(contents(), new_files);
}

TEST_F(TrainCommand, PrintsJson) {
    const auto run = train("--json --quiet --device cpu-generic-1t");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    const auto list = nlohmann::json::parse(run.out);
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].at("family"), "convolution_2d");
    EXPECT_EQ(list[0].at("changed"), true);
}

TEST_F(TrainCommand, TellsWhichDecisionsChanged) {
    const auto first = train("--device gpu-sm90");
    ASSERT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(first.err.find("decided differently"), std::string::npos) << first.err;
    const auto devices = invented_devices();
    const auto device = std::find_if(devices.begin(), devices.end(), [](auto& d) { return d.key == "gpu-sm90"; });
    save_sweep(*find_family("convolution_2d"), *device, 4);
    const auto check = train("--device gpu-sm90 --check");
    EXPECT_EQ(check.code, 4);
    expect_holds(check.err,
                 {"gpu-sm90 convolution_2d: ", "problems are decided differently (other data); regret 1.", "->"});
    const auto json = nlohmann::json::parse(train("--device gpu-sm90 --json --quiet").out);
    EXPECT_FALSE(json[0].at("decisions").at("changes").empty());
    EXPECT_EQ(train("--device gpu-sm90").err.find("decided differently"), std::string::npos);
}

// A CPU of the same instruction set has a say in a tree, and of another one none.
TEST_F(TrainCommand, LearnsFromCpusThatAreAlike) {
    const Family& family = *find_family("convolution_2d");
    const auto devices = invented_devices();
    const DeviceInfo wide = *std::ranges::find(devices, "cpu-avx512-64t", &DeviceInfo::key);
    ASSERT_EQ(train("--device cpu-avx512-64t").code, 0);
    save_sweep(family, narrowed(wide), 5);
    EXPECT_EQ(train("--device cpu-avx512-64t --check").code, 0);
    DeviceInfo other = wide;
    other.key = "cpu-avx512-64t-too";
    save_sweep(family, other, 5);
    EXPECT_EQ(train("--device cpu-avx512-64t --check").code, 4);
}

// A GPU of the same compute capability has a say in a tree, and of another one none.
TEST_F(TrainCommand, LearnsFromDevicesThatAreAlike) {
    const Family& family = *find_family("convolution_2d");
    const auto devices = invented_devices();
    DeviceInfo other = *std::ranges::find(devices, "gpu-sm90", &DeviceInfo::key);
    const auto data = [&] {
        const auto summary = nlohmann::json::parse(read_bytes((results_ / "gpu-sm90/selector.json").string()));
        return summary.at("families").at("convolution_2d").at("data_sha256").get<std::string>();
    };
    ASSERT_EQ(train("--device gpu-sm90").code, 0);
    const std::string alone = data();
    other.key = "gpu-sm80-too", other.sm = 80;
    save_sweep(family, other, 5);
    EXPECT_EQ(train("--device gpu-sm90 --check").code, 0);
    other.key = "gpu-sm90-too", other.sm = 90;
    save_sweep(family, other, 5);
    EXPECT_EQ(train("--device gpu-sm90 --check").code, 4);
    ASSERT_EQ(train("--device gpu-sm90").code, 0);
    EXPECT_NE(data(), alone);
    EXPECT_EQ(train("--device gpu-sm90 --check").code, 0);

    // What must not be trained on is not learned from either, and that is said.
    DeviceResults mixed = load_results(results_ / other.key);
    mixed.cases.front().provenance.driver = "another";
    save_results(results_ / other.key, mixed);
    const auto run = train("--device gpu-sm90");
    ASSERT_EQ(run.code, 0) << run.err;
    expect_holds(run.err, {"nothing is learned from gpu-sm90-too: ", "2 drivers"});
    EXPECT_EQ(data(), alone);
}

// Whether a device learned alone, which held-out problems said, is in its tree, and without an evaluation stays so.
TEST_F(TrainCommand, LearnsAloneWhereItsTreeSaysSo) {
    const Family& family = *find_family("convolution_2d");
    const auto devices = invented_devices();
    DeviceInfo other = *std::ranges::find(devices, "gpu-sm90", &DeviceInfo::key);
    const std::string path = selector(other.key);
    const auto nodes = [&] { return nlohmann::json::parse(read_bytes(path)).at("nodes"); };
    save_sweep(family, other, 3, Effort::standard);
    ASSERT_EQ(train("--device gpu-sm90").code, 0);
    std::string said = read_bytes(path);
    const auto before = nodes();

    other.key = "gpu-sm90-too";
    save_sweep(family, other, 5, Effort::standard);
    ASSERT_EQ(train("--device gpu-sm90 --trees").code, 0);
    EXPECT_NE(nodes(), before);

    said.replace(said.find("\"sources\""), 0, "\"from_alike\": false,\n ");
    said.replace(said.find(",\n \"crc32\""), std::string::npos, "\n}\n");
    std::ofstream(path) << seal_tree(said);
    ASSERT_EQ(train("--device gpu-sm90 --trees").code, 0);
    EXPECT_EQ(nodes(), before);
    EXPECT_NE(read_bytes(path).find("\"from_alike\": false"), std::string::npos);
    EXPECT_EQ(train("--device gpu-sm90 --check --trees").code, 0);
}

// A CPU of which little was measured gets the tree of one of another instruction set where that chooses better here,
// and its own where not.
TEST_F(TrainCommand, ShipsTheTreeOfARelativeThatChoosesBetter) {
    const Family& family = *find_family("convolution_2d");
    const auto devices = invented_devices();
    const DeviceInfo brief = *std::ranges::find(devices, "cpu-avx512-64t", &DeviceInfo::key);
    const std::vector<std::string> all = family.default_problems(brief.kind, Effort::standard);
    std::vector<std::string> few;
    for (std::size_t i = 0; i < all.size(); i += 4) few.push_back(all[i]);
    DeviceResults swept{.device = brief, .cases = invented_sweep(family, brief, few, 3)};
    save_results(results_ / brief.key, swept);
    const DeviceInfo like = narrowed(brief);
    const auto sweep_like = [&](std::uint64_t seed) { save_sweep(family, like, seed, Effort::standard); };
    sweep_like(3);  // the same choices are fast there
    const auto entry = [&] {
        const auto summary = nlohmann::json::parse(read_bytes((results_ / brief.key / "selector.json").string()));
        return summary.at("families").at("convolution_2d");
    };

    ASSERT_EQ(train("--device cpu-avx2-64t").code, 0);
    const auto left = train("--device cpu-avx512-64t");
    ASSERT_EQ(left.code, 0) << left.err;
    expect_holds(left.err, {"convolution_2d: the tree of cpu-avx2-64t is used: it rests on "});
    EXPECT_FALSE(std::filesystem::exists(selector(brief.key)));
    EXPECT_EQ(entry().at("shipped").at("device_key"), like.key);
    EXPECT_LT(entry().at("shipped").at("regret_geomean"), entry().at("shipped").at("own_held_out"));
    EXPECT_EQ(train("--device cpu-avx512-64t --check").code, 0);
    EXPECT_EQ(train("--device cpu-avx512-64t --trees").code, 0);
    EXPECT_FALSE(std::filesystem::exists(selector(brief.key))) << "what was found by evaluating stays so";
    static_cast<void>(folder_.file("selectors/convolution_2d/cpu-avx512-64t.tree", "somebody's"));
    const auto there = train("--device cpu-avx512-64t --check");
    EXPECT_EQ(there.code, 4);
    expect_holds(there.err, {"cpu-avx512-64t.tree: is not to be there"});

    sweep_like(8);  // others are
    ASSERT_EQ(train("--device cpu-avx2-64t").code, 0);
    ASSERT_EQ(train("--device cpu-avx512-64t").code, 0);
    EXPECT_TRUE(std::filesystem::exists(selector(brief.key)));
    EXPECT_FALSE(entry().contains("shipped"));
}

/// The variant that most of a tree's problems are given to.
std::string most_chosen(const std::string& tree) {
    std::map<std::string, int> problems;
    const auto file = nlohmann::json::parse(tree);
    for (const auto& node : file.at("nodes"))
        if (node.contains("leaf"))
            problems[node.at("ranking").at(0).at("variant").get<std::string>()] += node.at("problems").get<int>();
    return std::ranges::max_element(problems, {}, [](const auto& entry) { return entry.second; })->first;
}

// What a variant costs that a device never tried its own times do not say, however well its own tree chooses by them.
TEST_F(TrainCommand, ShipsTheTreeOfARelativeThatTriedMore) {
    const Family& family = *find_family("convolution_2d");
    const auto devices = invented_devices();
    const DeviceInfo brief = *std::ranges::find(devices, "cpu-avx512-64t", &DeviceInfo::key);
    const DeviceInfo like = narrowed(brief);
    save_sweep(family, like, 8, Effort::standard);
    ASSERT_EQ(train("--device cpu-avx2-64t").code, 0);
    ASSERT_EQ(train("--device cpu-avx512-64t").code, 0);
    ASSERT_TRUE(std::filesystem::exists(selector(brief.key))) << "other choices are fast there";

    const std::string untried = most_chosen(read_bytes(selector(like.key)));
    DeviceResults swept = load_results(results_ / brief.key);
    std::erase_if(swept.cases, [&](const CaseRecord& record) { return record.variant == untried; });
    save_results(results_ / brief.key, swept);
    const auto left = train("--device cpu-avx512-64t");
    ASSERT_EQ(left.code, 0) << left.err;
    expect_holds(left.err, {"convolution_2d: the tree of cpu-avx2-64t is used: it rests on ",
                            (untried + " were never tried here: sweep again").c_str()});
    EXPECT_FALSE(std::filesystem::exists(selector(brief.key)));
    EXPECT_EQ(train("--device cpu-avx512-64t --check").code, 0);
}

TEST_F(TrainCommand, RefusesHoles) {
    auto results = load_results(results_ / "gpu-sm90");
    results.missing.push_back({"", "", 2, "shard 2 of 4 is missing"});
    save_results(results_ / "gpu-sm90", results);
    const auto run = train("--device gpu-sm90");
    EXPECT_EQ(run.code, 4);
    expect_holds(run.err, {"shard 2 of 4 is missing", "--allow-partial"});
    EXPECT_FALSE(std::filesystem::exists(selector("gpu-sm90")));
    EXPECT_EQ(train("--device gpu-sm90 --allow-partial").code, 0);
}

TEST_F(TrainCommand, RefusesWhatWasDisturbedUnlessAllowed) {
    auto results = load_results(results_ / "cpu-generic-1t");
    for (CaseRecord& record : results.cases)
        if (record.status == Status::ok) record.conditions = {.foreign_cpu_share = 0.7, .processors = 1};
    save_results(results_ / "cpu-generic-1t", results);
    const std::string arguments = "train --device cpu-generic-1t --results " + quoted(results_.string()) +
                                  " --output " + quoted(folder_ / "selectors");
    const std::string strictly = "unset ESPALIER_ALLOW_DISTURBED; ";
    const auto run = run_espalier(folder_, arguments, strictly);
    EXPECT_EQ(run.code, 4);
    expect_holds(run.err,
                 {"100% of the problems of convolution_2d on cpu-generic-1t were measured while other programs "
                  "used 70% of the processors (median)",
                  "--allow-disturbed"});
    EXPECT_FALSE(std::filesystem::exists(selector("cpu-generic-1t")));
    EXPECT_EQ(run_espalier(folder_, arguments + " --allow-disturbed", strictly).code, 0);
    EXPECT_TRUE(std::filesystem::exists(selector("cpu-generic-1t")));
}

TEST_F(TrainCommand, ExplainsMistakes) {
    auto run = train("--device no-such");
    EXPECT_EQ(run.code, 4);
    expect_holds(run.err, {"no results for no-such", "espalier sweep"});
    run = train("--device ../../etc");
    EXPECT_EQ(run.code, 4);
    run = train("--family no-such");
    EXPECT_EQ(run.code, 2);
    expect_holds(run.err, {"no-such", "convolution_2d"});
    run = train("--max-leaves 0");
    EXPECT_EQ(run.code, 2);
    run = train("", -1);
    EXPECT_EQ(run.code, 2);
    expect_holds(run.err, {"--predicted", "-1"});
    run = run_espalier(folder_, "train --results " + quoted(folder_ / "nowhere"));
    EXPECT_EQ(run.code, 4);
    expect_holds(run.err, {"no results in"});
    std::ofstream(results_ / "gpu-sm90" / "selector.json") << "[1e999";
    run = train("--device gpu-sm90");
    EXPECT_EQ(run.code, 4);
    expect_holds(run.err, {"selector.json", "remove the file"});
}

TEST_F(TrainCommand, RefusesDamagedResults) {
    const std::string path = (results_ / "gpu-sm90" / "convolution_2d.jsonl").string();
    std::string bytes = read_bytes(path);
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(path, std::ios::binary) << bytes;
    const auto run = train("--device gpu-sm90");
    EXPECT_EQ(run.code, 4);
    expect_holds(run.err, {"convolution_2d.jsonl, line"});
    EXPECT_FALSE(std::filesystem::exists(selector("gpu-sm90")));
}

}  // namespace
}  // namespace espalier::bench
