// `espalier synthesize` and `espalier locate` as a user runs them: whether known events are found, whether the answer
// depends on how the record is cut, against the oracle, and what is refused.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/apps/seismic/geometry.hpp"
#include "harness/apps/seismic/record.hpp"
#include "reference_cpu/polyphase.hpp"
#include "tests/support/node_sums.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

constexpr const char* kGrid = " --grid 4x3x5 --spacing 40 --origin 0,0,200 ";
constexpr const char* kVelocity = " --velocity 2500 ";

std::vector<float> floats(const std::string& path) {
    const std::string bytes = read_bytes(path);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

void write_floats(const std::string& path, const std::vector<float>& values) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
}

/// The rows of a CSV file of numbers, without its header.
std::vector<std::vector<double>> numbers_of(const std::string& path) {
    std::ifstream file(path);
    std::string line, cell;
    std::getline(file, line);
    std::vector<std::vector<double>> rows;
    while (std::getline(file, line)) {
        std::istringstream cells(line);
        rows.emplace_back();
        while (std::getline(cells, cell, ',')) rows.back().push_back(std::stod(cell));
    }
    return rows;
}

class LocateCommand : public testing::Test {
protected:
    [[nodiscard]] std::string path(const std::string& name) const { return folder / name; }

    [[nodiscard]] Finished run(const std::string& arguments) const { return run_espalier(folder, arguments); }

    void synthesize(const std::string& options, const std::string& name = "record") const {
        const auto finished = run("synthesize " + quoted(path(name)) + " --quiet " + options);
        ASSERT_EQ(finished.code, 0) << finished.err;
        EXPECT_EQ(finished.err, "");
    }

    [[nodiscard]] std::string index(const std::string& name = "record") const {
        return quoted(path(name + "/record.json")) + " ";
    }

    nlohmann::json located(const std::string& arguments) const {
        const auto finished = run("locate --json --quiet " + arguments);
        EXPECT_EQ(finished.code, 0) << finished.err;
        EXPECT_EQ(finished.err, "");
        return nlohmann::json::parse(finished.out);
    }

    void expect_failure(const std::string& arguments, int code, std::initializer_list<const char*> parts) const {
        const auto finished = run("locate " + arguments);
        EXPECT_EQ(finished.code, code) << arguments << "\n" << finished.err;
        EXPECT_EQ(finished.out, "") << arguments;
        expect_holds(finished.err, parts);
    }

    TemporaryFolder folder;
};

TEST_F(LocateCommand, FindsAnEventOfATenthOfTheNoiseAtEachOf1920Receivers) {
    const std::string grid = " --grid 5x5x5 --spacing 50 --origin -100,-100,500 ";
    for (const char* seed : {"1", "2", "3"}) {
        // Anywhere: the nearest node is to be found. The peak at each receiver is sqrt(0.1) noise deviations.
        synthesize(grid +
                   "--receivers 1920 --snr 0.1 --duration 4s --file-length 1.5s --event -42,57,610,1.234 --seed " +
                   seed);
        const auto json = located(index() + kVelocity + grid + "--window 700");
        EXPECT_EQ(json.at("x"), -50);
        EXPECT_EQ(json.at("y"), 50);
        EXPECT_EQ(json.at("z"), 600);
        EXPECT_EQ(json.at("windows"), 3);
    }
}

TEST_F(LocateCommand, FindsEventsOnNodesToTheSample) {
    const std::string grid = " --grid 5x5x5 --spacing 50 --origin -100,-100,500 ";
    synthesize(grid + "--receivers 1920 --snr 0.1 --duration 6s --file-length 2s --events 3");
    // A window per event: its third of the record.
    located(index() + kVelocity + grid + "--window 2s -o " + quoted(path("windows.csv")));
    const auto truth = numbers_of(path("record/truth.csv"));
    const auto windows = numbers_of(path("windows.csv"));
    ASSERT_EQ(truth.size(), 3U);
    ASSERT_EQ(windows.size(), 3U);
    for (std::size_t e = 0; e < truth.size(); ++e) {
        EXPECT_EQ(std::vector(windows[e].begin() + 3, windows[e].begin() + 6),
                  std::vector(truth[e].begin(), truth[e].begin() + 3));
        EXPECT_EQ(windows[e][6], truth[e][4]);
    }
}

