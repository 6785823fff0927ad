// SEG-Y headers: when traces begin, how many samples they have, which formats are not read, and dead traces.

#include <gtest/gtest.h>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/seismic/record.hpp"
#include "tests/support/seismic_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::seismic {
namespace {

using seismic_files::Segy;
using seismic_files::segy_bytes;
using seismic_files::Trace;

constexpr std::int64_t kSamples = 300;

std::vector<float> trace_values(std::int64_t trace, std::int64_t first, std::int64_t count) {
    std::vector<float> values;
    for (std::int64_t k = first; k < first + count; ++k)
        values.push_back(static_cast<float>(trace * 1000 + k % 997 + 1));
    return values;
}

/// Traces of a file that begin `late` samples after sample 0 of the record.
Segy with_traces(const std::vector<std::int64_t>& late, std::int64_t samples = kSamples) {
    Segy file;
    for (std::size_t t = 0; t < late.size(); ++t)
        file.traces.push_back({.values = trace_values(static_cast<std::int64_t>(t), late[t], samples)});
    return file;
}

class SegyFiles : public testing::Test {
protected:
    [[nodiscard]] std::unique_ptr<Record> open(const std::vector<Segy>& files,
                                               const RecordOptions& options = {}) const {
        std::vector<std::string> paths;
        for (const Segy& file : files)
            paths.push_back(folder.file("part-" + std::to_string(paths.size()) + ".sgy", segy_bytes(file)));
        return open_record(paths, options);
    }

    void expect_refusal(const Segy& file, std::initializer_list<const char*> parts) const {
        expect_holds(message_of<io::BadFile>([&] { return open({file}); }), parts);
    }

    /// That trace t holds its samples from late[t] on, and zeros elsewhere.
    static void expect_traces(Record& record, const std::vector<std::int64_t>& late, std::int64_t samples = kSamples) {
        for (const std::int64_t piece : {record.samples(), std::int64_t{77}}) {
            std::vector<float> rows(static_cast<std::size_t>(record.receivers() * piece));
            for (std::int64_t first = 0; first < record.samples(); first += piece) {
                record.read(first, piece, rows.data(), piece);
                for (std::int64_t t = 0; t < record.receivers(); ++t)
                    for (std::int64_t i = 0; i < piece; ++i) {
                        const std::int64_t k = first + i, own = k - late[static_cast<std::size_t>(t)];
                        const float truth = own >= 0 && own < samples ? trace_values(t, k, 1)[0] : 0;
                        ASSERT_EQ(rows[static_cast<std::size_t>(t * piece + i)], truth) << "trace " << t << " at " << k;
                    }
            }
        }
    }

