#include "tests/bench/faulty/variants.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <new>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace espalier::faulty {
namespace {

using Run = void (*)(Context&, const Problem&, const Buffers&, const Configuration&);

/// What is right takes its time for two seeds: for one longer than a fair share of a short sweep. It is not watched by
/// sanitizers, which would make it so slow that on a busy machine `crawls` is no longer hundreds of times as slow.
__attribute__((no_sanitize("address", "undefined"))) void doubling(Context&, const Problem& problem,
                                                                   const Buffers& buffers, const Configuration&) {
    if (problem.seed == 777) std::this_thread::sleep_for(std::chrono::milliseconds(250));
    if (problem.seed == 776) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (std::int64_t i = 0; i < problem.size; ++i) buffers.out[i] = 2 * buffers.in[i];
}

/// Right, and slower by the share of its time that ESPALIER_FAULTY_SLOWDOWN says: a regression that nothing but its
/// times shows.
void right_or_slower(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& c) {
    static const char* const share = std::getenv("ESPALIER_FAULTY_SLOWDOWN");
    const auto start = std::chrono::steady_clock::now();
    doubling(context, problem, buffers, c);
    if (!share) return;
    const auto end = start + (std::chrono::steady_clock::now() - start) * (1 + std::atof(share));
    while (std::chrono::steady_clock::now() < end) {
    }
}

/// Right, but at full size it never ends for one seed: what slow baselines do.
void right_unless_large(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& c) {
    while (problem.size > 10'000'000 && problem.seed == 666) pause();
    doubling(context, problem, buffers, c);
}

/// Right, and thousands of times slower than its like where there is much to do, on a slow or busy machine too. What
/// its like takes is a second run's time, since memory that is touched for the first time takes several times as long;
/// and it never sleeps so long that the few runs of one verification are taken for a hang.
void crawls(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& c) {
    constexpr std::chrono::nanoseconds kMost = std::chrono::seconds(8);
    doubling(context, problem, buffers, c);
    const auto start = std::chrono::steady_clock::now();
    doubling(context, problem, buffers, c);
    const std::chrono::nanoseconds others_take = std::chrono::steady_clock::now() - start;
    const std::chrono::nanoseconds least = std::chrono::microseconds(4 * problem.size);
    if (problem.size > 100'000) std::this_thread::sleep_for(std::min(kMost, std::max(least, 3000 * others_take)));
}

/// What an index of too few bits does. For one seed the fastest of all, for another the slowest, but not by so much
/// that a sample leaves it out, however fast the others are here.
void wrong_when_large(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.seed == 778) std::this_thread::sleep_for(std::chrono::milliseconds(40));
    for (std::int64_t i = 0; i < problem.size; ++i) buffers.out[i] = 2 * buffers.in[i];
    if (problem.size > 5'000'000) buffers.out[problem.size / 2] ^= 1;
}

/// Right up to and without the nth run of this process.
template <int N, class Fault>
void on_run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration,
            Fault fault) {
    static int runs = 0;
    if (++runs >= N) fault();
    doubling(context, problem, buffers, configuration);
}

