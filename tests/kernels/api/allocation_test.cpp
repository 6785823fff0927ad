// Each allocation of each public function fails in turn, alone and with all that follow: the function returns
// out_of_memory, or the right result where it can do without that memory. It ends no program, throws nothing and keeps
// nothing, and the next call works.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>

#include "tests/kernels/api/allocation_calls.hpp"
#include "tests/kernels/api/failing_memory.hpp"

namespace espalier {
namespace {

using failing_memory::Failing;
using failing_memory::Shortage;
using failing_memory::struck;

constexpr std::array kFailings{Failing::one, Failing::all};

/// Whether the outcome is what a function without memory may have.
bool is_allowed(const Outcome& outcome, const Outcome& right) {
    if (!outcome.ok()) return outcome.error == ErrorCode::out_of_memory && outcome.told;
    return outcome.hash == right.hash;
}

constexpr int kNotStruck = 10;

/// Calls a function that nobody called before in this process, with its n-th allocation failing: in a child of its own.
/// First of all tests: a child has none of the threads that a parallel call leaves behind.
int in_child(const Call& call, std::size_t n, Failing failing) {
    constexpr int kSurvived = 0, kWrongOutcome = 11, kLeftBehind = 12, kLaterFailure = 13;
    constexpr int kCalls = 10;  // in fewer everything is there that stays for the process, one part after the other
    const pid_t child = fork();
    if (child == 0) {
        bool was_struck = false;
        std::ptrdiff_t before = 0;
        for (int i = 0; i < kCalls; ++i) {
            before = failing_memory::live_blocks();
            Outcome outcome;
            {
                const Shortage shortage(n, failing);
                outcome = call();
            }
            if (!outcome.ok() && !(outcome.error == ErrorCode::out_of_memory && outcome.told)) _exit(kWrongOutcome);
            was_struck = was_struck || struck();
        }
        if (failing_memory::live_blocks() > before) _exit(kLeftBehind);
        if (!call().ok()) _exit(kLaterFailure);
        _exit(was_struck ? kSurvived : kNotStruck);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class ColdCalls : public testing::Test {
protected:
    void TearDown() override { RecordProperty("allocations", std::to_string(failed_)); }

    void expect_survived(const Call& call) {
        for (const Failing failing : kFailings)
            for (std::size_t n = 0;; ++n) {
                const int code = in_child(call, n, failing);
                if (code == kNotStruck) break;
                ASSERT_EQ(code, 0) << "allocation " << n << (failing == Failing::all ? " and all that follow" : "");
                ++failed_;
            }
        EXPECT_GT(failed_, 0U);
    }

    std::size_t failed_ = 0;
};

TEST_F(ColdCalls, DeviceDescribesItselfLater) {
    expect_survived([] {
        const Device device = Device::cpu();
        const bool told = device.key() != "out of memory" && device.name() != "out of memory" &&
                          device.description() != "out of memory";
        if (!told) return Outcome{.error = ErrorCode::out_of_memory, .told = true};
        // A name that was not read for want of memory is not taken for one that cannot be known.
        if (device.name() == "unknown processor") return Outcome{.error = ErrorCode::internal};
        return Outcome{};
    });
}

TEST_F(ColdCalls, FirstDecisionReadsTheEnvironmentLater) {
    const std::string paths = std::string(ESPALIER_TREE) + ":/nowhere";
    setenv("ESPALIER_SELECTORS", paths.c_str(), 1);
    setenv("ESPALIER_FORCE_VARIANT", "dot/cpu_scalar,histogram/cpu_scalar", 1);
    expect_survived([] {
        const Result<Explanation> why = explain_dot_product(Device::cpu(), 8);
        if (!why) return outcome_of(why);
        const auto loaded = loaded_selectors();
        if (!loaded) return outcome_of(loaded);
        // Neither the tree, nor the other path, nor the forced variant is forgotten.
        const bool whole = !why.value().ignored.empty() && why.value().forced_by == "ESPALIER_FORCE_VARIANT" &&
                           why.value().variant == "cpu_scalar" && loaded.value().selectors.size() == 1;
        return whole ? Outcome{} : Outcome{.error = ErrorCode::internal};
    });
    unsetenv("ESPALIER_SELECTORS");
    unsetenv("ESPALIER_FORCE_VARIANT");
}

TEST_F(ColdCalls, TreeIsLoadedLater) {
    expect_survived([] { return outcome_of(load_selectors(ESPALIER_TREE)); });
}

TEST_F(ColdCalls, PlanMeasures) {
    expect_survived([] {
        const PlanOptions measuring{.effort = Effort::measure, .budget = std::chrono::seconds(1)};
        return outcome_of(plan_dot_product(Device::cpu(), 4099, {.threads = 1}, measuring));
    });
}

class EachAllocation : public testing::TestWithParam<NamedCall> {};

TEST_P(EachAllocation, FailsAsOutOfMemory) {
    const Call call = GetParam().prepare();
    const Outcome right = call();  // what is made once for the process is there now
    const bool not_here = right.error == ErrorCode::unknown_variant || right.error == ErrorCode::unsupported;
    if (GetParam().succeeds && not_here) GTEST_SKIP();  // a variant for other processors, or one that does not ship
    ASSERT_EQ(right.ok(), GetParam().succeeds);
    std::size_t failed = 0;
    for (const Failing failing : kFailings)
        for (std::size_t n = 0;; ++n) {
            const std::ptrdiff_t before = failing_memory::live_blocks();
            Outcome outcome;
            {
                const Shortage shortage(n, failing);
                outcome = call();
            }
            const std::ptrdiff_t kept = failing_memory::live_blocks() - before;
            const bool was_struck = struck();
            const std::string what = "allocation " + std::to_string(n) + (failing == Failing::all ? " and later" : "");
            if (!was_struck) {
                EXPECT_EQ(outcome, right) << "without a failure";
                break;
            }
            ++failed;
            ASSERT_TRUE(outcome == right || is_allowed(outcome, right)) << what << ": " << outcome.in_words();
            ASSERT_LE(kept, 0) << what << " left blocks behind";
            if (n % 16 == 0) {
                ASSERT_EQ(call(), right) << "after " << what;
            }
        }
    EXPECT_EQ(call(), right);
    RecordProperty("allocations", std::to_string(failed));
}

INSTANTIATE_TEST_SUITE_P(PublicFunctions, EachAllocation, testing::ValuesIn(public_calls()),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(FunctionsOfC, EachAllocation, testing::ValuesIn(calls_of_c()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace espalier