TEST_F(LocateCommand, HalfPrecisionFindsTheSameSource) {
    const std::string grid = " --grid 2x2x3 --spacing 40 --origin 0,0,200 ";
    synthesize(grid + "--receivers 30 --snr 9 --duration 300 --file-length 110 --event 40,0,240,0.3");
    const std::string arguments = index() + kVelocity + grid + "--cube ";
    const auto single = located(arguments + quoted(path("single.f32")) + " --device cpu");
    EXPECT_EQ(single.at("precision"), "single");
    const auto finished = run("locate --json --quiet " + arguments + quoted(path("half.f32")) +
                              " --device executor --precision half --variant packed_subsums");
    if (finished.code == 3) GTEST_SKIP() << finished.err;
    ASSERT_EQ(finished.code, 0) << finished.err;
    const auto half = nlohmann::json::parse(finished.out);
    EXPECT_EQ(half.at("precision"), "half");
    for (const char* member : {"x", "y", "z", "sample", "node"}) EXPECT_EQ(half.at(member), single.at(member));
    float largest = 0;
    for (const char* file : {"record/record-00000.f32", "record/record-00001.f32", "record/record-00002.f32"})
        for (const float sample : floats(path(file))) largest = std::max(largest, std::abs(sample));
    const auto expected = floats(path("single.f32")), sums = floats(path("half.f32"));
    ASSERT_EQ(sums.size(), expected.size());
    for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(sums[i], expected[i], 33.0F / 8000 * largest);
    EXPECT_NE(sums, expected);
}

TEST_F(LocateCommand, TheGpuPathFindsTheSame) {
    const std::string grid = " --grid 2x2x3 --spacing 40 --origin 0,0,200 ";
    synthesize(grid + "--receivers 30 --snr 9 --duration 300 --file-length 110 --event 40,0,240,0.3");
    const std::string arguments = index() + kVelocity + grid + "--window 120 --cube ";
    const auto cpu = located(arguments + quoted(path("cpu.f32")) + " --device cpu");
    EXPECT_EQ(cpu.at("sample"), 150);
    for (const char* options : {"", " --no-double-buffering", " --pageable", " --no-double-buffering --pageable",
                                " --variant shared_hodograph", " --variant random_order"}) {
        SCOPED_TRACE(options);
        const auto finished =
            run("locate --json --quiet " + arguments + quoted(path("gpu.f32")) + " --device executor" + options);
        if (finished.code == 3) GTEST_SKIP() << finished.err;
        ASSERT_EQ(finished.code, 0) << finished.err;
        const auto gpu = nlohmann::json::parse(finished.out);
        for (const char* member : {"x", "y", "z", "sample", "node"}) EXPECT_EQ(gpu.at(member), cpu.at(member));
        const auto cpu_cube = floats(path("cpu.f32")), gpu_cube = floats(path("gpu.f32"));
        ASSERT_EQ(gpu_cube.size(), cpu_cube.size());
        for (std::size_t i = 0; i < cpu_cube.size(); ++i) EXPECT_NEAR(gpu_cube[i], cpu_cube[i], 1e-4);
    }
}

