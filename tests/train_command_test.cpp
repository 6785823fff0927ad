// `espalier train` as a user and as CI run it: files written, checked, kept whole, and mistakes.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/records/results.hpp"
#include "tests/invented_sweep.hpp"
#include "tests/run_program.hpp"

namespace espalier {
namespace {

class TrainCommand : public testing::Test {
protected:
    void SetUp() override {
        const Family& family = *find_family("convolution_2d");
        for (const DeviceInfo& device : invented_devices()) save_sweep(family, device, 3);
    }

    void save_sweep(const Family& family, const DeviceInfo& device, std::uint64_t seed) const {
        DeviceResults results{.device = device};
        results.cases = invented_sweep(family, device, family.default_problems(device.kind, Effort::quick), seed);
        save_results(results_ / device.key, results);
    }

    [[nodiscard]] Finished train(const std::string& arguments = "") const {
        return run_espalier(folder_, "train --results " + quoted(results_.string()) + " --output " +
                                         quoted(folder_ / "selectors") + " " + arguments);
    }

    [[nodiscard]] std::string selector(const std::string& device) const {
        return folder_ / ("selectors/convolution_2d/" + device + ".gen.cpp");
    }

    TemporaryFolder folder_;
    std::filesystem::path results_ = folder_.path() / "results";
};

TEST_F(TrainCommand, TrainsEveryDeviceAndChecksItsOwnWork) {
    const auto first = train();
    ASSERT_EQ(first.code, 0) << first.err;
    for (const DeviceInfo& device : invented_devices()) {
        expect_holds(first.out, {device.key.c_str()});
        expect_holds(read_bytes(selector(device.key)), {"namespace espalier::convolution_2d::selectors"});
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

TEST_F(TrainCommand, WritesFilesOfTheDocumentedSchemas) {
    ASSERT_EQ(train().code, 0);
    const char* validate =
        "import json, sys, jsonschema; "
        "jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))";
    for (const DeviceInfo& device : invented_devices())
        for (const auto& [schema, file] :
             {std::pair{"selector", "selector.json"}, {"tree", "convolution_2d.tree.json"}}) {
            const std::string command = quoted(ESPALIER_PYTHON) + " -c " + quoted(validate) + " " +
                                        quoted(std::string(ESPALIER_SCHEMAS "/") + schema + ".schema.json") + " " +
                                        quoted((results_ / device.key / file).string()) + " 2>" +
                                        quoted(folder_ / "complaint.txt");
            EXPECT_EQ(std::system(command.c_str()), 0) << device.key << " " << file;
        }
}

TEST_F(TrainCommand, CheckNamesWhatDiffersAndWritesNothing) {
    ASSERT_EQ(train().code, 0);
    const std::string path = selector("gpu-sm90"), good = read_bytes(path);
    std::string bad = good;
    bad[bad.find("kRanking0")] = 'K';
    std::ofstream(path, std::ios::binary) << bad;
    auto check = train("--check");
    EXPECT_EQ(check.code, 4);
    expect_holds(check.err, {"gpu-sm90.gen.cpp: differs from line", "run `espalier train`"});
    EXPECT_EQ(read_bytes(path), bad);

    std::filesystem::remove(path);
    check = train("--check");
    EXPECT_EQ(check.code, 4);
    expect_holds(check.err, {"gpu-sm90.gen.cpp: is missing"});
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_EQ(train().code, 0);
    EXPECT_EQ(read_bytes(path), good);
}

TEST_F(TrainCommand, CheckNoticesASelectorWithoutResults) {
    ASSERT_EQ(train().code, 0);
    std::filesystem::remove_all(results_ / "gpu-sm80");
    const auto check = train("--check");
    EXPECT_EQ(check.code, 4);
    expect_holds(check.err, {"gpu-sm80.gen.cpp: has no results"});
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
                                    quoted(ESPALIER_PROGRAM) + " train --device gpu-sm90 --results " +
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

TEST_F(TrainCommand, RefusesHoles) {
    auto results = load_results(results_ / "gpu-sm90");
    results.holes.push_back({"", "", 2, "shard 2 of 4 is missing"});
    save_results(results_ / "gpu-sm90", results);
    const auto run = train("--device gpu-sm90");
    EXPECT_EQ(run.code, 4);
    expect_holds(run.err, {"shard 2 of 4 is missing", "--allow-partial"});
    EXPECT_FALSE(std::filesystem::exists(selector("gpu-sm90")));
    EXPECT_EQ(train("--device gpu-sm90 --allow-partial").code, 0);
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
}  // namespace espalier