void segfaults(Context&, const Problem&, const Buffers&, const Configuration&) {
    raise(SIGSEGV);  // what the kernel does; a sanitizer would step in before it
}
void aborts(Context&, const Problem&, const Buffers&, const Configuration&) { std::abort(); }
void exits(Context&, const Problem&, const Buffers&, const Configuration&) { _exit(0); }
void is_killed(Context&, const Problem&, const Buffers&, const Configuration&) { raise(SIGKILL); }
void throws(Context&, const Problem&, const Buffers&, const Configuration&) {
    throw std::runtime_error("told \x1b[31m\"so\"");
}
void wants_too_much(Context&, const Problem&, const Buffers&, const Configuration&) { throw std::bad_alloc(); }
void never_ends(Context&, const Problem&, const Buffers&, const Configuration&) {
    while (true) pause();
}
void never_ends_talking(Context&, const Problem&, const Buffers&, const Configuration&) {
    const char text[] = "still here\n";
    while (write(STDERR_FILENO, text, sizeof text - 1) >= 0) {
    }
}
void crashes_when_timed(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& c) {
    on_run<200>(context, problem, buffers, c, [] { raise(SIGSEGV); });
}
void one_element(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& c) {
    doubling(context, problem, buffers, c);
    buffers.out[problem.size / 2] ^= 1;
}
void only_the_tail(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    for (std::int64_t i = 0; i < problem.size / 32 * 32; ++i) buffers.out[i] = 2 * buffers.in[i];
}
void one_input(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& c) {
    doubling(context, problem, buffers, c);
    for (std::int64_t i = 0; i < problem.size; ++i)
        if (buffers.in[i] % 512 == 17) buffers.out[i] = 0;  // as rare as an input that nobody thought of
}
void sometimes(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& c) {
    static std::mt19937 random(7);
    doubling(context, problem, buffers, c);
    if (random() % 10 == 0) buffers.out[0] ^= 4;
}
void only_once(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& c) {
    static bool done = false;
    if (!done) doubling(context, problem, buffers, c);
    done = true;
}
void past_the_end(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& c) {
    doubling(context, problem, buffers, c);
    buffers.out[problem.size] = 0;
}
void before_the_start(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& c) {
    doubling(context, problem, buffers, c);
    buffers.out[-1] = 0;
}
void returns_early(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    std::thread([=] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        for (std::int64_t i = 0; i < problem.size; ++i) buffers.out[i] = 2 * buffers.in[i];
    }).detach();
}

Support any(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }
Support none(const Problem&, const Configuration&, const DeviceInfo&) {
    return Support::no("never, and it says, \"=cmd()\"");
}
std::size_t a_petabyte(const Problem&, const Configuration&, const DeviceInfo&) { return std::size_t{1} << 50; }

Registered<Problem> entry(std::string_view name, Run run, Role role = Role::documented) {
    return {.variant = {.role = role, .supports = any, .run = run, .name = name},
            .kind = DeviceKind::cpu,
            .path = "tests/bench/faulty/variants.cpp",
            .source_id = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"};
}

Registered<Problem> configured(Registered<Problem> right) {
    right.variant.space = {{"block", {1, 2}}};
    return right;
}
Registered<Problem> declining(Registered<Problem> right) {
    right.variant.supports = none;
    return right;
}
Registered<Problem> greedy(Registered<Problem> right) {
    right.variant.workspace = a_petabyte;
    return right;
}

std::span<const Registered<Problem>> cpu_registry() {
    static const std::array all{
        entry("aborts", aborts),
        entry("before_the_start", before_the_start),
        entry("crashes_when_timed", crashes_when_timed),
        entry("crawls", crawls),
        declining(entry("declines", doubling)),
        entry("segfaults", segfaults),
        entry("exits", exits),
        greedy(entry("greedy", doubling)),
        entry("is_killed", is_killed),
        entry("never_ends", never_ends),
        entry("never_ends_talking", never_ends_talking),
        entry("one_element", one_element),
        entry("one_input", one_input),
        entry("only_once", only_once),
        entry("only_the_tail", only_the_tail),
        entry("past_the_end", past_the_end),
        entry("returns_early", returns_early),
        configured(entry("right", right_or_slower, Role::modern)),
        entry("right_baseline", right_unless_large, Role::baseline),
        entry("sometimes", sometimes),
        entry("throws", throws),
        entry("wants_too_much", wants_too_much),
        entry("wrong_when_large", wrong_when_large),
    };
    return all;
}

}  // namespace

std::span<const Registered<Problem>> registry() {
    static const std::vector<Registered<Problem>> all = [] {
        std::vector<Registered<Problem>> both(cpu_registry().begin(), cpu_registry().end());
        both.insert(both.end(), gpu_registry().begin(), gpu_registry().end());
        return both;
    }();
    return all;
}

}  // namespace espalier::faulty