TEST_F(LocateCommand, TheCubeIsTheOracles) {
    synthesize(std::string(kGrid) + "--receivers 23 --duration 400 --file-length 400 --events 1 --gap 0.3,0.1");
    located(index() + kVelocity + kGrid + "--window 90 --cube " + quoted(path("cube.csv")));
    const auto cube = numbers_of(path("cube.csv"));
    ASSERT_EQ(cube.size(), 60U);

    const auto record = seismic::open_record({path("record/record.json")}, {});
    const auto receivers = seismic::read_receivers(path("record/receivers.csv"));
    constexpr std::int64_t kSamples = 400, kSpan = 400;
    std::vector<float> traces(23 * (kSamples + kSpan));
    record->read(0, kSamples + kSpan, traces.data(), kSamples + kSpan);
    for (std::int64_t node = 0; node < 60; ++node) {
        const auto sums = sums_of_node(node, receivers, traces, kSamples, kSpan);
        const auto best = std::max_element(sums.begin(), sums.end());
        EXPECT_NEAR(cube[static_cast<std::size_t>(node)][3], *best, 1e-4);
        EXPECT_EQ(cube[static_cast<std::size_t>(node)][4], static_cast<double>(best - sums.begin()));
    }
}

TEST_F(LocateCommand, LinearInterpolationIsTheOraclesOnEitherDevice) {
    const std::string grid_options = " --grid 2x1x3 --spacing 40 --origin 0,0,200 ";
    synthesize(grid_options + "--receivers 23 --duration 400 --file-length 150 --events 1");
    const auto record = seismic::open_record({path("record/record.json")}, {});
    const auto receivers = seismic::read_receivers(path("record/receivers.csv"));
    const seismic::Grid grid{{0, 0, 200}, {40, 40, 40}, 2, 1, 3};
    constexpr std::int64_t kSamples = 400, kRow = 800;
    std::vector<float> traces(23 * kRow), times;
    record->read(0, kRow, traces.data(), kRow);
    for (std::int64_t node = 0; node < grid.nodes(); ++node)
        for (const auto& at : receivers.positions)
            times.push_back(static_cast<float>(seismic::distance(seismic::position(grid, node), at) / 2500));
    write_floats(path("times.f32"), times);

    for (const std::string& options :
         {std::string("--device cpu --velocity 2500"), std::string("--device executor --velocity 2500"),
          "--device cpu --travel-times " + quoted(path("times.f32"))}) {
        SCOPED_TRACE(options);
        const auto finished = run("locate --quiet --interpolation linear --window 130 --cube " +
                                  quoted(path("cube.csv")) + " " + index() + grid_options + options);
        if (finished.code == 3) continue;  // the executor is in builds without CUDA
        ASSERT_EQ(finished.code, 0) << finished.err;
        const auto cube = numbers_of(path("cube.csv"));
        for (std::int64_t node = 0; node < grid.nodes(); ++node) {
            double best = -1e9;
            std::int64_t best_sample = -1;
            for (std::int64_t k = 0; k < kSamples; ++k) {
                double sum = 0;
                for (std::size_t r = 0; r < receivers.positions.size(); ++r) {
                    const double delay =
                        seismic::distance(seismic::position(grid, node), receivers.positions[r]) / 2500 * 500;
                    const double eighths = std::floor(delay * 8 + 0.5) / 8;
                    const auto trace = std::span(traces).subspan(r * kRow, kRow);
                    sum += reference::between_samples(trace, static_cast<double>(k) + eighths);
                }
                if (sum > best) {
                    best = sum;
                    best_sample = k;
                }
            }
            EXPECT_NEAR(cube[static_cast<std::size_t>(node)][3], best, 1e-4);
            EXPECT_EQ(cube[static_cast<std::size_t>(node)][4], static_cast<double>(best_sample));
        }
    }
}

