// `espalier locate --save-sums`: that the file holds every sum and nothing else changes, and what becomes of it when
// something goes wrong.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "harness/apps/seismic/geometry.hpp"
#include "harness/apps/seismic/record.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/node_sums.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGrid = " --grid 4x3x5 --spacing 40 --origin 0,0,200 ";
constexpr const char* kVelocity = " --velocity 2500 ";
constexpr std::size_t kHeader = 128;

std::vector<float> floats_after(const std::string& bytes, std::size_t header) {
    std::vector<float> values((bytes.size() - header) / sizeof(float));
    std::memcpy(values.data(), bytes.data() + header, values.size() * sizeof(float));
    return values;
}

class SavedSums : public testing::Test {
protected:
    [[nodiscard]] std::string path(const std::string& name) const { return folder / name; }
    [[nodiscard]] std::string sums() const { return "--save-sums " + quoted(path("sums.npy")) + " "; }
    [[nodiscard]] std::string record() const { return quoted(path("record/record.json")) + kVelocity; }

    /// 16 receivers, 1000 samples, with silence in the middle that fills whole windows of 90 samples.
    void synthesize(const std::string& options = "--receivers 16 --duration 1000 --file-length 170 --gap 0.6,1.2") {
        const auto finished =
            run_espalier(folder, "synthesize " + quoted(path("record")) + " --quiet " + kGrid + options);
        ASSERT_EQ(finished.code, 0) << finished.err;
    }

    [[nodiscard]] Finished locate(const std::string& options, const std::string& before = {}) const {
        return run_espalier(folder, "locate " + record() + options, before);
    }

    nlohmann::json located(const std::string& options) const {
        const auto finished = locate("--json --quiet " + options);
        EXPECT_EQ(finished.code, 0) << finished.err;
        return nlohmann::json::parse(finished.out);
    }

    void expect_refusal(const std::string& options, int code, std::initializer_list<const char*> parts,
                        const std::string& before = {}) const {
        const auto finished = locate(options, before);
        EXPECT_EQ(finished.code, code) << options << "\n" << finished.err;
        EXPECT_EQ(finished.out, "") << options;
        EXPECT_EQ(finished.err.find("trial source"), std::string::npos) << "not before the sums:\n" << finished.err;
        expect_holds(finished.err, parts);
    }

    /// Names of files in the folder that a run has not finished.
    [[nodiscard]] std::vector<std::string> leftovers() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder.path()))
            if (entry.path().extension() == ".tmp") names.push_back(entry.path().filename());
        return names;
    }

    TemporaryFolder folder;
};

TEST_F(SavedSums, AreTheOraclesAndChangeNothingElse) {
    synthesize();
    const std::string rest = std::string(kGrid) + "--window 90 -o " + quoted(path("windows.csv")) + " --cube " +
                             quoted(path("cube.f32")) + " ";
    auto without = located(rest);
    const std::string windows = read_bytes(path("windows.csv")), cube = read_bytes(path("cube.f32"));
    auto with = located(rest + sums());
    EXPECT_EQ(read_bytes(path("windows.csv")), windows);
    EXPECT_EQ(read_bytes(path("cube.f32")), cube);
    for (const char* member : {"node", "sample", "coherence", "windows", "silent_windows", "warnings"})
        EXPECT_EQ(with.at(member), without.at(member)) << member;
    EXPECT_GT(with.at("silent_windows"), 0);
    EXPECT_TRUE(without.at("sums").is_null());
    EXPECT_EQ(with.at("sums").at("shape"), nlohmann::json::parse("[60, 1000]"));
    EXPECT_EQ(with.at("sums").at("bytes"), kHeader + 60 * 1000 * 4);

    const std::string bytes = read_bytes(path("sums.npy"));
    ASSERT_EQ(bytes.size(), kHeader + 60 * 1000 * 4);
    EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
    EXPECT_EQ(bytes.substr(10, 63), "{'descr': '<f4', 'fortran_order': False, 'shape': (60, 1000), }");
    EXPECT_EQ(bytes[kHeader - 1], '\n');
    const auto saved = floats_after(bytes, kHeader), maxima = floats_after(cube, 0);

    const auto read = seismic::open_record({path("record/record.json")}, {});
    const auto receivers = seismic::read_receivers(path("record/receivers.csv"));
    constexpr std::int64_t kSamples = 1000, kSpan = 400;
    std::vector<float> traces(16 * (kSamples + kSpan));
    read->read(0, kSamples + kSpan, traces.data(), kSamples + kSpan);
    for (std::int64_t node = 0; node < 60; ++node) {
        const auto expected = sums_of_node(node, receivers, traces, kSamples, kSpan);
        const auto row = std::span(saved).subspan(static_cast<std::size_t>(node) * kSamples, kSamples);
        for (std::size_t k = 0; k < row.size(); ++k) ASSERT_NEAR(row[k], expected[k], 1e-4) << node << ", " << k;
        EXPECT_EQ(*std::max_element(row.begin(), row.end()), maxima[static_cast<std::size_t>(node)]) << node;
    }
}

