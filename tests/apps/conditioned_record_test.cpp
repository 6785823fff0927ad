// Offsets, trends and filters, against what SciPy computes and what can be said in closed form; and where a record is
// silent.

#include "harness/apps/seismic/conditioned_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/apps/io/bad_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::seismic {
namespace {

class MemoryRecord final : public Record {
public:
    MemoryRecord(std::vector<std::vector<float>> traces, std::vector<Gap> gaps, double rate)
        : traces_(std::move(traces)) {
        receivers_ = std::ssize(traces_);
        samples_ = std::ssize(traces_.front());
        rate_ = rate;
        gaps_ = std::move(gaps);
        find_silences();
    }

protected:
    void read_within(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) override {
        for (std::int64_t r = 0; r < receivers_; ++r)
            std::copy_n(traces_[static_cast<std::size_t>(r)].begin() + first, count, to + r * stride);
        clear_gaps(first, count, to, stride);
    }
    std::string file_of(std::int64_t receiver, std::int64_t) const override {
        return "trace " + std::to_string(receiver);
    }

private:
    std::vector<std::vector<float>> traces_;
};

std::unique_ptr<Record> record_of(std::vector<std::vector<float>> traces, const Conditioning& what,
                                  std::vector<Gap> gaps = {}, double rate = 100) {
    return conditioned(std::make_unique<MemoryRecord>(std::move(traces), std::move(gaps), rate), what);
}

/// A record's rows, read in pieces.
std::vector<std::vector<float>> rows_of(Record& record, std::int64_t piece) {
    std::vector<std::vector<float>> rows(static_cast<std::size_t>(record.receivers()));
    std::vector<float> values(static_cast<std::size_t>(record.receivers() * piece));
    for (std::int64_t first = 0; first < record.samples(); first += piece) {
        record.read(first, piece, values.data(), piece);
        for (std::size_t r = 0; r < rows.size(); ++r)
            rows[r].insert(
                rows[r].end(), values.begin() + static_cast<std::int64_t>(r) * piece,
                values.begin() + static_cast<std::int64_t>(r) * piece + std::min(piece, record.samples() - first));
    }
    return rows;
}

std::vector<float> noise(std::size_t count, unsigned seed) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) {
        seed = seed * 1664525 + 1013904223;
        values.push_back(static_cast<float>(static_cast<int>(seed >> 16) % 2001 - 1000));
    }
    return values;
}

TEST(Bandpass, IsScipysForwardAndBackward) {
    // scipy.signal.butter(4, [low, high], "bandpass", fs=rate, output="sos"), sosfilt there and back, of an impulse of
    // 1000.
    const struct {
        double low, high, rate;
        std::size_t length, step;
        std::vector<double> expected;
    } cases[] = {{2,
                  20,
                  100,
                  4000,
                  1,
                  {362.95505011211094, 258.6389503165015, 45.74361138051381, -95.1651647047068, -97.62151841140953,
                   -37.255702890821716, -6.355729659137005, -20.722323578852247, -42.10983556503322, -43.300770955445,
                   -30.727535021451793, -21.86052684240494}},
                 {0.05,
                  0.4,
                  200,
                  400001,
                  500,
                  {3.59159375561195, -0.46038456177538445, -0.33023889092768227, -0.14346660281736565,
                   0.0005463837165972929, 0.07272924840031182, 0.07736594754219127, 0.04217610898391594,
                   0.0004973678562208567, -0.024959934681490926, -0.028275099768611617, -0.01650865699227084}}};
    for (const auto& what : cases) {
        std::vector<double> samples(what.length);
        const std::size_t middle = what.length / 2;
        samples[middle] = 1000;
        ZeroPhaseBandpass(what.low, what.high, what.rate).apply(samples);
        for (std::size_t i = 0; i < what.expected.size(); ++i) {
            EXPECT_NEAR(samples[middle + i * what.step], what.expected[i], 1e-8 * what.expected[0]);
            EXPECT_NEAR(samples[middle - i * what.step], what.expected[i], 1e-8 * what.expected[0]) << "phase";
        }
    }
}

TEST(Bandpass, ForgetsAfterItsMemory) {
    for (const auto& [low, high] : {std::pair{2.0, 20.0}, {0.1, 49.0}, {0.5, 0.6}, {30.0, 31.0}, {0.01, 1.0}}) {
        const ZeroPhaseBandpass filter(low, high, 100);
        const auto memory = static_cast<std::size_t>(filter.memory());
        std::vector<double> samples(4 * memory + 1);
        samples[2 * memory] = 1;
        filter.apply(samples);
        double late = 0;
        for (std::size_t i = 3 * memory; i < samples.size(); ++i) late = std::max(late, std::abs(samples[i]));
        EXPECT_LT(late, 1e-8 * samples[2 * memory]) << low << " to " << high << " Hz";
    }
}

TEST(ConditionedRecord, OffsetsAndTrendsGo) {
    constexpr std::int64_t kSamples = 1000;
    std::vector<std::vector<float>> traces(2, std::vector<float>(kSamples));
    for (std::int64_t k = 0; k < kSamples; ++k) {
        traces[0][static_cast<std::size_t>(k)] = -5000 + (k % 2 == 0 ? 3.0F : -3.0F);
        traces[1][static_cast<std::size_t>(k)] = static_cast<float>(100 - 4 * k);
    }
    // Receiver 0 has gaps: its mean is that of the rest.
    const std::vector<Gap> gaps{{100, 50, 0}, {900, 100, 0}};
    const auto demeaned = rows_of(*record_of(traces, {.demean = true}, gaps), 77);
    const auto detrended = rows_of(*record_of(traces, {.detrend = true}, gaps), 77);
    for (std::size_t k = 0; k < kSamples; ++k) {
        const bool gap = (k >= 100 && k < 150) || k >= 900;
        EXPECT_EQ(demeaned[0][k], gap ? 0.0F : k % 2 == 0 ? 3.0F : -3.0F) << k;
        EXPECT_EQ(demeaned[1][k], static_cast<float>(1998 - 4 * static_cast<int>(k))) << k;
        EXPECT_NEAR(detrended[0][k], gap ? 0.0F : k % 2 == 0 ? 3.0F : -3.0F, 0.02) << k;
        EXPECT_NEAR(detrended[1][k], 0, 1e-3) << k;
    }
}