TEST_F(LocateCommand, TheAnswerDoesNotDependOnWindowsOrFiles) {
    const std::string options = std::string(kGrid) + "--receivers 16 --duration 1000 --events 2 ";
    synthesize(options + "--file-length 1000", "whole");
    synthesize(options + "--file-length 97", "cut");
    std::string joined;
    for (int r = 0; r < 16; ++r)
        for (int file = 0; file < 11; ++file) {
            const int samples = file < 10 ? 97 : 30;
            const std::string name =
                "cut/record-000" + std::string(file < 10 ? "0" : "") + std::to_string(file) + ".f32";
            joined += read_bytes(path(name))
                          .substr(static_cast<std::size_t>(r * samples) * 4, static_cast<std::size_t>(samples) * 4);
        }
    EXPECT_EQ(joined, read_bytes(path("whole/record-00000.f32")));

    const auto whole = located(index("whole") + kVelocity + kGrid + "--window 1000 --cube " + quoted(path("a.f32")));
    for (const char* window : {"1", "13", "97", "500", "999", "5000"})
        for (const char* buffers : {"", " --no-double-buffering"}) {
            const auto cut = located(index("cut") + kVelocity + kGrid + "--window " + window + buffers + " --cube " +
                                     quoted(path("b.f32")));
            EXPECT_EQ(cut.at("sample"), whole.at("sample")) << window;
            EXPECT_EQ(cut.at("node"), whole.at("node")) << window;
            EXPECT_EQ(read_bytes(path("b.f32")), read_bytes(path("a.f32"))) << window;
        }
}

TEST_F(LocateCommand, SaysWhatItDoesAndFinds) {
    synthesize(std::string(kGrid) + "--receivers 30 --duration 2s --event 40,80,240,1 --snr 9 --gap 0.2,0.1");
    const auto finished = run("locate " + index() + kVelocity + kGrid + "--window 20");
    EXPECT_EQ(finished.code, 0) << finished.err;
    expect_holds(finished.out, {"maximum ", "at x=40 y=80 z=240, time 1.000000 s (sample 500)", "real-time factor ",
                                "2.000 s of record", "of reading and copying hidden"});
    expect_holds(finished.err, {"gap: 0.100 s from 0.200 s on (50 samples), filled with zeros",
                                "30 receivers, 2.000 s at 500 Hz (raw), 60 trial sources", "2500 m/s",
                                "50 windows of 20 samples by coherent_sum/", "the longest delay exceeds the window"});
}

TEST_F(LocateCommand, TravelTimesAndWeightsAreHeeded) {
    synthesize(std::string(kGrid) + "--receivers 30 --duration 600 --event 40,80,240,0.6 --snr 9");
    const auto receivers = seismic::read_receivers(path("record/receivers.csv"));
    const seismic::Grid grid{{0, 0, 200}, {40, 40, 40}, 4, 3, 5};
    std::vector<float> times;
    for (std::int64_t node = 0; node < grid.nodes(); ++node)
        for (const auto& at : receivers.positions)
            times.push_back(static_cast<float>(seismic::distance(seismic::position(grid, node), at) / 2500));
    write_floats(path("times.f32"), times);
    const auto by_velocity = located(index() + kVelocity + kGrid);
    const auto by_table = located(index() + kGrid + "--travel-times " + quoted(path("times.f32")));
    EXPECT_EQ(by_table.at("node"), by_velocity.at("node"));
    EXPECT_EQ(by_table.at("coherence"), by_velocity.at("coherence"));

    // One receiver drowns the others in noise, unless its weight is 0.
    auto traces = floats(path("record/record-00000.f32"));
    for (std::size_t i = 0; i < 600; ++i) traces[i] = i == 400 ? 1e6F : 0.0F;
    write_floats(path("record/record-00000.f32"), traces);
    std::ofstream weights(path("weights.csv"));
    weights << "x,y,z,weight\n";
    for (std::size_t r = 0; r < 30; ++r) {
        const auto& at = receivers.positions[r];
        weights << at.x << ',' << at.y << ',' << at.z << ',' << (r == 0 ? 0 : 1) << '\n';
    }
    weights.close();
    EXPECT_GT(located(index() + kVelocity + kGrid).at("coherence"), 9e5);
    const auto weighted = located(index() + kVelocity + kGrid + "--receivers-file " + quoted(path("weights.csv")));
    EXPECT_EQ(weighted.at("node"), by_velocity.at("node"));
    EXPECT_EQ(weighted.at("sample"), 300);

    const std::string table = index() + kGrid + "--travel-times " + quoted(path("times.f32"));
    times[31] = -1;
    write_floats(path("times.f32"), times);
    expect_failure(table, 4, {"times.f32", "node 1 to receiver 1 is -1 s"});
    times.pop_back();
    write_floats(path("times.f32"), times);
    times.resize(1);
    expect_failure(index() + " --grid 4x3x6 --travel-times " + quoted(path("times.f32")), 4, {"times.f32"});
    expect_failure(table + kVelocity, 2, {"either --velocity or --travel-times"});
    expect_failure(index() + kGrid, 2, {"either --velocity or --travel-times"});
}

