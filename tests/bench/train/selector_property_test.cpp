// The committed selectors, as compiled, on random problems: they never choose on any device what cannot run there. Runs
// on typed problems, without keys. ESPALIER_PROPERTY_DRAWS sets the number of draws per family.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "harness/bench/learn/feasibility.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "tests/each_family.hpp"
#include "tests/support/invented_sweep.hpp"
#include "tests/support/trials.hpp"

namespace espalier::bench::learn {
namespace {

using Random = std::mt19937_64;

int draws(int otherwise) {
    const char* text = std::getenv("ESPALIER_PROPERTY_DRAWS");
    return text ? std::atoi(text) : trials(otherwise);
}

/// Random problems: every axis at a value that sweeps, edge cases or results have, beside one, or between two.
template <class P>
class Draw {
public:
    Draw(const Family& family, DeviceKind kind, std::span<const std::string> problems)
        : pools_(known_values(family, kind, problems)) {}

    P operator()(Random& random) const {
        P problem{};
        for (std::size_t i = 0; const Feature<P>& feature : P::features()) {
            const auto& pool = pools_[i++];
            if (!feature.derived()) feature.assign(problem, value(feature, pool, random));
        }
        return problem;
    }

private:
    static double value(const Feature<P>& feature, const std::vector<double>& pool, Random& random) {
        if (!feature.categories.empty()) return static_cast<double>(random() % feature.categories.size());
        const double at = pool[random() % pool.size()];
        switch (random() % 4) {
            case 0: return std::max(0.0, at + static_cast<double>(random() % 3) - 1);
            case 1: {
                const double other = pool[random() % pool.size()], share = static_cast<double>(random() % 1024) / 1024;
                return std::floor(std::exp2(std::log2(at + 1) * share + std::log2(other + 1) * (1 - share)) - 0.5);
            }
            default: return at;
        }
    }

    std::vector<std::vector<double>> pools_;
};

std::int64_t any_of(std::initializer_list<std::int64_t> values, Random& random) {
    return values.begin()[random() % values.size()];
}

/// A device that nobody built, of any age, with limits that do not go together.
DeviceInfo fake_device(Random& random) {
    static const std::vector<DeviceInfo> devices = invented_devices();
    DeviceInfo device = devices[random() % devices.size()];
    const auto bytes = [&](unsigned least, unsigned most) {
        return std::size_t{1} << (least + random() % (most - least));
    };
    device.memory_bytes = bytes(20, 40);
    if (device.kind == DeviceKind::cpu) {
        device.threads = static_cast<int>(any_of({1, 2, 3, 8, 256}, random));
        device.avx2 = random() % 2, device.fma = random() % 2;
        device.avx512 = random() % 2, device.avx512_vnni = random() % 2, device.amx_bf16 = random() % 2;
        device.key = any_of({0, 1}, random) ? "cpu-graniterapids-avx512vnni-2t" : "cpu-fake";
        return device;
    }
    device.key = any_of({0, 1}, random) ? "nvidia-h200" : "gpu-fake";
    device.sm = static_cast<int>(any_of({30, 52, 70, 75, 80, 86, 89, 90, 100, 120}, random));
    device.sm_count = static_cast<int>(any_of({1, 13, 132}, random));
    device.shared_per_block = bytes(10, 17), device.shared_per_block_optin = bytes(10, 18);
    device.shared_per_sm = bytes(10, 18), device.constant_bytes = bytes(10, 17);
    device.max_threads_per_sm = static_cast<int>(any_of({1024, 1536, 2048}, random));
    device.texture_1d_linear_floats = static_cast<std::int64_t>(bytes(10, 30));
    device.texture_2d_width = static_cast<std::int64_t>(bytes(8, 18));
    device.texture_2d_height = static_cast<std::int64_t>(bytes(8, 18));
    device.texture_2d_pitch = static_cast<std::int64_t>(bytes(8, 22));
    device.texture_pitch_alignment = static_cast<int>(any_of({32, 64, 512}, random));
    device.emulated = random() % 4 == 0;
    return device;
}

/// What of a family's variants runs the problem on the device, or null.
template <class P>
const Registered<P>* any_that_runs(const Tables<P>& all, const P& problem, const DeviceInfo& device) {
    for (const Registered<P>& entry : all.registry)
        for (const Configuration& configuration : entry.variant.space.enumerate())
            if (entry.variant.role != Role::peer && supports(entry, problem, configuration, device)) return &entry;
    return nullptr;
}

/// Counts what was chosen. What fits no device's memory may be refused for its size alone.
template <class P>
void expect_feasible(const Family& family, const Tables<P>& all, const P& problem, const DeviceInfo& device,
                     int& chosen) {
    const auto decision = decide(all, problem, device, nullptr);
    if (!decision) {
        constexpr std::size_t kLargestMemory = std::size_t{1} << 40;
        if (family.data_bytes(problem_key(problem)) > kLargestMemory) return;
        const Registered<P>* runs = any_that_runs(all, problem, device);
        ASSERT_EQ(runs, nullptr) << runs->variant.name << " runs it, but: " << decision.error().message;
        return;
    }
    ++chosen;
    const Registered<P>* entry = decision.value().entry;
    const Leaf<P>* leaf = decision.value().leaf;
    const Support support = supports(*entry, problem, decision.value().configuration, device);
    ASSERT_TRUE(support) << entry->variant.name << ": " << support.reason;
    ASSERT_EQ(entry->kind, device.kind);
    ASSERT_NE(entry->variant.role, Role::peer);
    if (!leaf) return;
    const auto baseline = static_cast<std::size_t>(leaf->ranking.back().variant);
    ASSERT_EQ(all.registry[baseline].variant.role, Role::baseline);
}

TEST(SelectorProperties, NeverChooseWhatCannotRun) {
    for_each_family([]<class P>(const P*, const std::string& name) {
        const Family& family = *find_family(name);
        const Tables<P> all = tables<P>();
        const Draw<P> on_cpu(family, DeviceKind::cpu, {}), on_gpu(family, DeviceKind::cuda, {});
        Random random(9);
        constexpr int kDraws = 1'000'000, kPerDevice = 20;
        DeviceInfo device;
        int chosen = 0;
        const int count = draws(kDraws);
        for (int i = 0; i < count && !testing::Test::HasFatalFailure(); ++i) {
            if (i % kPerDevice == 0) device = fake_device(random);
            const P problem = (device.kind == DeviceKind::cpu ? on_cpu : on_gpu)(random);
            SCOPED_TRACE(name);
            expect_feasible(family, all, problem, device, chosen);
            if (testing::Test::HasFatalFailure())
                ADD_FAILURE() << problem_key(problem) << " on " << device.key << ", sm " << device.sm;
        }
        EXPECT_GT(chosen, count / 2) << name << ": most of the problems are beyond the devices";
    });
}

}  // namespace
}  // namespace espalier::bench::learn