    TemporaryFolder folder;
};

struct Delays {
    const char* name;
    std::vector<std::pair<int, int>> delays;  ///< milliseconds and their scalar
    std::vector<std::int64_t> late;           ///< samples of 10 ms after the earliest
};

class SegyDelays : public SegyFiles, public testing::WithParamInterface<Delays> {};

TEST_P(SegyDelays, TracesBeginAfterThem) {
    const auto& [name, delays, late] = GetParam();
    Segy file = with_traces(late);
    for (std::size_t t = 0; t < delays.size(); ++t) std::tie(file.traces[t].delay, file.traces[t].scalar) = delays[t];
    const auto record = open({file});
    EXPECT_EQ(record->samples(), kSamples + *std::max_element(late.begin(), late.end()));
    expect_traces(*record, late);
}

INSTANTIATE_TEST_SUITE_P(OfEveryKind, SegyDelays,
                         testing::Values(Delays{"Positive", {{0, 0}, {300, 1}, {700, 0}}, {0, 30, 70}},
                                         Delays{"Negative", {{0, 0}, {-300, 0}, {-100, 0}}, {30, 0, 20}},
                                         Delays{"AllAlike", {{500, 0}, {500, 0}, {500, 0}}, {0, 0, 0}},
                                         Delays{"Multiplied", {{0, 10}, {3, 100}, {1, 1000}}, {0, 30, 100}},
                                         Delays{"Divided", {{0, -10}, {3000, -10}, {32000, -100}}, {0, 30, 32}},
                                         Delays{"LongestMultiplied", {{0, 0}, {0, 1}, {1, 10000}}, {0, 0, 1000}}),
                         [](const auto& one) { return one.param.name; });

TEST_F(SegyFiles, ClocksDifferByTrace) {
    // Across the last second of a leap year's last day.
    const std::vector<std::int64_t> late{0, 130, 100};
    Segy file = with_traces(late);
    file.traces[0].year = 2024, file.traces[0].day = 366, file.traces[0].hour = 23, file.traces[0].minute = 59,
    file.traces[0].second = 59;
    file.traces[1].year = 2025, file.traces[1].day = 1, file.traces[1].delay = 300;
    file.traces[2].year = 2025, file.traces[2].day = 1;
    const auto record = open({file});
    expect_traces(*record, late);
    EXPECT_EQ(record->start(), "2024-12-31T23:59:59Z");
    EXPECT_EQ(record->start_time(), std::int64_t{1'735'689'599} * 1'000'000'000);
    expect_holds(record->notes().at(0), {"part-0.sgy", "up to 1.300 s after each other"});
    ASSERT_EQ(record->gaps().size(), 4U);
    EXPECT_EQ(record->gaps()[1].receiver, 1);
    EXPECT_EQ(record->gaps()[1].samples, 130);
}

TEST_F(SegyFiles, ADelayIsPartOfTheStart) {
    Segy file = with_traces({0, 0, 0});
    for (Trace& trace : file.traces) trace.year = 2024, trace.day = 60, trace.delay = 250;
    EXPECT_EQ(open({file})->start(), "2024-02-29T00:00:00.250000Z");
    for (Trace& trace : file.traces) trace.basis = 1;  // local time
    EXPECT_EQ(open({file})->start(), "2024-02-29T00:00:00.250000");
    EXPECT_FALSE(open({file})->start_time());
}

TEST_F(SegyFiles, FilesGoOnWhereTheOnesBeforeEnd) {
    const std::vector<std::int64_t> late{0, 30, 70};
    Segy one = with_traces(late), two = with_traces({300, 330, 370});
    for (std::size_t t = 0; t < 3; ++t)
        for (Segy* file : {&one, &two}) {
            file->traces[t].year = 2024, file->traces[t].day = 60;
            file->traces[t].second = file == &one ? 0 : 3;
            file->traces[t].delay = static_cast<int>(late[t] * 10);
        }
    expect_traces(*open({one, two}), late, 2 * kSamples);
    // Milliseconds show a gap of less than a second, and overlaps.
    for (Trace& trace : two.traces) trace.delay += 400;
    const auto gap = open({one, two});
    EXPECT_EQ(gap->samples(), 2 * kSamples + 70 + 40);
    two.traces[1].delay -= 410;
    expect_holds(message_of<io::BadFile>([&] { return open({one, two}); }), {"part-1.sgy", "trace 2", "order of time"});
}

TEST_F(SegyFiles, NumbersAreUnsigned) {
    for (const std::int64_t samples : {32767, 32768, 40000, 60000, 65535}) {
        const auto record = open({with_traces({0, 0, 0}, samples)});
        EXPECT_EQ(record->samples(), samples);
        expect_traces(*record, {0, 0, 0}, samples);
    }
    for (const int interval : {32768, 40000, 65535}) {
        Segy file = with_traces({0, 0, 0});
        file.interval = interval;
        EXPECT_EQ(open({file})->rate(), 1e6 / interval);
    }
}

TEST_F(SegyFiles, FormatsThatAreNotReadAreNamed) {
    const std::pair<int, const char*> formats[] = {{4, "fixed-point"},
                                                   {6, "IEEE floats of 8 bytes"},
                                                   {7, "integers of 3 bytes"},
                                                   {9, "integers of 8 bytes"},
                                                   {10, "unsigned integers of 4 bytes"},
                                                   {11, "unsigned integers of 2 bytes"},
                                                   {12, "unsigned integers of 8 bytes"},
                                                   {15, "unsigned integers of 3 bytes"},
                                                   {16, "unsigned integers of 1 byte"}};
    for (const auto& [format, name] : formats) {
        Segy file = with_traces({0, 0, 0});
        file.format = format;
        const std::string number = "format " + std::to_string(format) + ", ";
        expect_refusal(file, {"part-0.sgy", number.c_str(), name, "not read", "format 5"});
    }
    Segy file = with_traces({0, 0, 0});
    file.format = 99;
    expect_refusal(file, {"format 99", "is it a SEG-Y file"});
    file.format = 5 << 8;
    expect_refusal(file, {"little-endian"});
}

TEST_F(SegyFiles, DeadTracesAreZerosAndTold) {
    const std::pair<int, const char*> kinds[] = {{2, "dead"}, {3, "dummy"}, {4, "time break"}, {8, "water break"}};
    for (const auto& [kind, name] : kinds) {
        Segy file = with_traces({0, 0, 0});
        file.traces[1].kind = kind;
        const auto record = open({file});
        expect_traces(*record, {0, 1 << 20, 0});
        expect_holds(record->notes().at(0), {"part-0.sgy: trace 2 is flagged", name});
        ASSERT_EQ(record->gaps().size(), 1U);
        EXPECT_EQ(record->gaps()[0].receiver, 1);
        EXPECT_EQ(record->gaps()[0].samples, kSamples);
    }
    // Their headers may be empty where the others have times.
    Segy timed = with_traces({0, 0, 0});
    for (Trace& trace : timed.traces) trace.year = 2024, trace.day = 60, trace.delay = 40;
    timed.traces[0] = {.values = timed.traces[0].values, .hour = 99, .kind = 2, .samples = 0, .interval = 0};
    const auto record = open({timed});
    expect_traces(*record, {1 << 20, 0, 0});
    EXPECT_EQ(record->start(), "2024-02-29T00:00:00.040000Z");
    for (Trace& trace : timed.traces) trace.kind = 2;
    expect_refusal(timed, {"part-0.sgy", "no recording"});
    for (const int kind : {-1, 0, 1, 9, 12}) {
        Segy file = with_traces({0, 0, 0});
        file.traces[1].kind = kind;
        expect_traces(*open({file}), {0, 0, 0});
    }
}

TEST_F(SegyFiles, IntervalsMayBeMissingButNotDiffer) {
    Segy file = with_traces({0, 0, 0});
    file.interval = 0;
    expect_refusal(file, {"part-0.sgy", "no sampling interval", "--rate"});
    EXPECT_EQ(open({file}, {.rate = 250})->rate(), 250);
    file.traces[0].interval = file.traces[1].interval = 2000;
    EXPECT_EQ(open({file})->rate(), 500);
    file.traces[2].interval = 4000;
    expect_refusal(file, {"part-0.sgy: trace 3", "4000 microseconds", "2000"});
    // 60 Hz has no whole number of microseconds.
    file = with_traces({0, 0, 0});
    file.interval = 16667;
    EXPECT_EQ(open({file}, {.rate = 60})->rate(), 60);
    EXPECT_EQ(open({file})->rate(), 1e6 / 16667);
    expect_holds(message_of<io::BadFile>([&] { return open({file}, {.rate = 61}); }),
                 {"--rate says 61", "leave --rate out"});
}

TEST_F(SegyFiles, DamagedTraceHeadersAreNamed) {
    const Segy good = with_traces({0, 0, 0});
    Segy file = good;
    file.traces[1].samples = 299;
    expect_refusal(file, {"part-0.sgy: trace 2", "299 samples", "300"});
    file = good;
    file.traces[2].scalar = 7;
    expect_refusal(file, {"part-0.sgy: trace 3", "scalar of times is 7", "bytes 215-216"});
    file = good;
    file.traces[1].year = 2024, file.traces[1].day = 60;
    expect_refusal(file, {"part-0.sgy: trace 2", "its time", "trace 1 does not", "zeros to all"});
    file.traces[0].year = file.traces[2].year = 2024;
    file.traces[0].day = file.traces[2].day = 60;
    file.traces[2].hour = 25;
    expect_refusal(file, {"part-0.sgy: trace 3", "25:0:0", "correct it"});
    file.traces[2].hour = 0;
    file.traces[2].year = 2056;
    expect_refusal(file, {"part-0.sgy", "at receiver", "--max-gap", "damaged"});
}

}  // namespace
}  // namespace espalier::bench::seismic