TEST_F(LocateCommand, RawFilesNeedNoIndex) {
    synthesize(std::string(kGrid) + "--receivers 30 --duration 900 --file-length 300 --event 40,80,240,0.6 --snr 9");
    const auto file = [&](int number) {
        return quoted(path("record/record-0000" + std::to_string(number) + ".f32")) + " ";
    };
    const std::string rest =
        kVelocity + std::string(kGrid) + "--rate 500 --receivers-file " + quoted(path("record/receivers.csv"));
    EXPECT_EQ(located(file(0) + file(1) + file(2) + rest).at("sample"), 300);
    expect_failure(file(0) + file(1) + kVelocity + " --rate 500", 2, {"--receivers-file"});
    expect_failure(file(0) + file(1) + file(2) + kVelocity + "--receivers-file " + quoted(path("record/receivers.csv")),
                   4, {"give --rate"});
    std::filesystem::copy(path("record/record-00002.f32"), path("record/record-00003.f32"));
    expect_failure(file(0) + file(1) + file(3) + rest, 4, {"record-00003.f32", "record-00001.f32", "missing"});
    expect_failure(file(0) + file(1) + index() + rest, 4, {"another format"});
}

TEST_F(LocateCommand, MissingAndShortFilesAreErrorsOrGaps) {
    synthesize(std::string(kGrid) + "--receivers 30 --duration 900 --file-length 300 --event 40,80,240,0.6 --snr 9");
    const std::string arguments = index() + kVelocity + kGrid;
    std::filesystem::resize_file(path("record/record-00002.f32"), 1000);
    expect_failure(arguments, 4, {"record-00002.f32", "1000 bytes", "36000", "--fill-missing"});
    auto json = located(arguments + "--fill-missing");
    EXPECT_EQ(json.at("gaps"), nlohmann::json::parse(R"([{"first_sample":600,"samples":300}])"));
    EXPECT_EQ(json.at("samples"), 900);
    EXPECT_EQ(json.at("sample"), 300);
    std::filesystem::remove(path("record/record-00000.f32"));
    expect_failure(arguments, 4, {"record-00000.f32", "no such file", "--fill-missing"});
    json = located(arguments + "--fill-missing");
    EXPECT_EQ(json.at("gaps").size(), 2U);
    EXPECT_EQ(json.at("gaps")[0].at("first_sample"), 0);
}

