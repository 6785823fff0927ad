// Windows against a record whose every sample says which one it is, for all ways of cutting it.

#include "harness/apps/seismic/window_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/apps/io/bad_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::seismic {
namespace {

constexpr std::int64_t kReceivers = 7, kSamples = 1003;

float sample(std::int64_t receiver, std::int64_t k) {
    return k < kSamples ? static_cast<float>(receiver * 5000 + k) : 0.0F;
}

class NumberedRecord final : public Record {
public:
    explicit NumberedRecord(std::int64_t bad_sample = -1) : bad_sample_(bad_sample) {
        receivers_ = kReceivers;
        samples_ = kSamples;
        rate_ = 500;
    }

protected:
    void read_within(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) override {
        EXPECT_GE(first, read_until_) << "was read before";
        read_until_ = first + count;
        for (std::int64_t r = 0; r < receivers_; ++r)
            for (std::int64_t i = 0; i < count; ++i)
                to[r * stride + i] = first + i == bad_sample_ ? INFINITY : sample(r, first + i);
    }
    std::string file_of(std::int64_t, std::int64_t) const override { return "numbered"; }

private:
    std::int64_t bad_sample_, read_until_ = 0;
};

struct Slots {
    std::vector<std::vector<float>> memory;

    Slots(std::size_t count, std::int64_t row)
        : memory(count, std::vector<float>(static_cast<std::size_t>(kReceivers * row), NAN)) {}

    std::vector<float*> pointers() {
        std::vector<float*> list;
        for (auto& slot : memory) list.push_back(slot.data());
        return list;
    }
};

void expect_window(const Window& window, std::int64_t span, const std::vector<float>& slot, float factor) {
    const std::int64_t stride = window.samples + span;
    for (std::int64_t r = 0; r < kReceivers; ++r)
        for (std::int64_t i = 0; i < stride; ++i)
            ASSERT_EQ(slot[static_cast<std::size_t>(r * stride + i)], factor * sample(r, window.first + i));
}

TEST(WindowReader, HandsOutEverySampleOfEveryWindow) {
    for (const std::size_t slots : {1, 2, 3})
        for (const std::int64_t length : {1, 10, 97, 1002, 1003})
            for (const std::int64_t span : {0, 5, 200}) {
                NumberedRecord record;
                Slots memory(slots, length + span);
                WindowReader reader(record, memory.pointers(), length, span, std::vector<float>(kReceivers, 2));
                std::int64_t expected = 0;
                while (const auto window = reader.next()) {
                    ASSERT_EQ(window->first, expected);
                    expect_window(*window, span, memory.memory[window->slot], 2);
                    expected += window->samples;
                    reader.release(*window);
                }
                EXPECT_EQ(expected, kSamples);
                EXPECT_GE(reader.read_seconds(), 0);
            }
}

TEST(WindowReader, PassesOnWhatWentWrongAfterTheWindowsBeforeIt) {
    NumberedRecord record(500);
    Slots memory(2, 110);
    WindowReader reader(record, memory.pointers(), 100, 10, {});
    int windows = 0;
    const std::string message = message_of<io::BadFile>([&] {
        while (const auto window = reader.next()) {
            reader.release(*window);
            ++windows;
        }
    });
    expect_holds(message, {"numbered", "sample 500", "receiver 0", "1.000000 s", "inf"});
    EXPECT_EQ(windows, 4);  // the fifth's overlap holds the sample
}

TEST(WindowReader, MayBeLeftEarly) {
    NumberedRecord record;
    Slots memory(1, 20);
    WindowReader reader(record, memory.pointers(), 10, 10, {});
    ASSERT_TRUE(reader.next());
}

}  // namespace
}  // namespace espalier::bench::seismic
