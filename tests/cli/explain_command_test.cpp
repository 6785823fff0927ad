// `espalier explain` as a user runs it: local devices, devices known from their results only, and mistakes.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/bench/records/results.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

class ExplainCommand : public testing::Test {
protected:
    /// Files a GPU that is not here.
    void file_device() const {
        DeviceInfo device;
        device.kind = DeviceKind::cuda;
        device.key = "nvidia-test";
        device.name = "NVIDIA Test";
        device.sm = 90;
        device.sm_count = 100;
        device.shared_per_block = 48 * 1024;
        save_results(folder_.path() / "results" / "nvidia-test", {.device = device});
    }

    [[nodiscard]] Finished explain(const std::string& arguments) const {
        return run_espalier(folder_, "explain --results " + quoted(folder_ / "results") + " " + arguments);
    }

    TemporaryFolder folder_;
};

TEST_F(ExplainCommand, SaysWhatRunsOnThisMachine) {
    const auto run = explain("--family convolution_2d -p width=640 -p height=480 --device cpu");
    ASSERT_EQ(run.code, 0) << run.err;
    expect_holds(run.out, {"convolution_2d width=640;height=480;channels=3", "runs: ", "why: "});
    EXPECT_EQ(run.err, "");
}

TEST_F(ExplainCommand, PredictsByTheForestBesideASimilarDevicesTree) {
    namespace fs = std::filesystem;
    file_device();
    const auto predicted = [&](const fs::path& forests) {
        const auto run = run_espalier(folder_,
                                      "explain --results " + quoted(folder_ / "results") +
                                          " --family convolution_2d --device nvidia-test --predict --json",
                                      "ESPALIER_FORESTS=" + quoted(forests.string()) + " ");
        EXPECT_EQ(run.code, 0) << run.err;
        return nlohmann::json::parse(run.out);
    };
    const auto why = predicted(ESPALIER_FORESTS_FOLDER);
    if (why.at("ignored").get<std::string>().find("was not trained from the data") != std::string::npos)
        GTEST_SKIP() << "the trees of this machine's own results have no forests";
    EXPECT_EQ(why.at("reason").get<std::string>().find("predicted by the forest of nvidia-h"), 0U);
    EXPECT_GE(why.at("predicted").size(), 5U);
    EXPECT_GE(why.at("predicted_slowdown"), 1);
    // Where there is none the tree decides, and where it is damaged, which is told.
    const auto without = predicted(folder_ / "none");
    EXPECT_FALSE(without.contains("predicted"));
    EXPECT_EQ(without.at("ignored"), "");
    const fs::path damaged = folder_ / "damaged";
    fs::create_directories(damaged);
    fs::copy(fs::path(ESPALIER_FORESTS_FOLDER) / "convolution_2d", damaged / "convolution_2d");
    for (const auto& file : fs::directory_iterator(damaged / "convolution_2d"))
        fs::resize_file(file.path(), fs::file_size(file.path()) - 1);
    const auto told = predicted(damaged);
    EXPECT_FALSE(told.contains("predicted"));
    EXPECT_EQ(told.at("variant"), without.at("variant"));
    EXPECT_NE(told.at("ignored").get<std::string>().find("its checksum does not match"), std::string::npos);
}

TEST_F(ExplainCommand, KnowsDevicesByTheirResults) {
    file_device();
    const auto run = explain("--family convolution_2d -p width=640 --device nvidia-test --json");
    ASSERT_EQ(run.code, 0) << run.err;
    const auto why = nlohmann::json::parse(run.out);
    EXPECT_EQ(why.at("device"), "nvidia-test");
    EXPECT_EQ(why.at("family"), "convolution_2d");
    EXPECT_FALSE(why.at("variant").get<std::string>().starts_with("cpu_"));
    EXPECT_EQ(why.at("trained_on_this_device"), why.at("tree") == "exact");
}

TEST_F(ExplainCommand, TellsOfWisdomThatIsIgnored) {
    const std::string file = folder_.file("w.txt", "schema=1 family=dot\n");
    const auto run = run_espalier(folder_, "explain --family dot -p elements=5000 --device cpu",
                                  "ESPALIER_WISDOM=" + quoted(file) + " ");
    ASSERT_EQ(run.code, 0) << run.err;
    expect_holds(run.out, {"runs: ", "ignored: ", "w.txt: a damaged line, line 1: it has no checksum"});
    expect_holds(run.err, {"espalier: left out: ", "w.txt: a damaged line"});
}

TEST_F(ExplainCommand, ExplainsAForcedVariantOrRefusesIt) {
    const auto forced = explain("--family convolution_2d --device cpu --variant cpu_scalar --json");
    ASSERT_EQ(forced.code, 0) << forced.err;
    EXPECT_EQ(nlohmann::json::parse(forced.out).at("forced_by"), "--variant");
    const auto refused = explain("--family convolution_2d --device cpu --variant global");
    EXPECT_EQ(refused.code, 2);
    expect_holds(refused.err, {"convolution_2d/global", "cuda device"});
}

TEST_F(ExplainCommand, NamesTheFixOfEveryMistake) {
    file_device();
    const auto expect_failure = [&](const std::string& arguments, int code, std::initializer_list<const char*> parts) {
        const auto run = explain(arguments);
        EXPECT_EQ(run.code, code) << arguments << ": " << run.err;
        EXPECT_EQ(run.out, "");
        expect_holds(run.err, parts);
    };
    expect_failure("", 2, {"--family"});
    expect_failure("--family nonsense", 2, {"nonsense", "convolution_2d"});
    expect_failure("--family convolution_2d -p colour=3", 2, {"colour", "width"});
    expect_failure("--family convolution_2d -p width", 2, {"axis=value"});
    expect_failure("--family convolution_2d -p width=x", 2, {"whole number"});
    expect_failure("--family convolution_2d --device nvidia-other", 3, {"nvidia-other", "nvidia-test", "sweep"});
    expect_failure("--family convolution_2d --device ../results/nvidia-test", 2, {"no device key", "nvidia-test"});
}

TEST_F(ExplainCommand, RefusesADamagedDeviceFile) {
    file_device();
    const std::string path = folder_ / "results/nvidia-test/device.json";
    std::string bytes = read_bytes(path);
    bytes[bytes.find("NVIDIA Test")] = 'X';
    ASSERT_FALSE(folder_.file("results/nvidia-test/device.json", bytes).empty());
    const auto run = explain("--family convolution_2d --device nvidia-test");
    EXPECT_EQ(run.code, 4);
    expect_holds(run.err, {"device.json"});
}

}  // namespace
}  // namespace espalier::bench