TEST_F(LocateCommand, AGapOfYearsIsRefused) {
    synthesize(std::string(kGrid) + "--receivers 4 --duration 900 --file-length 300");
    auto json = nlohmann::json::parse(read_bytes(path("record/record.json")));
    json["files"][2]["first_sample"] = 1'000'000'000'000;
    static_cast<void>(folder.file("record/record.json", json.dump()));
    const std::string arguments = index() + kVelocity + kGrid;
    expect_failure(arguments, 4,
                   {"record-00002.f32", "gap of 999999999400 samples", "24 hours of --max-gap", "raise --max-gap"});
    json["files"][2]["first_sample"] = 1000;
    static_cast<void>(folder.file("record/record.json", json.dump()));
    expect_failure(arguments + "--max-gap 0.5s", 4, {"gap of 400 samples", "--max-gap"});
    EXPECT_EQ(located(arguments + "--max-gap 1s").at("samples"), 1300);
    // A size that no file has must not overflow, nor a name end at a NUL.
    json["files"][1]["samples"] = std::int64_t{1} << 48;
    json["files"][2]["first_sample"] = (std::int64_t{1} << 48) - 1;
    json["receivers"] = 1 << 24;
    static_cast<void>(folder.file("record/record.json", json.dump()));
    EXPECT_EQ(run("locate " + arguments).code, 4);
    json["files"][0]["name"] = std::string("record\x1b[31m\0.f32", 16);
    static_cast<void>(folder.file("record/record.json", json.dump()));
    expect_failure(arguments, 4, {"\"name\" holds a NUL"});
}

TEST_F(LocateCommand, BadRecordsAreRefused) {
    synthesize(std::string(kGrid) + "--receivers 30 --duration 900 --file-length 300");
    const std::string arguments = index() + kVelocity + kGrid;
    expect_failure(index() + kGrid + "--velocity 1", 2, {"longest delay", "900", "units"});
    expect_failure(arguments + "--window 0", 2, {"--window"});
    expect_failure(arguments + "--window 2x", 2, {"--window"});
    expect_failure(index() + kVelocity + "--grid 0x3x3", 2, {"--grid", "0x3x3"});
    expect_failure(index() + kVelocity + "--spacing 0", 2, {"--spacing"});
    expect_failure(arguments + "--variant nothing", 2, {"nothing", "cpu_openmp"});
    expect_failure(arguments + "--rate 250", 4, {"500", "250"});
    expect_failure(quoted(path("nowhere.json")) + kVelocity, 4, {"nowhere.json", "no such file"});
    expect_failure(quoted(path("nowhere.wav")) + kVelocity + "--receivers-file " + quoted(path("record/receivers.csv")),
                   4, {"--format"});
    const std::string few = folder.file("few.csv", "x,y,z\n1,2,3\n");
    expect_failure(arguments + "--receivers-file " + quoted(few), 4,
                   {"30 traces", "coordinates of 1 receiver;", "order"});
    const std::string odd = folder.file("odd.csv", "x,y,z\n1,2,three\n");
    expect_failure(arguments + "--receivers-file " + quoted(odd), 4, {"odd.csv", "line 2", "three"});

    auto traces = floats(path("record/record-00001.f32"));
    traces[300 * 7 + 11] = NAN;
    write_floats(path("record/record-00001.f32"), traces);
    const std::string output = folder.file("windows.csv", "old");
    expect_failure(arguments + "-o " + quoted(output), 4,
                   {"record-00001.f32", "sample 311", "receiver 7", "0.622", "nan", "replace"});
    EXPECT_EQ(read_bytes(output), "old");

    const auto text = read_bytes(path("record/record.json"));
    const auto broken = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        changed.replace(changed.find(from), from.size(), to);
        static_cast<void>(folder.file("record/record.json", changed));
    };
    broken("\"first_sample\": 300", "\"first_sample\": 299");
    expect_failure(arguments, 4, {"record-00001.f32", "sample 299", "order of time"});
    broken("record/1", "record/2");
    expect_failure(arguments, 4, {"record.json", "record/2"});
    broken("500.0", "\"fast\"");
    expect_failure(arguments, 4, {"record.json", "rate"});
    broken("{", "");
    expect_failure(arguments, 4, {"record.json", "JSON"});
    static_cast<void>(folder.file("record/record.json", std::string(20 << 20, ' ')));
    expect_failure(arguments, 4, {"record.json", "more than 16777216 bytes", "index", "fewer files"});
}