TEST_F(SavedSums, DoNotDependOnHowTheyAreComputed) {
    synthesize();
    located(kGrid + sums() + "--window 1000");
    const std::string whole = read_bytes(path("sums.npy"));
    for (const char* options : {"--window 13", "--window 97", "--window 999", "--window 5000", "--no-double-buffering",
                                "--window 90 --no-double-buffering", "--window 90 --variant cpu_scalar"}) {
        fs::remove(path("sums.npy"));
        located(kGrid + sums() + options);
        EXPECT_TRUE(read_bytes(path("sums.npy")) == whole) << options;
    }
    for (const char* options : {"", " --no-double-buffering", " --pageable"}) {
        SCOPED_TRACE(options);
        fs::remove(path("sums.npy"));
        const auto finished = locate(kGrid + sums() + "--quiet --window 120 --device executor --cube " +
                                     quoted(path("gpu.f32")) + options);
        if (finished.code == 3) GTEST_SKIP() << finished.err;
        ASSERT_EQ(finished.code, 0) << finished.err;
        const auto expected = floats_after(whole, kHeader), saved = floats_after(read_bytes(path("sums.npy")), kHeader),
                   cube = floats_after(read_bytes(path("gpu.f32")), 0);
        ASSERT_EQ(saved.size(), expected.size());
        for (std::size_t i = 0; i < saved.size(); ++i) ASSERT_NEAR(saved[i], expected[i], 1e-4) << i;
        for (std::size_t node = 0; node < cube.size(); ++node) {
            const auto row = std::span(saved).subspan(node * 1000, 1000);
            EXPECT_EQ(*std::max_element(row.begin(), row.end()), cube[node]) << node;
        }
    }
}

TEST_F(SavedSums, InterpolatedOnesHaveTheCubesMaxima) {
    synthesize();
    const std::string rest =
        std::string(kGrid) + "--interpolation linear --window 130 --cube " + quoted(path("cube.f32")) + " ";
    located(rest);
    const auto cube = floats_after(read_bytes(path("cube.f32")), 0);
    located(rest + sums());
    EXPECT_EQ(floats_after(read_bytes(path("cube.f32")), 0), cube);
    const auto saved = floats_after(read_bytes(path("sums.npy")), kHeader);
    for (std::size_t node = 0; node < cube.size(); ++node) {
        const auto row = std::span(saved).subspan(node * 1000, 1000);
        EXPECT_EQ(*std::max_element(row.begin(), row.end()), cube[node]) << node;
    }
}