TEST(ConditionedRecord, BandpassIsThatOfTheWholeTrace) {
    // Longer than a block, with an offset and a gap: in double precision over all of it at once.
    constexpr std::size_t kSamples = 30000;
    auto trace = noise(kSamples, 7);
    double mean = 0;
    for (std::size_t k = 0; k < kSamples; ++k)
        if (k < 12000 || k >= 12500) mean += trace[k] / (kSamples - 500.0);
    std::vector<double> expected;
    for (std::size_t k = 0; k < kSamples; ++k)
        expected.push_back(k >= 12000 && k < 12500 ? 0 : static_cast<double>(trace[k]) - mean);
    const ZeroPhaseBandpass filter(2, 20, 100);
    expected.insert(expected.begin(), static_cast<std::size_t>(filter.memory()), 0);
    expected.insert(expected.end(), static_cast<std::size_t>(filter.memory()), 0);
    filter.apply(expected);
    for (float& value : trace) value -= 5000;
    const auto rows = rows_of(*record_of({trace}, {.bandpass = std::pair{2.0, 20.0}}, {{12000, 500}}), 1234);
    for (std::size_t k = 0; k < kSamples; ++k)
        ASSERT_NEAR(rows[0][k], k >= 12000 && k < 12500 ? 0 : expected[k + static_cast<std::size_t>(filter.memory())],
                    2e-3)
            << k;
}

TEST(ConditionedRecord, DoesNotDependOnPieces) {
    const std::vector<std::vector<float>> traces{noise(20000, 1), noise(20000, 2), noise(20000, 3)};
    const std::vector<Gap> gaps{{3000, 9000}, {15000, 100, 1}};
    for (const Conditioning& what : {Conditioning{.demean = true}, Conditioning{.detrend = true, .absolute = true},
                                     Conditioning{.bandpass = std::pair{5.0, 15.0}},
                                     Conditioning{.bandpass = std::pair{5.0, 15.0}, .absolute = true}}) {
        const auto whole = rows_of(*record_of(traces, what, gaps), 20000);
        for (const std::int64_t piece : {999, 8192, 50000})
            EXPECT_EQ(rows_of(*record_of(traces, what, gaps), piece), whole) << piece;
        // What lies in silence may be passed over.
        const auto jumping = record_of(traces, what, gaps);
        std::vector<float> values(3 * 2000);
        jumping->read(0, 2000, values.data(), 2000);
        jumping->read(13000, 2000, values.data(), 2000);
        for (std::size_t r = 0; r < 3; ++r)
            EXPECT_TRUE(std::equal(values.begin() + static_cast<std::int64_t>(r) * 2000,
                                   values.begin() + static_cast<std::int64_t>(r + 1) * 2000, whole[r].begin() + 13000));
        for (const auto& row : whole) EXPECT_EQ(*std::min_element(row.begin(), row.end()) >= 0, what.absolute);
    }
}

TEST(ConditionedRecord, KeepsWhatWasNotAskedFor) {
    auto record =
        std::make_unique<MemoryRecord>(std::vector<std::vector<float>>{noise(100, 1)}, std::vector<Gap>{}, 100);
    const Record* const inner = record.get();
    EXPECT_EQ(conditioned(std::move(record), {}).get(), inner);
    auto broken = noise(1000, 4);
    broken[321] = NAN;
    for (const Conditioning& what : {Conditioning{.demean = true}, Conditioning{.bandpass = std::pair{5.0, 15.0}},
                                     Conditioning{.absolute = true}}) {
        const auto bad = record_of({noise(1000, 3), broken}, what);
        expect_holds(message_of<io::BadFile>([&] { rows_of(*bad, 100); }), {"trace 1", "sample 321", "nan"});
    }
    expect_holds(message_of<io::BadFile>([&] {
                     record_of({noise(10, 1)}, {.bandpass = std::pair{1e-8, 2e-8}});
                 }),
                 {"--bandpass", "raise its lower corner"});
}

TEST(Silence, IsWhereNoReceiverHasASample) {
    const std::vector<std::vector<float>> traces(2, std::vector<float>(1000, 1.0F));
    const MemoryRecord record(traces, {{100, 200, 0}, {150, 50, 1}, {200, 50, 1}, {600, 400, 1}, {700, 300, 0}}, 100);
    for (const auto& [first, count, silent] : {std::tuple{150, 100, true},
                                               {149, 2, false},
                                               {150, 101, false},
                                               {249, 1, true},
                                               {0, 1, false},
                                               {700, 300, true},
                                               {700, 5000, true},
                                               {650, 100, false},
                                               {1000, 10, true},
                                               {999, 2, true}})
        EXPECT_EQ(record.silent(first, count), silent) << first << " and " << count;
    const MemoryRecord all(traces, {{10, 20}}, 100);
    EXPECT_TRUE(all.silent(10, 20));
    EXPECT_FALSE(all.silent(9, 20));
    EXPECT_TRUE(all.silent(1000, 1));
}

}  // namespace
}  // namespace espalier::bench::seismic
