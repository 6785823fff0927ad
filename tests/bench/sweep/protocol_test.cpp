// What a sweep and its worker say to each other, and how it is framed.

#include "harness/bench/sweep/worker/protocol.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "harness/bench/sweep/worker/line_channel.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench {
namespace {

using namespace protocol;

class Channels : public testing::Test {
protected:
    Channels() {
        int files[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, files), 0);
        fcntl(files[0], F_SETFL, O_NONBLOCK);
        sweep_.emplace(files[0]);
        worker_.emplace(files[1]);
    }
    ~Channels() override {
        close(sweep_->file());
        close_worker();
    }
    void close_worker() {
        if (worker_) close(worker_->file());
        worker_.reset();
    }
    /// All that arrives at the sweep until the worker closes its end.
    std::vector<std::string> received() {
        std::vector<std::string> messages;
        while (sweep_->receive())
            while (auto message = sweep_->take()) messages.push_back(*message);
        return messages;
    }

    std::optional<LineChannel> sweep_, worker_;
};

TEST_F(Channels, MessagesOfAnySizeArriveInOrder) {
    const std::vector<std::string> sent{"a", "", std::string(1'000'000, 'x'), "b"};
    const std::jthread worker([&] {
        for (const std::string& message : sent) EXPECT_TRUE(worker_->send(message));
        close_worker();
    });
    EXPECT_EQ(received(), sent);
}

TEST_F(Channels, NonBlockingSenderWaitsForRoom) {
    const std::string message(1'000'000, 'x');
    const std::jthread sweep([&] { EXPECT_TRUE(sweep_->send(message)); });
    std::optional<std::string> got;
    while (!(got = worker_->take()) && worker_->receive()) {
    }
    EXPECT_EQ(got, message);
}

TEST_F(Channels, HalfAMessageIsNone) {
    EXPECT_EQ(write(worker_->file(), "half", 4), 4);
    EXPECT_TRUE(sweep_->receive());
    EXPECT_FALSE(sweep_->take());
    EXPECT_EQ(write(worker_->file(), " a line\n", 8), 8);
    EXPECT_TRUE(sweep_->receive());
    EXPECT_EQ(sweep_->take(), "half a line");
    EXPECT_TRUE(sweep_->receive()) << "nothing has arrived, and the other end is open";
}

TEST_F(Channels, EndOfTheOtherIsTold) {
    close_worker();
    EXPECT_FALSE(sweep_->receive());
    EXPECT_FALSE(sweep_->send("nobody hears it"));
}

template <class Kind>
Kind round_trip(const Event& event) {
    return std::get<Kind>(decode_event(encode(event)));
}

TEST(Protocol, EventsRoundTrip) {
    Hello hello{.driver = "d", .runtime = "r", .build = "b", .free = {1, 2}, .gpus = 3};
    hello.device.key = "nvidia-test";
    hello.device.threads = 7;
    hello.device.uuid = "GPU-1";
    const Hello greeted = round_trip<Hello>(hello);
    EXPECT_EQ(greeted.device.threads, 7);
    EXPECT_EQ(greeted.device.uuid, "GPU-1") << "which no record holds";
    EXPECT_EQ(greeted.free.host, 2U);
    EXPECT_EQ(round_trip<Failed>(Failed{1, Status::too_slow, "r"}).status, Status::too_slow);
    EXPECT_EQ(round_trip<Timed>(Timed{1, {0.1, 1e-3}, 5}).samples_ns, (std::vector{0.1, 1e-3}));
    EXPECT_EQ(round_trip<Counted>(Counted{1, {{"b", 2}, {"a", 1}}, ""}).counters, (NamedValues{{"b", 2}, {"a", 1}}));
    const Done done = round_trip<Done>(Done{.spent = {.timing = 1, .waiting = 6}, .conditions = {.processors = 2}});
    EXPECT_EQ(done.spent.waiting, 6);
    EXPECT_EQ(done.conditions, (Conditions{.processors = 2}));
}

TEST(Protocol, RequestsRoundTrip) {
    const Measure asked{.family = "dot",
                        .problem = "elements=5",
                        .seed = ~std::uint64_t{0},
                        .caches = Caches::clean,
                        .verification = Verification::once,
                        .candidates = {{"v", "block=1"}}};
    const auto measure = std::get<Measure>(decode_request(encode(asked)));
    EXPECT_EQ(measure.seed, asked.seed);
    EXPECT_EQ(measure.caches, Caches::clean);
    EXPECT_EQ(measure.verification, Verification::once);
    EXPECT_EQ(measure.candidates.at(0).configuration, "block=1");
    EXPECT_EQ(std::get<Question>(decode_request(encode(Question::counters))), Question::counters);
}

TEST(Protocol, TextThatIsNotUtf8IsReplaced) {
    EXPECT_EQ(round_trip<Failed>(Failed{0, Status::crashed, "\xff\n"}).reason, "\xef\xbf\xbd\n");
}

TEST(Protocol, UnknownKindsAreRefused) { EXPECT_THROW(decode_event(R"({"kind":99,"body":{}})"), BadData); }

TEST(TimeSpent, SumsEveryField) {
    const TimeSpent one{.timing = 1, .verification = 2, .counting = 4, .ceilings = 8, .lost = 16, .waiting = 32};
    TimeSpent sum = one;
    sum += one;
    EXPECT_EQ(one.total(), 63);
    EXPECT_EQ(sum.total(), 126);
    EXPECT_EQ(sum.ceilings, 16);
}

}  // namespace
}  // namespace espalier::bench
