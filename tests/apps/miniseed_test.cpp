// miniSEED 2 and 3: damage, what lies between records, overlaps, and which channel a receiver gets.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <numeric>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/seismic/miniseed_blocks.hpp"
#include "harness/apps/seismic/record.hpp"
#include "tests/support/seismic_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::seismic {
namespace {

using seismic_files::Channel;
using seismic_files::miniseed2;
using seismic_files::miniseed3;
using seismic_files::whole_numbers;

std::vector<float> as_floats(const std::vector<std::int32_t>& values) { return {values.begin(), values.end()}; }

/// All samples of all receivers, one after the other.
std::vector<float> read_all(Record& record) {
    std::vector<float> rows(static_cast<std::size_t>(record.receivers() * record.samples()));
    record.read(0, record.samples(), rows.data(), record.samples());
    return rows;
}

std::string flipped(std::string bytes, std::size_t bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    return bytes;
}

class MiniSeedFiles : public testing::Test {
protected:
    [[nodiscard]] std::string write(const std::string& bytes) const { return folder.file("record.mseed", bytes); }

    [[nodiscard]] std::unique_ptr<Record> open(const std::string& bytes, const RecordOptions& options = {}) const {
        return open_record({write(bytes)}, options);
    }

    [[nodiscard]] std::vector<float> samples(const std::string& bytes, const RecordOptions& options = {}) const {
        return read_all(*open(bytes, options));
    }

    void expect_refusal(const std::string& bytes, const RecordOptions& options,
                        std::initializer_list<const char*> parts) const {
        expect_holds(message_of<io::BadFile>([&] { return samples(bytes, options); }), parts);
    }

