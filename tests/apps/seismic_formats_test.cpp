// SEG-Y and miniSEED records, written here with the libraries of the formats, against the raw record of the same
// samples.

#include <gtest/gtest.h>
#include <libmseed.h>
#include <segyio/segy.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/seismic/record.hpp"
#include "harness/apps/seismic/synthetic.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::seismic {
namespace {

constexpr std::int64_t kReceivers = 5, kSamples = 2400;
constexpr double kRate = 500;

/// Whole numbers, which every format keeps exactly.
std::vector<float> samples_of(std::int64_t receiver, std::int64_t first, std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k)
        values[static_cast<std::size_t>(k)] = static_cast<float>((receiver * 1009 + (first + k) * 31) % 2003 - 1001);
    return values;
}

struct SegyFile {
    int format = SEGY_IEEE_FLOAT_4_BYTE;
    std::int64_t receivers = kReceivers, first = 0, samples = 600;
    int second = -1;  ///< of the minute; -1: no time in the headers
    int interval = 2000;
};

std::string write_segy(const TemporaryFolder& folder, const std::string& name, const SegyFile& what) {
    const std::string path = folder / name;
    segy_file* file = segy_open(path.c_str(), "w+b");
    std::string text(SEGY_TEXT_HEADER_SIZE, ' ');
    segy_write_textheader(file, 0, text.c_str());
    char binary[SEGY_BINARY_HEADER_SIZE] = {};
    segy_set_bfield(binary, SEGY_BIN_FORMAT, what.format);
    segy_set_bfield(binary, SEGY_BIN_SAMPLES, static_cast<int>(what.samples));
    segy_set_bfield(binary, SEGY_BIN_INTERVAL, what.interval);
    segy_write_binheader(file, binary);
    segy_set_format(file, what.format);
    const long trace0 = segy_trace0(binary);
    const auto count = static_cast<int>(what.samples);
    const int bytes = segy_trsize(what.format, count);
    for (int r = 0; r < static_cast<int>(what.receivers); ++r) {
        char header[SEGY_TRACE_HEADER_SIZE] = {};
        segy_set_field(header, SEGY_TR_SAMPLE_COUNT, count);
        segy_set_field(header, SEGY_TR_SAMPLE_INTER, what.interval);
        if (what.second >= 0) {
            segy_set_field(header, SEGY_TR_YEAR_DATA_REC, 2024);
            segy_set_field(header, SEGY_TR_DAY_OF_YEAR, 60);  // 29 February
            segy_set_field(header, SEGY_TR_HOUR_OF_DAY, 13);
            segy_set_field(header, SEGY_TR_SEC_OF_MIN, what.second);
        }
        segy_write_traceheader(file, r, header, trace0, bytes);
        const auto values = samples_of(r, what.first, what.samples);
        std::vector<char> buffer(values.size() * sizeof(float));
        if (what.format == SEGY_SIGNED_SHORT_2_BYTE)
            for (std::size_t i = 0; i < values.size(); ++i) {
                const auto value = static_cast<std::int16_t>(values[i]);
                std::memcpy(buffer.data() + i * 2, &value, 2);
            }
        else if (what.format == SEGY_SIGNED_INTEGER_4_BYTE)
            for (std::size_t i = 0; i < values.size(); ++i) {
                const auto value = static_cast<std::int32_t>(values[i]);
                std::memcpy(buffer.data() + i * 4, &value, 4);
            }
        else
            std::memcpy(buffer.data(), values.data(), buffer.size());
        segy_from_native(what.format, count, buffer.data());
        segy_writetrace(file, r, buffer.data(), trace0, bytes);
    }
    segy_close(file);
    return path;
}

/// Every sample of [0, samples) as the record reads it in pieces of `piece`, against the truth or 0.
void expect_samples(Record& record, std::int64_t piece, std::int64_t gap_first = 0, std::int64_t gap = 0,
                    std::int64_t gap_receiver = -1) {
    std::vector<float> rows(static_cast<std::size_t>(record.receivers() * piece));
    for (std::int64_t first = 0; first < record.samples(); first += piece) {
        record.read(first, piece, rows.data(), piece);
        for (std::int64_t r = 0; r < record.receivers(); ++r) {
            const auto truth = samples_of(r, first, piece);
            for (std::int64_t i = 0; i < piece; ++i) {
                const std::int64_t k = first + i;
                const bool in_gap = (k >= gap_first && k < gap_first + gap) && (gap_receiver < 0 || gap_receiver == r);
                const float expected = in_gap || k >= record.samples() ? 0 : truth[static_cast<std::size_t>(i)];
                ASSERT_EQ(rows[static_cast<std::size_t>(r * piece + i)], expected) << "receiver " << r << " at " << k;
            }
        }
    }
}

