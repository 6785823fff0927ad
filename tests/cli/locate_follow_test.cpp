// `espalier locate --follow` on files that another process, this one, appends to: each window when it is there, in the
// end what a run over the whole record says, and what becomes of files that do not only grow.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/support/child_process.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/seismic_files.hpp"
#include "tests/support/seismic_network.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;
using namespace seismic_network;

constexpr std::size_t kRecordBytes = 512;
constexpr int kRecordSamples = (512 - 56) / 4;
constexpr int kRecords = (kSamples + kRecordSamples - 1) / kRecordSamples;  // of each station
constexpr int kWindow = 500, kSpan = 131;

/// Windows that are complete when all stations have sent so many records.
int windows_of(int records) {
    return (std::min(records * kRecordSamples, static_cast<int>(kSamples)) - kSpan) / kWindow;
}

class LocateFollow : public testing::Test {
protected:
    LocateFollow() : receivers_(folder_.file("receivers.csv", receivers_csv())), record_(folder_ / "record.mseed") {
        for (int s = 0; s < kStations; ++s)
            sent_.push_back(
                seismic_files::miniseed2({.station = station(s), .values = counts(s), .encoding = DE_INT32}));
    }

    /// Records [first, until) of all stations, in the order of time.
    [[nodiscard]] std::string records(int first, int until) const {
        std::string bytes;
        for (int i = first; i < until; ++i)
            for (int s = 0; s < kStations; ++s) bytes += record(s, i);
        return bytes;
    }
    [[nodiscard]] std::string record(int station, int number) const {
        return sent_[static_cast<std::size_t>(station)].substr(static_cast<std::size_t>(number) * kRecordBytes,
                                                               kRecordBytes);
    }

    void append(const std::string& bytes, const std::string& path) const {
        std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
    }
    void append(const std::string& bytes) const { append(bytes, record_); }