    TemporaryFolder folder;
};

TEST_F(MiniSeedFiles, NoFlippedBitChangesSamples) {
    for (const int encoding : {DE_STEIM1, DE_STEIM2})
        for (const bool big_endian : {true, false}) {
            SCOPED_TRACE(testing::Message() << "encoding " << encoding << ", big-endian " << big_endian);
            const auto values = whole_numbers(3, 0, 150);
            const std::string good =
                miniseed2({.values = values, .encoding = encoding, .big_endian = big_endian, .record_bytes = 512});
            ASSERT_EQ(good.size(), 512U);
            const auto truth = as_floats(values);
            ASSERT_EQ(samples(good), truth);
            const MiniSeedBlock block{.bytes = 512, .samples = 150, .rate = 100};
            std::vector<float> decoded;
            int refused = 0;
            for (std::size_t bit = 64 * 8; bit < good.size() * 8; ++bit) {
                std::string damaged = flipped(good, bit);
                if (decode_miniseed(damaged, block, decoded))
                    ++refused;
                else
                    ASSERT_EQ(decoded, truth) << "bit " << bit << " passed in silence";
            }
            for (const std::size_t bit : {64 * 8 + 40, 100 * 8 + 3, 130 * 8})  // X0, and differences
                expect_refusal(flipped(good, bit), {}, {"record.mseed", "XX.R0..HHZ", "byte 0", "restore it"});
            EXPECT_GT(refused, 1200) << "of 3584 bits, some of them in words that hold no sample";
        }
}

TEST_F(MiniSeedFiles, ARecordWhoseLastSampleIsNotXnIsNamed) {
    std::string bytes;
    for (int part = 0; part < 3; ++part)
        bytes += miniseed2({.start = part * 1'000'000, .values = whole_numbers(0, part * 100, 100)});
    bytes[512 + 64 + 7] = static_cast<char>(bytes[512 + 64 + 7] ^ 4);  // of X0, which shifts all that follows
    expect_refusal(bytes, {},
                   {"XX.R0..HHZ at byte 512 (2024-02-29T13:00:01.000000Z, 100 samples from sample 100 on)", "Xn",
                    "damaged", "restore it"});
}

// libmseed decodes as many as are announced, whatever lies behind the record.
TEST_F(MiniSeedFiles, ARecordThatAnnouncesMoreSamplesThanItHoldsIsRefused) {
    std::vector<std::int32_t> values(100);
    std::iota(values.begin(), values.end(), -50);
    for (const int encoding : {DE_INT16, DE_INT32}) {
        SCOPED_TRACE(encoding);
        const std::string good = miniseed2({.values = values, .encoding = encoding, .record_bytes = 512});
        ASSERT_EQ(samples(good), as_floats(values));
        const int data_at = static_cast<unsigned char>(good[44]) << 8 | static_cast<unsigned char>(good[45]);
        const int room = (512 - data_at) / (encoding == DE_INT16 ? 2 : 4);
        for (const int announced : {room + 1, 500, 30'000}) {
            std::string more = good;
            more[30] = static_cast<char>(announced >> 8), more[31] = static_cast<char>(announced);  // big-endian
            expect_refusal(more, {}, {"record.mseed", "XX.R0..HHZ", "more samples than it has room for"});
        }
    }
}

TEST_F(MiniSeedFiles, BlocksBetweenRecordsAreSkippedAndCounted) {
    std::string records[3];
    for (int part = 0; part < 3; ++part)
        records[part] = miniseed2({.start = part * 1'000'000, .values = whole_numbers(0, part * 100, 100)});
    const auto truth = as_floats(whole_numbers(0, 0, 300));
    std::string noise(1000, '\0');
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * i * 31 + i);
    const std::string blank = "000017" + std::string(506, ' ');
    for (const std::string& block : {blank, noise, std::string("# a comment\n"), std::string(4096, '\0'),
                                     std::string(512, ' '), blank + noise, std::string("000001D")}) {
        SCOPED_TRACE(block.substr(0, 20));
        const auto record = open(block + records[0] + records[1] + block + records[2] + block.substr(0, 6));
        EXPECT_EQ(read_all(*record), truth);
        ASSERT_EQ(record->notes().size(), 1U);
        const std::string bytes = std::to_string(2 * block.size() + 6) + " bytes";
        expect_holds(record->notes()[0], {"record.mseed: skipped 3 blocks", bytes.c_str(), "the first at byte 0"});
    }
    EXPECT_TRUE(open(records[0] + records[1])->notes().empty());
    expect_refusal(records[0] + records[1].substr(0, 511), {}, {"not whole miniSEED from byte 512"});
    expect_refusal(records[0] + records[1].substr(0, 20), {}, {"not whole miniSEED from byte 512"});
    expect_refusal(noise, {}, {"not whole miniSEED from byte 0"});
}

TEST_F(MiniSeedFiles, AgreeingOverlapsAreReadAndTold) {
    const auto truth = as_floats(whole_numbers(0, 0, 200));
    const std::string bytes = miniseed2({.values = whole_numbers(0, 0, 120)}) +
                              miniseed2({.start = 700'000, .values = whole_numbers(0, 70, 130)}) +
                              miniseed2({.start = 800'000, .values = whole_numbers(0, 80, 20)});
    for (const Overlap overlap : {Overlap::refuse, Overlap::first, Overlap::last}) {
        const auto record = open(bytes, {.overlap = overlap});
        EXPECT_EQ(read_all(*record), truth);
        ASSERT_EQ(record->notes().size(), 1U);
        expect_holds(record->notes()[0], {"XX.R0..HHZ: 2 overlaps of 70 samples, which agree"});
    }
}

TEST_F(MiniSeedFiles, ContradictingOverlapsAreRefusedOrDecided) {
    const auto early = whole_numbers(0, 0, 120), late = whole_numbers(5, 70, 130);
    const std::string one = miniseed2({.values = early}), other = miniseed2({.start = 700'000, .values = late});
    for (const std::string& bytes : {one + other, other + one}) {  // the files' order does not matter
        expect_refusal(bytes, {},
                       {"XX.R0..HHZ", "byte 0", "byte 512",
                        "overlap by 50 samples from "
                        "2024-02-29T13:00:00.700000Z",
                        "sample 70", "--overlap first"});
        auto truth = as_floats(early);
        truth.insert(truth.end(), late.begin() + 50, late.end());
        EXPECT_EQ(samples(bytes, {.overlap = Overlap::first}), truth);
        truth = as_floats({early.begin(), early.begin() + 70});
        truth.insert(truth.end(), late.begin(), late.end());
        const auto record = open(bytes, {.overlap = Overlap::last});
        EXPECT_EQ(read_all(*record), truth);
        expect_holds(record->notes().at(0), {"1 overlap of 50 samples, which differ: what begins last counts"});
    }
}

TEST_F(MiniSeedFiles, AContradictionWithinARecordIsFound) {
    auto inner = whole_numbers(0, 40, 20);
    inner[13] += 1;
    const std::string bytes = miniseed2({.values = whole_numbers(0, 0, 120)}) +
                              miniseed2({.start = 100'000, .values = whole_numbers(0, 10, 20)}) +
                              miniseed2({.start = 400'000, .values = inner});
    expect_refusal(bytes, {}, {"byte 1024", "byte 0", "contradict", "sample 53 "});
    const auto truth = as_floats(whole_numbers(0, 0, 120));
    EXPECT_EQ(samples(bytes, {.overlap = Overlap::first}), truth);
    auto last = truth;
    last[53] += 1;
    EXPECT_EQ(samples(bytes, {.overlap = Overlap::last}), last);
}

TEST_F(MiniSeedFiles, OtherChannelsRefuseNothing) {
    const auto truth = as_floats(whole_numbers(0, 0, 200));
    const std::string used = miniseed2({.values = whole_numbers(0, 0, 200)});
    const std::string log = miniseed2({.channel = "LOG", .rate = 0, .values = {'h', 'i', '!'}, .encoding = DE_ASCII});
    const std::string slow = miniseed2({.channel = "LHZ", .rate = 1, .start = -9'000'000, .values = {1, 2, 3}});
    const std::string state = miniseed2({.station = "R7", .channel = "VM1", .rate = 0.1, .values = {1, 2, 3}});
    for (const std::string& others : {log, slow, state, log + slow + state})
        for (const std::string& bytes : {used + others, others + used}) {
            const auto record = open(bytes, {.names = {"XX.R0..HHZ"}});
            EXPECT_EQ(read_all(*record), truth);
            EXPECT_EQ(record->channels(), std::vector<std::string>{"XX.R0..HHZ"});
            EXPECT_EQ(record->rate(), 100);
            EXPECT_EQ(static_cast<std::int64_t>(record->notes().size()), std::ssize(others) / 512);
        }
    // A log is nobody's channel, named or not.
    EXPECT_EQ(samples(log + used), truth);
    EXPECT_EQ(samples(log + used, {.names = {"R0"}}), truth);
    expect_holds(open(log + used)->notes().at(0), {"left out the channel XX.R0..LOG (a log)"});
    expect_refusal(log, {}, {"holds no samples of any channel"});
    expect_refusal(used + slow, {.names = {"R0"}},
                   {"more than one channel for the receiver 'R0'", "XX.R0..HHZ at 100 Hz", "XX.R0..LHZ at 1 Hz",
                    "network.station.location.channel"});
    expect_refusal(used + slow, {}, {"XX.R0..LHZ has 1 samples per second", "byte 512", "name the receivers"});
}

TEST_F(MiniSeedFiles, RatesMayDriftByHalfASample) {
    const auto with_rate = [](double rate) {
        return miniseed2({.values = whole_numbers(0, 0, 400), .record_bytes = 2048}) +
               miniseed2({.station = "R1", .rate = rate, .values = whole_numbers(1, 0, 400), .record_bytes = 2048});
    };
    EXPECT_EQ(open(with_rate(100.1))->samples(), 400);  // 0.4 samples
    expect_refusal(with_rate(100.2), {}, {"XX.R1..HHZ has 100.2", "at byte 2048", "at most 0.5", "resample"});
}

TEST_F(MiniSeedFiles, JitterOfAClockIsNoGap) {
    // 4 ms of 10: alone each would go to its nearest sample, which is 100 and then 199.
    const auto record = open(miniseed2({.values = whole_numbers(0, 0, 100)}) +
                             miniseed2({.start = 1'004'000, .values = whole_numbers(0, 100, 100)}) +
                             miniseed2({.start = 1'996'000, .values = whole_numbers(0, 200, 100)}));
    EXPECT_TRUE(record->gaps().empty());
    EXPECT_EQ(read_all(*record), as_floats(whole_numbers(0, 0, 300)));
    const auto gap = open(miniseed2({.values = whole_numbers(0, 0, 100)}) +
                          miniseed2({.start = 1'010'000, .values = whole_numbers(0, 101, 100)}));
    ASSERT_EQ(gap->gaps().size(), 1U);
    EXPECT_EQ(gap->gaps()[0].first, 100);
    EXPECT_EQ(gap->gaps()[0].samples, 1);
}

TEST_F(MiniSeedFiles, PiecesWithinOneSampleStayInOrder) {
    // R0 begins at 0.6 samples. Its second piece follows the first although its clock says 100.2; the third, at 100.3,
    // must not come before it.
    const auto record = open(miniseed2({.station = "R1", .values = whole_numbers(1, 0, 120)}) +
                                 miniseed2({.start = 6'000, .values = whole_numbers(0, 0, 100)}) +
                                 miniseed2({.start = 1'002'000, .values = whole_numbers(0, 100, 19)}) +
                                 miniseed2({.start = 1'003'000, .values = whole_numbers(0, 100, 5)}),
                             {.names = {"R0", "R1"}});
    auto truth = as_floats(whole_numbers(0, 0, 119));
    truth.insert(truth.begin(), 0);
    const auto rows = read_all(*record);
    EXPECT_EQ(std::vector(rows.begin(), rows.begin() + 120), truth);
    expect_holds(record->notes().at(0), {"1 overlap of 5 samples, which agree"});
}

TEST_F(MiniSeedFiles, ReceiversGetTheChannelsOfTheirNames) {
    std::string bytes;
    for (const int r : {2, 0, 1, 3})
        bytes += miniseed2({.station = "R" + std::to_string(r), .values = whole_numbers(r, 0, 50)});
    const auto expect_order = [&](const std::vector<std::string>& names, const std::vector<int>& order) {
        const auto record = open(bytes, {.names = names});
        std::vector<float> truth;
        std::vector<std::string> channels;
        for (const int r : order) {
            for (const float value : as_floats(whole_numbers(r, 0, 50))) truth.push_back(value);
            channels.push_back("XX.R" + std::to_string(r) + "..HHZ");
        }
        EXPECT_EQ(read_all(*record), truth);
        EXPECT_EQ(record->channels(), channels);
    };
    expect_order({"R0", "R1", "R2", "R3"}, {0, 1, 2, 3});
    expect_order({"XX.R3", "R1", "XX.R0..HHZ"}, {3, 1, 0});
    expect_order({}, {2, 0, 1, 3});
    expect_holds(open(bytes, {.names = {"R0", "R1", "R3"}})->notes().at(0),
                 {"left out the channel XX.R2..HHZ (100 Hz, no receiver names it)"});
    expect_refusal(bytes, {.names = {"R0", "R8", "R1", "R9"}},
                   {"no channel for the receiver 'R8', 'R9'", "--fill-missing"});
    const auto filled = open(bytes, {.names = {"R8", "R1"}, .fill_missing = true});
    std::vector<float> truth(50);
    for (const float value : as_floats(whole_numbers(1, 0, 50))) truth.push_back(value);
    EXPECT_EQ(read_all(*filled), truth);
    EXPECT_EQ(filled->channels(), (std::vector<std::string>{"", "XX.R1..HHZ"}));
    expect_holds(filled->notes().at(0), {"no channel for the receiver R8: zeros"});
    ASSERT_EQ(filled->gaps().size(), 1U);
    expect_refusal(bytes, {.names = {"R8", "R9"}, .fill_missing = true}, {"no channel for the receiver 'R8', 'R9'"});
}

TEST_F(MiniSeedFiles, Version3ReadsTheSame) {
    for (const int encoding : {DE_INT16, DE_INT32, DE_FLOAT32, DE_FLOAT64, DE_STEIM1, DE_STEIM2}) {
        SCOPED_TRACE(encoding);
        std::string bytes;
        std::vector<float> truth;
        for (const int r : {1, 0}) {
            auto values = whole_numbers(r, 0, 333);
            if (encoding == DE_INT16)
                for (auto& value : values) value %= 1000;
            const std::string source = "FDSN:XX_R" + std::to_string(r) + "__H_H_Z";
            bytes += miniseed3({.values = {values.begin(), values.begin() + 133}, .encoding = encoding}, source);
            bytes += miniseed3(
                {.start = 1'330'000, .values = {values.begin() + 133, values.end()}, .encoding = encoding}, source);
            const auto row = as_floats(values);
            truth.insert(truth.begin(), row.begin(), row.end());
        }
        for (const auto& names : std::vector<std::vector<std::string>>{
                 {"R0", "R1"}, {"XX.R0..HHZ", "XX.R1"}, {"FDSN:XX_R0__H_H_Z", "R1"}}) {
            const auto record = open(bytes, {.names = names});
            EXPECT_EQ(read_all(*record), truth);
            EXPECT_EQ(record->start(), "2024-02-29T13:00:00.000000Z");
            EXPECT_TRUE(record->gaps().empty());
        }
    }
}

TEST_F(MiniSeedFiles, Version3AndVersion2MayBeMixed) {
    const auto values = whole_numbers(0, 0, 300);
    const std::string source = "FDSN:XX_R0__H_H_Z", period = [&] {
        std::string record = miniseed3({.start = 2'000'000, .values = whole_numbers(0, 200, 100)}, source);
        seismic_files::put_little(record, 16, -0.01);  // a period in seconds
        seismic_files::seal(record);
        return record;
    }();
    const auto record = open(miniseed2({.values = whole_numbers(0, 0, 100)}) + "noise between them" +
                             miniseed3({.start = 1'000'000, .values = whole_numbers(0, 100, 100)}, source) + period +
                             miniseed3({.rate = 0, .values = {'h', 'i'}, .encoding = DE_ASCII}, "FDSN:XX_R0__L_O_G"));
    EXPECT_EQ(read_all(*record), as_floats(values));
    ASSERT_EQ(record->notes().size(), 2U);
    expect_holds(record->notes()[0], {"skipped 1 block (18 bytes)"});
    expect_holds(record->notes()[1], {"XX.R0..LOG"});
}

TEST_F(MiniSeedFiles, EveryFlippedBitOfVersion3IsRefused) {
    const std::string good = miniseed3({.values = whole_numbers(0, 0, 40)}, "FDSN:XX_R0__H_H_Z");
    ASSERT_EQ(samples(good), as_floats(whole_numbers(0, 0, 40)));
    for (std::size_t bit = 0; bit < good.size() * 8; bit += bit < 40 * 8 ? 1 : 13)
        EXPECT_THROW(static_cast<void>(samples(flipped(good, bit))), io::BadFile) << "bit " << bit;
    std::string damaged = good;
    damaged.back() = static_cast<char>(damaged.back() ^ 1);
    expect_refusal(good + damaged, {}, {"record.mseed: the record at byte", "checksum", "damaged", "restore it"});
    // With the checksum of what is damaged Xn still tells.
    damaged = good;
    damaged[40 + 17 + 34 + 7] = static_cast<char>(damaged[40 + 17 + 34 + 7] ^ 4);
    seismic_files::seal(damaged);
    expect_refusal(damaged, {}, {"byte 0", "Xn", "damaged"});
}

TEST_F(MiniSeedFiles, PipesAreRefusedAtOnce) {
    const std::string pipe = folder / "pipe.mseed";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    for (const char* format : {"miniseed", "segy", "raw"})
        expect_holds(
            message_of<io::BadFile>([&] { open_record({pipe}, {.format = format, .rate = 100, .receivers = 1}); }),
            {"pipe.mseed", "no regular file", "save it to a file"});
}

}  // namespace
}  // namespace espalier::bench::seismic