TEST(Segy, EveryFormatReadsTheSame) {
    const TemporaryFolder folder;
    for (const int format :
         {SEGY_IEEE_FLOAT_4_BYTE, SEGY_IBM_FLOAT_4_BYTE, SEGY_SIGNED_INTEGER_4_BYTE, SEGY_SIGNED_SHORT_2_BYTE}) {
        SCOPED_TRACE(format);
        const auto record =
            open_record({write_segy(folder, "a.sgy", {.format = format}),
                         write_segy(folder, "b.SEGY", {.format = format, .first = 600, .samples = 333})},
                        {});
        EXPECT_EQ(record->receivers(), kReceivers);
        EXPECT_EQ(record->samples(), 933);
        EXPECT_EQ(record->rate(), kRate);
        EXPECT_TRUE(record->gaps().empty());
        for (const std::int64_t piece : {1, 250, 600, 2000}) expect_samples(*record, piece);
    }
}

TEST(Segy, ClocksShowGaps) {
    const TemporaryFolder folder;
    // Files of 1.2 s; the clock cuts seconds off: 0, 1.2 -> 1, then from 5.2 on instead of 2.4 -> 5.
    const std::vector<std::string> paths = {write_segy(folder, "a.sgy", {.second = 10}),
                                            write_segy(folder, "b.sgy", {.first = 600, .second = 11}),
                                            write_segy(folder, "c.sgy", {.first = 2500, .second = 15})};
    const auto record = open_record(paths, {});
    EXPECT_EQ(record->start(), "2024-02-29T13:00:10Z");
    ASSERT_EQ(record->gaps().size(), 1U);
    EXPECT_EQ(record->gaps()[0].first, 1200);
    EXPECT_EQ(record->gaps()[0].samples, 1300);
    EXPECT_EQ(record->samples(), 3100);
    expect_samples(*record, 700, 1200, 1300);
    expect_holds(message_of<io::BadFile>([&] { open_record({paths[2], paths[1]}, {}); }), {"b.sgy", "order of time"});
    expect_holds(message_of<io::BadFile>([&] { open_record(paths, {.longest_gap = 2.5}); }),
                 {"c.sgy: follows a gap of 1300 samples", "--max-gap"});
}

TEST(Segy, BadFilesAreNamed) {
    const TemporaryFolder folder;
    const std::string good = write_segy(folder, "good.sgy", {});
    const auto fails = [&](const std::string& path, std::initializer_list<const char*> parts) {
        expect_holds(message_of<io::BadFile>([&] { open_record({good, path}, {}); }), parts);
    };
    fails(write_segy(folder, "few.sgy", {.receivers = 4}), {"few.sgy", "4 traces", "has 5"});
    fails(write_segy(folder, "slow.sgy", {.interval = 4000}), {"slow.sgy", "250 samples per second"});
    fails(folder.file("text.sgy", "no"), {"text.sgy", "too short"});
    fails(folder.file("zeros.sgy", std::string(5000, '\0')), {"zeros.sgy", "0 samples"});
    fails(folder / "none.sgy", {"none.sgy", "no such file"});
    const std::string cut = write_segy(folder, "cut.sgy", {});
    std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 10);
    fails(cut, {"cut.sgy", "short"});
    expect_holds(message_of<io::BadFile>([&] { open_record({good}, {.rate = 250}); }), {"--rate"});
}

/// Appends records of one channel to an open file.
struct MiniSeedWriter {
    std::string path;
    std::FILE* file = nullptr;

    explicit MiniSeedWriter(std::string name) : path(std::move(name)), file(std::fopen(path.c_str(), "wb")) {}
    ~MiniSeedWriter() { std::fclose(file); }

    void add(std::int64_t receiver, std::int64_t first, std::int64_t count, int encoding, double rate = kRate) {
        MSRecord* record = msr_init(nullptr);
        std::snprintf(record->network, sizeof record->network, "XX");
        std::snprintf(record->station, sizeof record->station, "R%d", static_cast<int>(receiver));
        std::snprintf(record->channel, sizeof record->channel, "HHZ");
        record->dataquality = 'D';
        record->samprate = rate;
        record->reclen = 512;
        record->encoding = static_cast<std::int8_t>(encoding);
        record->byteorder = 1;
        record->starttime = ms_time2hptime(2024, 60, 13, 0, 0, 0) + first * HPTMODULUS / static_cast<hptime_t>(kRate);
        const auto values = samples_of(receiver, first, count);
        const bool floats = encoding == DE_FLOAT32;
        record->datasamples = std::malloc(values.size() * 4);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (floats)
                static_cast<float*>(record->datasamples)[i] = values[i];
            else
                static_cast<std::int32_t*>(record->datasamples)[i] = static_cast<std::int32_t>(values[i]);
        record->numsamples = record->samplecnt = count;
        record->sampletype = floats ? 'f' : 'i';
        std::int64_t packed = 0;
        msr_pack(
            record,
            [](char* data, int bytes, void* to) {
                std::fwrite(data, 1, static_cast<std::size_t>(bytes), static_cast<std::FILE*>(to));
            },
            file, &packed, 1, 0);
        EXPECT_EQ(packed, count);
        msr_free(&record);
    }
};