TEST_F(LocateCommand, AnIndexWithoutEndIsRefused) {
    std::filesystem::create_symlink("/dev/zero", path("endless.json"));
#if defined(__SANITIZE_ADDRESS__)
    const std::string limit;  // its shadow takes terabytes of addresses
#else
    const std::string limit = "ulimit -v 4000000; ";
#endif
    const auto finished = run_espalier(folder, "locate " + quoted(path("endless.json")) + kVelocity, limit);
    EXPECT_EQ(finished.code, 4);
    expect_holds(finished.err, {"endless.json: has more than 16777216 bytes"});
}

TEST_F(LocateCommand, NamesInJsonDoNothing) {
    synthesize("--receivers 4 --duration 1s --grid 2x2x2", "record");
    const std::string times = path("\x1b\xC2\x9B\xE2\x80\xAEtimes");
    write_floats(times, std::vector<float>(4 * 8, 0.01F));
    const auto finished =
        run("locate --json " + quoted(path("record/record.json")) + " --grid 2x2x2 --travel-times " + quoted(times));
    EXPECT_EQ(finished.code, 0) << finished.err;
    expect_holds(finished.out, {R"(\u001b\u009b\u202etimes)"});
    EXPECT_EQ(finished.out.find_first_of("\x1b\xC2\xE2"), std::string::npos);
}

TEST_F(LocateCommand, ALongRecordNeedsLittleMemory) {
    synthesize(std::string(kGrid) + "--receivers 256 --duration 300s --file-length 100s --event 80,40,240,200");
    const auto json = located(index() + kVelocity + " --grid 1x1x2 --spacing 40 --origin 80,40,200 --window 2000");
    EXPECT_EQ(json.at("z"), 240);
    EXPECT_EQ(json.at("sample"), 100000);
#if !defined(__SANITIZE_ADDRESS__)
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    EXPECT_LT(usage.ru_maxrss, 128 * 1024) << "KiB, for a record of 150 MiB";
#endif
}

TEST_F(LocateCommand, SynthesizeRefusesNonsense) {
    const auto refuse = [&](const std::string& options, std::initializer_list<const char*> parts) {
        const bool sized = options.find("--duration") != std::string::npos;
        const auto finished =
            run("synthesize " + quoted(path("x")) + (sized ? " " : " --duration 2s --receivers 4 ") + options);
        EXPECT_EQ(finished.code, 2) << options;
        expect_holds(finished.err, parts);
    };
    refuse("--rate 0", {"--rate"});
    refuse("--event 1,2,3", {"--event", "4 numbers"});
    refuse("--gap 1.5,9", {"--gap", "within the record"});
    refuse("--duration never", {"--duration"});
    refuse("--grid 3x3", {"--grid"});
    refuse("--snr -1", {"--snr"});
    for (const char* option : {"--rate", "--velocity", "--noise", "--snr", "--aperture", "--frequency"})
        for (const char* value : {"nan", "inf", "-1"}) refuse(std::string(option) + " " + value, {option});
    refuse("--aperture 0", {"--aperture"});
    refuse("--events -1", {"--events must be 0 to 1000000"});
    refuse("--frequency 250", {"--frequency 250", "more than 500 samples per second"});
    refuse("--event 0,0,500,2", {"--event 0,0,500,2", "not within the record of 2 s"});
    refuse("--event 0,0,500,-0.1", {"--event", "not within"});
    refuse("--event 0,0,1e9,1", {"--event", "reach a receiver"});
    refuse("--gap 1e300,1", {"--gap"});
    // Before anything of this size is made.
    refuse("--duration 100000h --receivers 1920", {"1.382e+06 GB", "limit of 100 GB", "--max-size"});
    refuse("--max-size 1kB", {"--max-size"});
    refuse("--duration 2000h --receivers 4 --file-length 1", {"--file-length"});
    EXPECT_FALSE(std::filesystem::exists(path("x")));
}

}  // namespace
}  // namespace espalier::bench