    /// Options in `more` count instead of those that are here.
    [[nodiscard]] std::vector<std::string> arguments(const std::string& output,
                                                     const std::vector<std::string>& more) const {
        std::vector<std::string> all{ESPALIER_PROGRAM, "locate", record_};
        for (const auto& [option, value] : {std::pair<std::string, std::string>{"--grid", "6x6x3"},
                                            {"--spacing", "500"},
                                            {"--origin", "0,0,500"},
                                            {"--velocity", "3000"},
                                            {"--device", "cpu"},
                                            {"--window", std::to_string(kWindow)},
                                            {"--receivers-file", receivers_},
                                            {"-o", folder_ / output}})
            if (std::find(more.begin(), more.end(), option) == more.end()) all.insert(all.end(), {option, value});
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    [[nodiscard]] std::vector<std::string> following(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> all{"--follow", "--cube", folder_ / "followed.f32"};
        all.insert(all.end(), more.begin(), more.end());
        return arguments("followed.csv", all);
    }

    [[nodiscard]] std::string said() const { return read_bytes(folder_ / "said"); }

    /// Windows in the table so far.
    [[nodiscard]] int windows(const std::string& table = "followed.csv") const {
        const std::string text = read_bytes(folder_ / table);
        return static_cast<int>(std::count(text.begin(), text.end(), '\n')) - 1;
    }

    void expect_windows(int count) const {
        constexpr int kLooks = 3000;
        for (int look = 0; look < kLooks && windows() < count; ++look)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
        EXPECT_EQ(windows(), count) << said();
    }

    /// Follows the record as it is, to its end.
    void follow(int code, const std::vector<std::string>& more = {"--follow-idle", "0.3s"}) const {
        ChildProcess run(following(more), folder_ / "said");
        EXPECT_EQ(run.wait(), code) << said();
    }

    /// That the table and the cube are those of a run over the whole record.
    void expect_the_same(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> all{"--cube", folder_ / "whole.f32"};
        all.insert(all.end(), more.begin(), more.end());
        ChildProcess run(arguments("whole.csv", all), folder_ / "said-of-whole");
        ASSERT_EQ(run.wait(), 0) << read_bytes(folder_ / "said-of-whole");
        EXPECT_EQ(read_bytes(folder_ / "followed.csv"), read_bytes(folder_ / "whole.csv"));
        EXPECT_TRUE(read_bytes(folder_ / "followed.f32") == read_bytes(folder_ / "whole.f32"));
    }

    /// Follows a record, does something to it, and expects a refusal that keeps the windows before.
    void expect_refusal(const std::function<void()>& change, std::initializer_list<const char*> parts) const {
        fs::remove(folder_ / "followed.csv");
        ChildProcess run(following(), folder_ / "said");
        expect_windows(windows_of(20));
        change();
        EXPECT_EQ(run.wait(), 4);
        expect_holds(said(), parts);
        EXPECT_EQ(windows(), windows_of(20));
    }

    TemporaryFolder folder_;
    const std::string receivers_, record_;
    std::vector<std::string> sent_;
};

TEST_F(LocateFollow, WindowsComeWithTheirSamplesAndNothingIsLost) {
    append(records(0, 20));
    ChildProcess run(following(), folder_ / "said");
    expect_windows(windows_of(20));
    const std::string more = records(20, 40);
    for (std::size_t at = 0; at < more.size(); at += 300) append(more.substr(at, 300));  // as no record is cut
    expect_windows(windows_of(40));
    append(records(40, kRecords));
    for (int twice = 0; twice < 2; ++twice) {
        run.kill(SIGINT);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(run.wait(), 128 + SIGINT) << said();
    expect_holds(said(), {"following: windows of 500 samples by ", "ended by a signal", "maximum ", "(sample 2500)"});
    expect_the_same();
}

TEST_F(LocateFollow, RecordsAreWaitedForUntilTheyAreWhole) {
    append(records(0, 30) + record(0, 30).substr(0, 100));
    follow(0, {"--follow-idle", "0.3s", "--json", "--quiet"});
    const auto json = nlohmann::json::parse(said());
    EXPECT_EQ(json.at("notes"), nlohmann::json::parse("[\"" + record_ + ": the last 100 bytes are no whole record\"]"));
    EXPECT_EQ(json.at("following").at("ended_by"), "--follow-idle");
    EXPECT_GT(json.at("following").at("awaited_seconds"), 0);
    EXPECT_EQ(json.at("following").at("late_samples"), 0);
    EXPECT_EQ(json.at("samples"), 30 * kRecordSamples);
    fs::resize_file(record_, 30 * kStations * kRecordBytes);
    expect_the_same();
}

TEST_F(LocateFollow, GapsAreThoseOfTheWholeRecord) {
    std::string bytes = records(0, 10);
    for (int i = 10; i < 15; ++i)
        for (int s = 0; s < kStations; ++s)
            if (s != 3) bytes += record(s, i);
    append(bytes);
    ChildProcess run(following(), folder_ / "said");
    expect_windows(windows_of(10));  // until the station sends again
    append(records(15, 20));
    expect_windows(windows_of(20));
    append(records(32, kRecords));  // all were silent
    expect_windows(windows_of(kRecords));
    run.kill(SIGINT);
    EXPECT_EQ(run.wait(), 128 + SIGINT) << said();
    expect_the_same();
}

TEST_F(LocateFollow, SilentStationsAreNotWaitedForIfToldSo) {
    std::string bytes = records(0, 10), late;
    for (int i = 10; i < 40; ++i)
        for (int s = 0; s < kStations; ++s) (s == 3 ? late : bytes) += record(s, i);
    append(bytes);
    ChildProcess run(following({"--follow-late", "5s", "--json", "--quiet"}), folder_ / "said");
    const int located = (40 * kRecordSamples - 500 - kSpan) / kWindow;
    expect_windows(located);
    append(late);
    append(records(40, 42));
    expect_windows(windows_of(42));
    run.kill(SIGTERM);
    EXPECT_EQ(run.wait(), 128 + SIGTERM) << said();
    const auto json = nlohmann::json::parse(said());
    EXPECT_EQ(json.at("following").at("late_samples"), located * kWindow + kSpan - 10 * kRecordSamples);
    expect_holds(json.at("warnings").dump(), {"samples came after their window was located with zeros"});
}

TEST_F(LocateFollow, EndsAfterATime) {
    append(records(0, 30));
    follow(0, {"--follow-for", "0.5s"});
    expect_holds(said(), {"ended by --follow-for"});
    expect_the_same();
    follow(0, {"--follow-for", "0.001s", "--interpolation", "linear", "--absolute"});
    expect_the_same({"--interpolation", "linear", "--absolute"});
}

TEST_F(LocateFollow, GpusGiveTheirOwnSums) {
    append(records(0, 13));
    const std::vector<std::string> executor{"--device", "executor", "--window", "600"};
    std::vector<std::string> all = executor;
    all.insert(all.end(), {"--follow-idle", "0.1s"});
    ChildProcess run(following(all), folder_ / "said");
    if (run.wait() == 3) GTEST_SKIP() << said();
    expect_the_same(executor);
}

TEST_F(LocateFollow, OneFileMayFollowAnother) {
    append(records(0, 20));
    const std::string next = folder_ / "next.mseed";
    auto all = following();
    all.insert(all.begin() + 3, next);
    ChildProcess run(all, folder_ / "said");
    expect_windows(windows_of(20));
    append(records(20, kRecords), next);
    expect_windows(windows_of(kRecords));
    run.kill(SIGHUP);
    EXPECT_EQ(run.wait(), 128 + SIGHUP) << said();
    append(records(20, kRecords));
    expect_the_same();
}

TEST_F(LocateFollow, AnIndexMayGainFiles) {
    ASSERT_EQ(run_espalier(folder_, "synthesize " + quoted(folder_ / "raw") +
                                        " --receivers 8 --rate 100 --duration 6000 --file-length 1000")
                  .code,
              0);
    const std::string path = folder_ / "raw/record.json", other = folder_ / "raw/other.json";
    const auto whole = nlohmann::ordered_json::parse(read_bytes(path));
    auto part = whole;
    part.at("files").erase(part.at("files").begin() + 3, part.at("files").end());
    const auto replace = [&](const std::string& text) {
        static_cast<void>(folder_.file("raw/other.json", text));
        fs::rename(other, path);
    };
    replace(part.dump());
    const auto in_raw = [&](std::vector<std::string> all) {
        all[2] = path;
        return all;
    };
    ChildProcess run(in_raw(following({"--follow-idle", "20s"})), folder_ / "said");
    expect_windows((3000 - kSpan) / kWindow);
    replace(whole.dump());
    expect_windows((6000 - kSpan) / kWindow);
    auto bad = whole;
    bad.at("files")[1]["first_sample"] = 1001;
    replace(bad.dump());
    EXPECT_EQ(run.wait(), 4);
    expect_holds(said(), {"record.json: says something else of files that it listed before", "Start again"});
    ChildProcess again(in_raw(following({"--follow-idle", "20s"})), folder_ / "said");
    EXPECT_EQ(again.wait(), 4) << "refused as without --follow";
    replace("{");
    ChildProcess broken(in_raw(following()), folder_ / "said");
    EXPECT_EQ(broken.wait(), 4);
    replace(whole.dump());
    ChildProcess last(in_raw(following({"--follow-idle", "0.1s"})), folder_ / "said");
    EXPECT_EQ(last.wait(), 0) << said();
    ChildProcess ordinary(in_raw(arguments("whole.csv", {})), folder_ / "said");
    EXPECT_EQ(ordinary.wait(), 0) << said();
    EXPECT_EQ(read_bytes(folder_ / "followed.csv"), read_bytes(folder_ / "whole.csv"));
}

TEST_F(LocateFollow, FilesThatDoNotOnlyGrowAreRefused) {
    append(records(0, 20));
    expect_refusal([&] { fs::resize_file(record_, 1000); },
                   {"record.mseed: became shorter, 1000 bytes, after 81920 bytes of it were read", "start again"});
    fs::remove(record_);
    append(records(0, 20));
    expect_refusal(
        [&] {
            fs::copy_file(record_, folder_ / "copy");
            fs::rename(folder_ / "copy", record_);
        },
        {"record.mseed: was replaced by another file after 81920 bytes", "start again"});
    expect_refusal([&] { fs::remove(record_); }, {"record.mseed: cannot be read any more: No such file", "restore it"});
    append(records(5, 25));
    fs::remove(folder_ / "followed.csv");
    ChildProcess run(following(), folder_ / "said");
    expect_windows(windows_of(20));
    append(record(0, 4));
    EXPECT_EQ(run.wait(), 4);
    expect_holds(said(), {"begins 1.14 s before all that were there when following began", "start again"});
}

TEST_F(LocateFollow, RefusesWhatCannotBe) {
    append(records(0, 20));
    const auto refuse = [&](const std::vector<std::string>& more, int code, std::initializer_list<const char*> parts) {
        follow(code, more);
        expect_holds(said(), parts);
    };
    for (const char* option : {"--demean", "--detrend", "--bandpass=1,20"})
        refuse({option}, 2, {"read the whole record first", "leave them out"});
    refuse({"--save-sums", folder_ / "sums.npy"}, 2, {"--save-sums needs the record's length"});
    refuse({"--follow-idle", "soon"}, 2, {"--follow-idle", "soon"});
    refuse({"--follow-late", "-1"}, 2, {"--follow-late"});
    refuse({"--velocity", "1", "--follow-idle", "0.1s"}, 2, {"the longest delay is", "check the velocity"});
    ChildProcess alone(arguments("whole.csv", {"--follow-for", "1s"}), folder_ / "said");
    EXPECT_EQ(alone.wait(), 2);
    expect_holds(said(), {"--follow-for says how to follow", "give --follow, too"});
    auto raw = following({"--rate", "100"});
    raw[2] = folder_.file("record.f32", std::string(3200, '\0'));
    ChildProcess run(raw, folder_ / "said");
    EXPECT_EQ(run.wait(), 4);
    expect_holds(said(), {"record.f32: holds one receiver after the other", "follow miniSEED, or an index"});
}

}  // namespace
}  // namespace espalier::bench
