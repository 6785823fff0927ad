// `espalier locate` on records as seismologists have them: eight stations, one event at node 58 and sample 2500. Each
// file gives this event, or a refusal, or a warning that says why not.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/run_program.hpp"
#include "tests/support/seismic_files.hpp"
#include "tests/support/seismic_network.hpp"

namespace espalier::bench {
namespace {

using seismic_files::Channel;
using seismic_files::miniseed2;
using namespace seismic_network;

class LocateFormats : public testing::Test {
protected:
    LocateFormats() : receivers(folder.file("receivers.csv", receivers_csv())) {}

    /// A miniSEED file of all stations; `change` may change what a station recorded.
    template <class Change>
    [[nodiscard]] std::string miniseed(Change&& change) const {
        std::string bytes;
        for (int s = 0; s < kStations; ++s) {
            Channel channel{.station = station(s), .values = counts(s), .record_bytes = 4096};
            change(channel, s);
            bytes += miniseed2(channel);
        }
        return folder.file("record.mseed", bytes);
    }
    [[nodiscard]] std::string miniseed() const {
        return miniseed([](Channel&, int) {});
    }

    [[nodiscard]] Finished run(const std::string& record, const std::string& options = {}) const {
        const std::string window = options.find("--window") == std::string::npos ? "--window 2000 " : "";
        return run_espalier(folder, "locate " + quoted(record) + kGrid + window + "--receivers-file " +
                                        espalier::quoted(receivers) + " " + options);
    }

    [[nodiscard]] nlohmann::json located(const std::string& record, const std::string& options = {}) const {
        const Finished finished = run(record, "--json " + options);
        EXPECT_EQ(finished.code, 0) << finished.err;
        return nlohmann::json::parse(finished.out);
    }

    void expect_event(const std::string& record, const std::string& options = {}) const {
        const auto json = located(record, options);
        EXPECT_EQ(json.at("node"), kNode);
        EXPECT_EQ(json.at("sample"), kSample);
        EXPECT_EQ(json.at("warnings"), nlohmann::json::array());
    }

    void expect_refusal(const std::string& record, const std::string& options, int code,
                        std::initializer_list<const char*> parts) const {
        const Finished finished = run(record, options);
        EXPECT_EQ(finished.code, code) << finished.err;
        EXPECT_EQ(finished.out, "");
        expect_holds(finished.err, parts);
    }

    /// That the one warning, or the first, says this; on the standard error and in the document.
    void expect_warning(const std::string& record, const std::string& options,
                        std::initializer_list<const char*> parts) const {
        const auto warnings = located(record, options).at("warnings");
        ASSERT_GT(warnings.size(), 0U);
        expect_holds(warnings.dump(), parts);
        expect_holds(run(record, options).err, {"warning: "});
        expect_holds(run(record, options + " --quiet").err, {"warning: "});
        EXPECT_EQ(run(record, options + " --quiet --json").err, "");
    }

