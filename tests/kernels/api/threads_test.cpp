// The library inside of other people's programs: pinned threads, one CPU, limited threads, OpenMP of the program's own,
// and children that are forked after threads ran. Every scenario is a process of its own, this program started again.

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api_helpers.hpp"
#include "tests/kernels/api/every_function.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/trials.hpp"

namespace espalier {
namespace {

constexpr int kHung = 99;
constexpr int kSeconds = 60;  ///< more than anything here takes on a busy machine under sanitizers

std::vector<int> own_cpus() {
    std::vector<int> cpus;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

bool pin(const std::vector<int>& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

std::size_t threads_now() {
    std::size_t threads = 0;
    for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) ++threads;
    return threads;
}

// --- scenarios: what the program does when it is started again; what they print is what the tests look at

/// Exit code of a child that does `work`, or kHung.
int forked(const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(kSeconds / 3);
        int code = 1;
        try {
            code = work();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
        }
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? kHung : WEXITSTATUS(status);
}

std::string hex(const AllBits& all) {
    std::string text;
    for (const auto& [name, bits] : all) text += name + " " + std::to_string(bits) + "\n";
    return text;
}

int key() {
    std::printf("%s", Device::cpu().key().c_str());
    return 0;
}

/// A worker that has one CPU is the first to call.
int pinned_first() {
    EveryFunction functions;
    std::thread worker([&] {
        pin({own_cpus().back()});
        static_cast<void>(functions.run());
    });
    worker.join();
    return key();
}

/// Two choices of which a tree of several threads ranks the parallel one first.
std::string choices() {
    std::string text;
    for (const auto& [family, problem] :
         std::map<std::string, std::string>{{"convolution_2d", "width=4992;height=3744;channels=3"},
                                            {"dot", "elements=4194304"},
                                            {"histogram", "bytes=8388608"}}) {
        const Explanation why = require(explain(Device::cpu(), family, problem));
        text += family + " " + why.variant + " " + why.configuration + "\n";
    }
    return text;
}

int chosen() {
    std::printf("%s", choices().c_str());
    return 0;
}

int bits() {
    EveryFunction functions;
    std::printf("%s", hex(functions.run({.deterministic = true})).c_str());
    return 0;
}

/// 100 equal calls, and inside of parallel regions and with as many threads as OpenMP likes.
int equal_bits() {
    EveryFunction functions;
    const Options options{.deterministic = true};
    const AllBits first = functions.run(options);
    for (int call = 1; call < trials(100); ++call) {
        AllBits again;
        omp_set_dynamic(call % 3 == 1);
        if (call % 3 == 2) {
#pragma omp parallel num_threads(2)
#pragma omp master
            again = functions.run(options);
        } else {
            again = functions.run(options);
        }
        for (std::size_t i = 0; i < first.size(); ++i)
            if (again[i] != first[i]) {
                std::printf("call %d: %s differs", call, first[i].first.c_str());
                return 1;
            }
    }
    std::printf("%s", hex(first).c_str());
    return 0;
}

/// The threads that the process has after a call of everything, but for those of `options`.
int threads_used(const Options& options) {
    EveryFunction functions;
    static_cast<void>(functions.run(options));
    std::printf("%zu", threads_now());
    return 0;
}

int in_a_region() {
    EveryFunction functions[2];
#pragma omp parallel num_threads(2)
    static_cast<void>(functions[omp_get_thread_num()].run());
    std::printf("%zu", threads_now());
    return 0;
}

/// As Python's multiprocessing does it: a parent that has computed forks workers, which compute.
int fork_after_a_call() {
    EveryFunction functions;
    const AllBits expected = functions.run();
    for (int worker = 0; worker < 3; ++worker)
        if (const int code = forked([&] { return functions.run() == expected ? 0 : 2; }); code != 0) return code;
    return functions.run() == expected ? 0 : 3;
}

int fork_from_a_thread() {
    EveryFunction functions;
    const AllBits expected = functions.run();
    int code = 1;
    std::thread([&] {
        static_cast<void>(functions.run());
        code = forked([&] { return functions.run() == expected ? 0 : 2; });
    }).join();
    return code;
}

int fork_of_a_fork() {
    EveryFunction functions;
    const AllBits expected = functions.run();
    return forked([&] {
        if (functions.run() != expected) return 2;
        return forked([&] { return functions.run() == expected ? 0 : 4; });
    });
}

/// The first call of all is in the child, beside a thread of the program's own that it has no copy of.
int fork_before_a_call() {
    std::thread idle([] { std::this_thread::sleep_for(std::chrono::milliseconds(300)); });
    EveryFunction functions;
    const int code = forked([&] { return functions.run().empty() ? 2 : 0; });
    idle.join();
    return code;
}

/// A child of a process without other threads may start its own.
int fork_of_a_single_thread() {
    return forked([] {
        EveryFunction functions;
        static_cast<void>(functions.run());
        std::printf("%zu", threads_now());
        std::fflush(stdout);
        return 0;
    });
}

int fork_of_a_plan() {
    std::vector<float> a(1'000'003, 1.5F), b(a.size(), 2);
    const auto plan = require(plan_dot_product(Device::cpu(), static_cast<std::int64_t>(a.size())));
    std::vector<std::byte> memory(plan.workspace_bytes() + 64);
    float result = 0, again = 0;
    require(plan.run(a, b, &result, nullptr, {memory.data(), plan.workspace_bytes()}));
    return forked([&] {
        require(plan.run(a, b, &again, nullptr, {memory.data(), plan.workspace_bytes()}));
        return again == result && result > 0 ? 0 : 2;
    });
}

/// Asked for by name, too: neither OMP_NUM_THREADS nor the number of threads may make it hang.
int fork_with_threads_asked_for() {
    EveryFunction functions;
    const Options options{.threads = 4};
    const AllBits expected = functions.run(options);
    return forked([&] { return functions.run(options) == expected ? 0 : 2; });
}

const std::map<std::string, std::function<int()>>& scenarios() {
    static const std::map<std::string, std::function<int()>> all{
        {"key", key},
        {"pinned_first", pinned_first},
        {"chosen", chosen},
        {"bits", bits},
        {"equal_bits", equal_bits},
        {"threads_used", [] { return threads_used({}); }},
        {"one_thread_asked_for", [] { return threads_used({.threads = 1}); }},
        {"three_threads_asked_for", [] { return threads_used({.threads = 3}); }},
        {"in_a_region", in_a_region},
        {"fork_after_a_call", fork_after_a_call},
        {"fork_from_a_thread", fork_from_a_thread},
        {"fork_of_a_fork", fork_of_a_fork},
        {"fork_before_a_call", fork_before_a_call},
        {"fork_of_a_single_thread", fork_of_a_single_thread},
        {"fork_of_a_plan", fork_of_a_plan},
        {"fork_with_threads_asked_for", fork_with_threads_asked_for},
    };
    return all;
}

// --- the tests

struct Said {
    int code;
    std::string out;
};

/// Starts the program again for a scenario, with more environment ("NAME=value") and, if one is named, on this CPU.
Said in_process(const std::string& scenario, std::vector<std::string> environment = {},
                std::optional<int> cpu = std::nullopt) {
    const TemporaryFolder folder;
    std::vector<std::string> command{"/usr/bin/env", "-u", "OMP_NUM_THREADS", "-u", "OMP_PROC_BIND"};
    command.insert(command.end(), environment.begin(), environment.end());
    // LLVM's OpenMP gives a forked process the CPUs of its parent's start, whatever the parent was pinned to since.
    if (cpu) command.insert(command.end(), {"taskset", "-c", std::to_string(*cpu)});
    command.insert(command.end(), {std::filesystem::read_symlink("/proc/self/exe").string(), "scenario", scenario});
    ChildProcess child(command, folder / "out.txt");
    const auto code = child.wait_for(kSeconds);
    return {code.value_or(kHung), read_bytes(folder / "out.txt")};
}

std::string threads_of(const std::string& key) { return key.substr(key.rfind('-') + 1); }

TEST(Pinned, FirstCallLeavesTheProcessItsCpus) {
    const std::string key = Device::cpu().key();
    EXPECT_EQ(in_process("key").out, key);
    EXPECT_EQ(in_process("pinned_first").out, key);
}

TEST(Pinned, ByOpenMpLeavesTheProcessItsCpus) {
    const std::string key = in_process("key").out, choice = in_process("chosen").out;
    for (const char* bind : {"close", "spread", "true", "master"}) {
        EXPECT_EQ(in_process("key", {std::string("OMP_PROC_BIND=") + bind}).out, key) << bind;
        EXPECT_EQ(in_process("chosen", {std::string("OMP_PROC_BIND=") + bind}).out, choice) << bind;
    }
    EXPECT_EQ(in_process("key", {"OMP_PLACES=cores"}).out, key);
}

TEST(Pinned, ProcessHasTheCpusOfItsMask) {
    const std::vector<int> cpus = own_cpus();
    EXPECT_EQ(threads_of(in_process("key", {}, cpus.front()).out), "1t");
    EXPECT_EQ(threads_of(in_process("key", {"OMP_PROC_BIND=close"}, cpus.front()).out), "1t");
    EXPECT_EQ(threads_of(in_process("key", {"OMP_NUM_THREADS=1"}).out), threads_of(Device::cpu().key()));
}

// What a tree of two threads and more ranks first is run all the same, on the one.
TEST(OneCpu, RunsWhatIsTheSameAsTheFirstChoice) {
    const Said said = in_process("chosen", {}, own_cpus().front());
    ASSERT_EQ(said.code, 0) << said.out;
    EXPECT_EQ(said.out.find("parallel=1"), std::string::npos) << said.out;
    const Device cpu = Device::cpu();
    for (const auto& [family, problem] :
         std::map<std::string, std::string>{{"convolution_2d", "width=4992;height=3744;channels=3"},
                                            {"dot", "elements=4194304"},
                                            {"histogram", "bytes=8388608"}}) {
        const Explanation all = value_of(explain(cpu, family, problem));
        const Explanation one = value_of(explain(cpu, family, problem, {.threads = 1}));
        EXPECT_EQ(one.variant, all.variant);
        EXPECT_EQ(one.configuration.find("parallel=1"), std::string::npos) << one.configuration;
        EXPECT_EQ(one.threads, 1);
        for (const auto& candidate : one.ranking) {
            EXPECT_EQ(candidate.infeasible.find("same as"), std::string::npos) << candidate.infeasible;
            if (candidate.configuration == "parallel=1") {
                EXPECT_EQ(candidate.same_as, "parallel=0");
            }
        }
    }
}

TEST(OneCpu, ForcedChoiceIsTheSameOne) {
    std::vector<float> ones(1000, 1);
    const Explanation why = value_of(explain_dot_product(Device::cpu(), 1000, {.variant = "cpu_openmp", .threads = 1}));
    EXPECT_EQ(why.variant, "cpu_openmp");
    const auto forced =
        explain(Device::cpu(), "histogram", "bytes=1000", {.variant = "cpu_replicas:parallel=1", .threads = 1});
    ASSERT_TRUE(forced) << forced.error().message;
    EXPECT_EQ(forced.value().configuration, "parallel=0");
}

TEST(Limited, ToOneThreadStartsNone) {
    EXPECT_EQ(in_process("threads_used", {"OMP_NUM_THREADS=1"}).out, "1");
    EXPECT_EQ(in_process("one_thread_asked_for", {"OMP_NUM_THREADS=4"}).out, "1");
    EXPECT_EQ(in_process("threads_used", {"OMP_THREAD_LIMIT=1"}).out, "1");
    EXPECT_EQ(in_process("threads_used", {}, own_cpus().front()).out, "1");
}

TEST(Limited, OpenMpsNumberIsTakenUpToTheCpus) {
    const std::size_t cpus = own_cpus().size();
    EXPECT_LE(std::stoul(in_process("threads_used", {"OMP_NUM_THREADS=16"}).out), cpus);
    EXPECT_LE(std::stoul(in_process("threads_used", {"OMP_NUM_THREADS=2"}).out), 2U);
    EXPECT_EQ(in_process("threads_used").out, std::to_string(Device::cpu().key().ends_with("-1t") ? 1 : [&] {
                  return std::stoi(threads_of(Device::cpu().key()));
              }()));
}

TEST(Limited, AskedForMayBeMoreThanTheCpus) {
    EXPECT_EQ(in_process("three_threads_asked_for", {}, own_cpus().front()).out, "3");
    EXPECT_EQ(in_process("three_threads_asked_for", {"OMP_NUM_THREADS=1"}).out, "3");
}

TEST(Limited, InAParallelRegionStartsNoMore) {
    EXPECT_EQ(in_process("in_a_region").out, "2");
    EXPECT_EQ(in_process("in_a_region", {"OMP_NUM_THREADS=8"}).out, "2");
}

TEST(Limited, RefusesNoNumberOfThreads) {
    float result = 0;
    const std::vector<float> ones(10, 1);
    for (const int threads : {-1, 1025, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
        expect_invalid(dot_product(Device::cpu(), ones.data(), ones.data(), 10, &result, {.threads = threads}),
                       "Options::threads is " + std::to_string(threads) + ": it goes from 1 to 1024");
        EXPECT_FALSE(explain_dot_product(Device::cpu(), 10, {.threads = threads}));
        EXPECT_FALSE(plan_dot_product(Device::cpu(), 10, {.threads = threads}));
        EXPECT_FALSE(explain(Device::cpu(), "dot", "elements=10", {.threads = threads}));
    }
}

TEST(Limited, PlanHasAsManyAsItWasMadeWith) {
    std::vector<float> a(1'000'003, 1.25F);
    const auto plan = value_of(plan_dot_product(Device::cpu(), static_cast<std::int64_t>(a.size()), {.threads = 1}));
    const Explanation why = value_of(plan.explain());
    EXPECT_EQ(why.threads, 1);
    EXPECT_EQ(why.configuration.find("parallel=1"), std::string::npos);
}

class Fork : public testing::TestWithParam<const char*> {};

TEST_P(Fork, ChildComputesTheSame) {
    for (const std::vector<std::string>& environment :
         {std::vector<std::string>{}, {"OMP_NUM_THREADS=1"}, {"OMP_NUM_THREADS=4"}}) {
        const Said said = in_process(GetParam(), environment);
        EXPECT_NE(said.code, kHung) << "the child hangs";
        EXPECT_EQ(said.code, 0) << said.out;
    }
}

INSTANTIATE_TEST_SUITE_P(Children, Fork,
                         testing::Values("fork_after_a_call", "fork_from_a_thread", "fork_of_a_fork",
                                         "fork_before_a_call", "fork_of_a_plan", "fork_with_threads_asked_for"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(ForkOfASingleThread, ChildMayHaveThreads) {
    EXPECT_EQ(in_process("fork_of_a_single_thread").out, in_process("threads_used").out);
}

TEST(Deterministic, EqualBitsOnAnyNumberOfThreads) {
    const Said one = in_process("bits", {"OMP_NUM_THREADS=1"});
    ASSERT_EQ(one.code, 0) << one.out;
    EveryFunction functions;
    for (const int threads : {1, 2, 3, 8})
        EXPECT_EQ(hex(functions.run({.deterministic = true, .threads = threads})), one.out) << threads;
}

TEST(Deterministic, EqualBitsInAHundredEqualCalls) {
    const std::string one = in_process("bits", {"OMP_NUM_THREADS=1"}).out;
    for (const char* threads : {"OMP_NUM_THREADS=1", "OMP_NUM_THREADS=2", "OMP_NUM_THREADS=8"}) {
        const Said said = in_process("equal_bits", {threads});
        EXPECT_EQ(said.code, 0) << threads;
        EXPECT_EQ(said.out, one) << threads;
    }
}

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
    if (argc == 3 && std::string(argv[1]) == "scenario") {
        try {
            return espalier::scenarios().at(argv[2])();
        } catch (const std::exception& error) {
            std::printf("%s", error.what());
            return 98;
        }
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