TEST(MiniSeed, EveryEncodingReadsTheSame) {
    const TemporaryFolder folder;
    for (const int encoding : {DE_FLOAT32, DE_INT32, DE_STEIM1, DE_STEIM2}) {
        SCOPED_TRACE(encoding);
        {
            MiniSeedWriter a(folder / "a.mseed"), b(folder / "b.mseed");
            for (std::int64_t r = 0; r < kReceivers; ++r) a.add(r, 0, 1500, encoding);
            // Files may hold channels and times in any order.
            for (std::int64_t r = kReceivers - 1; r >= 0; --r) b.add(r, 1500, kSamples - 1500, encoding);
        }
        const auto record =
            open_record({folder / "b.mseed", folder / "a.mseed"}, {.names = {"R0", "R1", "R2", "R3", "R4"}});
        EXPECT_EQ(record->receivers(), kReceivers);
        EXPECT_EQ(record->samples(), kSamples);
        EXPECT_EQ(record->rate(), kRate);
        EXPECT_EQ(record->start(), "2024-02-29T13:00:00.000000Z");
        EXPECT_TRUE(record->gaps().empty());
        for (const std::int64_t piece : {7, 1500, 4000}) expect_samples(*record, piece);
    }
}

TEST(MiniSeed, GapsAreThoseOfTheirChannels) {
    const TemporaryFolder folder;
    {
        MiniSeedWriter a(folder / "a.mseed");
        for (std::int64_t r = 0; r < kReceivers; ++r) {
            a.add(r, 0, r == 2 ? 1000 : 1500, DE_STEIM2);
            a.add(r, 1500, 300, DE_STEIM2);
        }
    }
    const auto record = open_record({folder / "a.mseed"}, {});
    ASSERT_EQ(record->gaps().size(), 1U);
    EXPECT_EQ(record->gaps()[0].receiver, 2);
    EXPECT_EQ(record->gaps()[0].first, 1000);
    EXPECT_EQ(record->gaps()[0].samples, 500);
    expect_samples(*record, 333, 1000, 500, 2);
}

TEST(MiniSeed, ADamagedClockIsNoGapOfYears) {
    const TemporaryFolder folder;
    {
        MiniSeedWriter a(folder / "a.mseed");
        a.add(0, 0, 300, DE_STEIM2);
        a.add(1, 0, 300, DE_STEIM2);
        a.add(0, 300, 300, DE_STEIM2);
    }
    const std::string good = read_bytes(folder / "a.mseed");
    const auto with_year = [&](std::size_t record, int year) {
        std::string bytes = good;
        bytes[record * 512 + 20] = static_cast<char>(year >> 8);
        bytes[record * 512 + 21] = static_cast<char>(year);
        return folder.file("clock.mseed", bytes);
    };
    for (const auto& [record, year] : {std::pair{std::size_t{2}, 2056}, {std::size_t{0}, 1970}, {std::size_t{1}, 2025}})
        expect_holds(message_of<io::BadFile>([&, at = record, to = year] { open_record({with_year(at, to)}, {}); }),
                     {"clock.mseed", "a gap of", "hours of --max-gap", "damaged"});
    const auto record = open_record({with_year(2, 2025)}, {.longest_gap = 367 * 86400.0});
    EXPECT_GT(record->samples(), 365 * 86400 * static_cast<std::int64_t>(kRate));
}

TEST(MiniSeed, BadFilesAreNamed) {
    const TemporaryFolder folder;
    {
        MiniSeedWriter a(folder / "a.mseed"), slow(folder / "slow.mseed");
        a.add(0, 0, 500, DE_STEIM2);
        a.add(1, 0, 500, DE_STEIM2);
        slow.add(2, 0, 500, DE_STEIM2, 100);
    }
    const std::string good = folder / "a.mseed";
    const auto fails = [](const std::vector<std::string>& paths, const RecordOptions& options,
                          std::initializer_list<const char*> parts) {
        expect_holds(message_of<io::BadFile>([&] { open_record(paths, options); }), parts);
    };
    fails({good, folder / "slow.mseed"}, {}, {"slow.mseed", "100 samples per second"});
    fails({good}, {.names = {"R0", "R7"}}, {"no channel for the receiver 'R7'", "XX.R0..HHZ"});
    fails({good}, {.names = {"R0", "XX.R0..HHZ"}}, {"two receivers", "XX.R0..HHZ"});
    fails({folder.file("text.mseed", std::string(1000, 'x'))}, {}, {"text.mseed", "byte 0"});
    fails({folder.file("empty.mseed", "")}, {}, {"empty.mseed", "not whole"});
    const std::string bytes = read_bytes(good);
    fails({folder.file("cut.mseed", bytes.substr(0, bytes.size() - 100))}, {}, {"cut.mseed", "restore"});
}

}  // namespace
}  // namespace espalier::bench::seismic