    TemporaryFolder folder;
    std::string receivers;
};

TEST_F(LocateFormats, FindsTheEventAndItsTime) {
    const std::string record = miniseed();
    expect_event(record);
    const auto json = located(record);
    EXPECT_EQ(json.at("utc"), "2024-02-29T13:00:25.000000Z");
    EXPECT_EQ(json.at("channels").at(3), nlohmann::json::parse(R"({"receiver": "ST03", "channel": "XX.ST03..HHZ"})"));
    const Finished finished = run(record, "-o " + quoted(folder / "windows.csv"));
    expect_holds(finished.out, {"time 25.000000 s (sample 2500), 2024-02-29T13:00:25.000000Z\n"});
    expect_holds(finished.err, {"ST00 = XX.ST00..HHZ, ", "ST07 = XX.ST07..HHZ"});
    std::istringstream windows(read_bytes(folder / "windows.csv"));
    std::string line;
    std::getline(windows, line);
    EXPECT_EQ(line, "window,first_sample,samples,x,y,z,sample,time,coherence,utc");
    std::getline(windows, line);
    std::getline(windows, line);
    expect_holds(line, {",2500,25.000000,", ",2024-02-29T13:00:25.000000Z"});
}

TEST_F(LocateFormats, NamesDecideWhateverTheOrder) {
    const std::string shuffled = miniseed([](Channel& channel, int s) {
        const int other = (s * 3 + 5) % kStations;
        channel.station = station(other);
        channel.values = counts(other);
    });
    expect_event(shuffled);
    const std::string text = read_bytes(receivers);
    for (const char* column : {"station", "sta", "Name", "id"}) {
        static_cast<void>(folder.file("receivers.csv", column + text.substr(4)));
        expect_event(shuffled);
    }
    static_cast<void>(folder.file("receivers.csv", "code" + text.substr(4)));
    expect_refusal(shuffled, "", 4, {"receivers.csv: line 1", "'code'"});
    static_cast<void>(folder.file("receivers.csv", text.substr(text.find('\n') + 1)));
    expect_refusal(shuffled, "", 4, {"receivers.csv: line 1", "no header"});
    std::string unnamed = text;
    unnamed.replace(unnamed.find("ST04"), 4, "");
    static_cast<void>(folder.file("receivers.csv", unnamed));
    expect_refusal(shuffled, "", 4, {"receivers.csv: line 6", "no name"});
    unnamed.replace(unnamed.find("\n,"), 2, "\nST99,");
    static_cast<void>(folder.file("receivers.csv", unnamed));
    expect_refusal(shuffled, "", 4, {"no channel for the receiver 'ST99'", "--fill-missing"});
    expect_event(shuffled, "--fill-missing");
}

TEST_F(LocateFormats, DamagedRecordsAreNamed) {
    std::string bytes = read_bytes(miniseed([](Channel& channel, int) { channel.encoding = DE_STEIM1; }));
    bytes[4096 + 700] = static_cast<char>(bytes[4096 + 700] ^ 16);
    expect_refusal(folder.file("record.mseed", bytes), "", 4,
                   {"record.mseed: the record of XX.ST00..HHZ at byte 4096 (2024-02-29T13:00:", "restore it"});
}

TEST_F(LocateFormats, SegyDelaysAreHeeded) {
    seismic_files::Segy file;
    constexpr int kDelays[kStations] = {0, 30, 70, 10, 50, 90, 20, 60};  // samples
    for (int s = 0; s < kStations; ++s) {
        const auto values = counts(s);
        file.traces.push_back({.values = {values.begin() + kDelays[s], values.end() - 100 + kDelays[s]},
                               .year = 2024,
                               .day = 60,
                               .hour = 13,
                               .delay = kDelays[s] * 10});
    }
    const std::string record = folder.file("record.sgy", segy_bytes(file));
    expect_event(record);
    EXPECT_EQ(located(record).at("utc"), "2024-02-29T13:00:25.000000Z");
    expect_holds(run(record).err, {"traces 1 to 8 are the receivers in the order of their coordinates, ST00 to ST07",
                                   "up to 0.900 s after each other"});
    file.format = 4;
    expect_refusal(folder.file("record.sgy", segy_bytes(file)), "", 4, {"format 4", "not read"});
}

TEST_F(LocateFormats, OffsetsAreWarnedOfAndTakenOff) {
    const std::string record = miniseed([](Channel& channel, int) {
        for (auto& value : channel.values) value -= 5000;
    });
    expect_warning(record, "", {"the maximum is 0, not more than 0", "--demean"});
    for (const char* options : {"--demean", "--detrend", "--bandpass 1,20", "--bandpass 1,20 --demean --window 333"})
        expect_event(record, options);
    const std::string sloping = miniseed([](Channel& channel, int) {
        for (std::size_t k = 0; k < channel.values.size(); ++k) channel.values[k] += static_cast<int>(k) * 3 - 9000;
    });
    EXPECT_NE(located(sloping, "--demean").at("node"), kNode);
    expect_event(sloping, "--detrend");
    expect_event(sloping, "--detrend --bandpass 2,20");
    for (const char* band : {"0,20", "20,2", "2,50", "2", "a,b", "2,20,30"})
        expect_refusal(record, std::string("--bandpass ") + band, 2, {"--bandpass"});
}

TEST_F(LocateFormats, SignsMayDiffer) {
    const std::string record = miniseed([](Channel& channel, int s) {
        if (s % 2 == 0)
            for (auto& value : channel.values) value = -value;
    });
    EXPECT_NE(located(record).at("node"), kNode);
    expect_event(record, "--absolute");
}

TEST_F(LocateFormats, AMaximumInAGapIsWarnedOf) {
    std::string bytes;
    for (int s = 0; s < kStations; ++s) {
        auto values = counts(s);
        for (auto& value : values) value -= 5000;
        const auto part = [&](int first, int until) {
            bytes += miniseed2({.station = station(s),
                                .start = first * 10'000,
                                .values = {values.begin() + first, values.begin() + until},
                                .record_bytes = 4096});
        };
        part(0, 4000);
        part(4500, 6000);
    }
    const std::string record = folder.file("record.mseed", bytes);
    expect_warning(record, "", {"the maximum lies in a gap: at 8 of 8 receivers", "--demean", "not more than 0"});
    expect_event(record, "--demean");
}

TEST_F(LocateFormats, AMaximumAtTheEndIsWarnedOf) {
    const std::string record = miniseed([](Channel& channel, int s) { channel.values = counts(s, 5950); });
    expect_warning(record, "", {"within the longest delay, ", "samples, of the record's end"});
}

TEST_F(LocateFormats, KilometresAreWarnedOf) {
    std::string text = "name,x,y,z\n";
    for (int s = 0; s < kStations; ++s)
        text += station(s) + "," + std::to_string(kCoordinates[s][0] / 1000) + "," +
                std::to_string(kCoordinates[s][1] / 1000) + ",0\n";
    static_cast<void>(folder.file("receivers.csv", text));
    const std::string record = miniseed();
    expect_warning(record, "", {"delays at all receivers are about alike", "kilometres"});
    const std::string all = "locate " + quoted(record) + " --receivers-file " + espalier::quoted(receivers) +
                            " --grid 6x6x3 --spacing 0.5 --origin 0,0,0.5 --velocity 3000 --json";
    const Finished finished = run_espalier(folder, all);
    expect_holds(nlohmann::json::parse(finished.out).at("warnings").dump(),
                 {"all delays are about zero", "kilometres"});
}

TEST_F(LocateFormats, HoursOfSilenceAreNotSummed) {
    std::string bytes = read_bytes(miniseed());
    constexpr std::int64_t kLater = 20 * 3600;
    for (int s = 0; s < kStations; ++s)
        bytes += miniseed2(
            {.station = station(s), .start = kLater * 1'000'000, .values = counts(s, 1000), .record_bytes = 4096});
    const std::string record = folder.file("record.mseed", bytes);
    const auto json = located(record, "--window 1500 -o " + quoted(folder / "windows.csv"));
    EXPECT_EQ(json.at("node"), kNode);
    EXPECT_EQ(json.at("samples"), kLater * 100 + kSamples);
    EXPECT_LE(json.at("windows").get<int>() - json.at("silent_windows").get<int>(), 9);
    const std::string windows = read_bytes(folder / "windows.csv");
    EXPECT_EQ(std::count(windows.begin(), windows.end(), '\n'), json.at("windows").get<int>() + 1);
    // The same with one buffer, filtered, and as a cube.
    for (const char* options : {"", "--no-double-buffering", "--window 1499"}) {
        static_cast<void>(located(record, "--cube " + quoted(folder / "cube.f32") + " " + options));
        if (*options == '\0')
            std::filesystem::rename(folder / "cube.f32", folder / "first.f32");
        else
            EXPECT_EQ(read_bytes(folder / "cube.f32"), read_bytes(folder / "first.f32")) << options;
    }
    EXPECT_EQ(located(record, "--bandpass 1,20").at("node"), kNode);
    expect_refusal(record, "--max-gap 19h", 4, {"record.mseed", "gap of", "--max-gap"});
}

TEST_F(LocateFormats, ContradictionsAreRefusedOrDecided) {
    const std::string good = read_bytes(miniseed());
    const std::string later =
        miniseed2({.station = "ST02", .start = 28'000'000, .values = std::vector<std::int32_t>(200, 30000)});
    const std::string record = folder.file("record.mseed", good + later);
    expect_refusal(record, "", 4, {"XX.ST02..HHZ", "overlap by 200 samples", "contradict", "--overlap first"});
    expect_event(record, "--overlap first");
    EXPECT_GT(located(record, "--overlap last").at("coherence"), 29000);
    const std::string same = folder.file("record.mseed", good + good.substr(8192, 4096));
    expect_event(same);
    EXPECT_EQ(located(same).at("notes").size(), 1U);
}

}  // namespace
}  // namespace espalier::bench