TEST_F(SavedSums, SummarySaysWhatSavingTook) {
    synthesize();
    const auto finished = locate(kGrid + sums());
    EXPECT_EQ(finished.code, 0) << finished.err;
    expect_holds(finished.out, {"sums of 60 nodes x 1000 samples, 0.240128 MB, in ",
                                "sums.npy (copying back 0.000 s, "
                                "writing ",
                                "% of both hidden)\n"});
    const auto took = located(kGrid + sums() + "--window 100").at("sums");
    EXPECT_GT(took.at("write_seconds"), 0);
    EXPECT_GE(took.at("overlap"), 0);
    EXPECT_LE(took.at("overlap"), 1);
}

TEST_F(SavedSums, NeedMemoryOfWindowsOnly) {
    synthesize("--receivers 4 --duration 200s --file-length 100s");
    located("--grid 8x8x8 --spacing 40 --origin 0,0,200 --window 2000 " + sums());
    EXPECT_EQ(fs::file_size(path("sums.npy")), kHeader + 512 * 100000 * 4ULL);
#if !defined(__SANITIZE_ADDRESS__)
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    EXPECT_LT(usage.ru_maxrss, 128 * 1024) << "KiB, for 195 MiB of sums";
#endif
}

TEST_F(SavedSums, CannotFitOrBeWrittenIsKnownBeforehand) {
    synthesize();
    const std::string old = folder.file("sums.npy", "old");
    expect_refusal(kGrid + sums(), 4, {"sums.npy: cannot be made as long as it will be", "ulimit -f"},
                   "ulimit -f 100; ");
    EXPECT_EQ(read_bytes(old), "old");
    EXPECT_EQ(leftovers(), std::vector<std::string>{});
    const auto to = [&](const std::string& name) { return std::string(kGrid) + "--save-sums " + quoted(name); };
    expect_refusal(to(path("nowhere/sums.npy")), 4, {"nowhere/sums.npy: cannot be written", "create the folder first"});
    expect_refusal(to(path("record")), 4, {"cannot be written", "name a file in it"});
    expect_refusal(to("/dev/null"), 4, {"/dev/null: cannot be written", "no regular file"});
    expect_refusal(to("-"), 2, {"--save-sums cannot go to the standard output", "Name a file"});
    expect_refusal(to(path("record/record-00000.f32")), 2, {"record-00000.f32", "name another file"});
    expect_refusal(to(path("new")) + " --cube " + quoted(path("new")), 2, {"name another file"});
}

TEST_F(SavedSums, ThatNoDiskHoldsAreRefusedBeforehand) {
    synthesize("--receivers 1 --duration 1000s --file-length 1000s");
    const std::string old = folder.file("sums.npy", "old");
    expect_refusal("--grid 512x512x1024 " + sums(), 4,
                   {"sums.npy: takes 536871 GB, and there are ", "GB free; free some space or write elsewhere"});
    EXPECT_EQ(read_bytes(old), "old");
    EXPECT_EQ(leftovers(), std::vector<std::string>{});
}

TEST_F(SavedSums, KilledLeavesNoHalfFile) {
    synthesize("--receivers 512 --duration 20s --file-length 20s");
    const std::string old = folder.file("sums.npy", "old");
    for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
        ChildProcess run({ESPALIER_PROGRAM, "locate", path("record/record.json"), "--velocity", "2500", "--grid",
                          "8x8x8", "--window", "500", "--variant", "cpu_scalar", "--quiet", "--save-sums", old},
                         path("said"));
        while (leftovers().empty() && !run.wait_for(0.005)) {
        }
        ASSERT_EQ(leftovers().size(), 1U) << read_bytes(path("said"));
        EXPECT_FALSE(run.wait_for(0.2)) << "over too soon to be killed while it writes";
        run.kill(signal);
        EXPECT_EQ(run.wait(), signal == SIGKILL ? -SIGKILL : 128 + signal);
        EXPECT_EQ(read_bytes(old), "old");
        EXPECT_EQ(leftovers().size(), signal == SIGKILL ? 1U : 0U);
    }
}

}  // namespace
}  // namespace espalier::bench
