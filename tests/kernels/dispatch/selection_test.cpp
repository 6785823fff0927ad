// Every family chooses something that can run for every problem that its tests and sweeps know, on every kind
// of device, with the trees that are committed.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "kernels/core/isa.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/dispatch/choose.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/problems/distance.hpp"
#include "tests/each_family.hpp"

namespace espalier::bench {
namespace {

DeviceInfo cpu(const char* design, int threads, Isa isa) {
    DeviceInfo device;
    device.microarchitecture = design;
    device.threads = threads;
    device.avx2 = device.fma = device.avx512 = device.avx512_vnni = device.amx_bf16 = device.neon = true;
    narrow(device, isa);
    device.key =
        "cpu-" + device.microarchitecture + "-" + std::string(to_string(isa)) + "-" + std::to_string(threads) + "t";
    device.memory_bytes = std::size_t{1} << 40;
    return device;
}

/// What its maker's data sheet says of a GPU; the rest is an H200's, which the host executor describes.
struct Gpu {
    const char* key;
    int sm, sm_count;
    std::size_t shared_per_block_kib, l2_mib;
    double gb_per_second;
};

DeviceInfo gpu(const Gpu& sheet) {
    DeviceInfo device = device::open(0);
    device.emulated = false;
    device.key = sheet.key;
    device.sm = sheet.sm;
    device.sm_count = sheet.sm_count;
    device.shared_per_block_optin = sheet.shared_per_block_kib << 10;
    device.shared_per_sm = (sheet.shared_per_block_kib + 1) << 10;
    device.l2_bytes = sheet.l2_mib << 20;
    device.nominal_bytes_per_second = 1e9 * sheet.gb_per_second;
    device.memory_bytes = std::size_t{1} << 40;
    return device;
}

std::vector<DeviceInfo> all_devices() {
    return {cpu("nehalem", 1, Isa::generic),
            cpu("zen2", 8, Isa::avx2),
            cpu("skylakex", 36, Isa::avx512),
            cpu("graniterapids", 2, Isa::avx512vnni),
            cpu("zen5", 96, Isa::avx512vnni),
            cpu("neoversev2", 72, Isa::neon),
            gpu({"tesla-v100", 70, 80, 96, 6, 900}),
            gpu({"tesla-t4", 75, 40, 64, 4, 320}),
            gpu({"nvidia-a100", 80, 108, 163, 40, 1555}),
            gpu({"nvidia-a40", 86, 84, 99, 6, 696}),
            gpu({"nvidia-l40", 89, 142, 99, 96, 864}),
            gpu({"nvidia-h100", 90, 132, 227, 50, 3350}),
            gpu({"nvidia-h200", 90, 132, 227, 60, 4800}),
            gpu({"nvidia-b200", 100, 148, 227, 126, 8000}),
            gpu({"geforce-rtx-5090", 120, 170, 99, 96, 1792}),
            device::open(0)};
}

std::vector<std::string> all_problems(const Family& family, DeviceKind kind) {
    auto problems = family.default_problems(kind, Effort::full);
    for (const EdgeCase& edge : family.edge_cases()) problems.push_back(edge.problem);
    return problems;
}

/// The configuration with this text, for asking the registry about it.
const Configuration* configuration_of(const VariantInfo& variant, const std::string& text) {
    for (const Configuration& configuration : variant.configurations)
        if (configuration.text() == text) return &configuration;
    return nullptr;
}

TEST(Selection, IsTotalAndFeasible) {
    for (const Family* family : families())
        for (const DeviceInfo& device : all_devices()) {
            for (const std::string& problem : all_problems(*family, device.kind)) {
                SCOPED_TRACE(std::string(family->name()) + " " + problem + " on " + device.key);
                const auto why = explain(family->name(), problem, device, nullptr);
                if (problem.find(";k=0") != std::string::npos) {  // variants take it, the library's calls do not
                    ASSERT_FALSE(why);
                    continue;
                }
                ASSERT_TRUE(why) << why.error().message;
                const std::size_t v = family->find(why.value().variant);
                ASSERT_NE(v, Family::npos);
                const auto* configuration = configuration_of(family->variants()[v], why.value().configuration);
                ASSERT_NE(configuration, nullptr) << why.value().configuration;
                const Support support = family->supports(v, problem, *configuration, device);
                ASSERT_TRUE(support) << support.reason;
            }
        }
}

/// Whether a choice of the leaf other than the baseline that ends it is of this variant.
template <class P>
bool ranks(const Tables<P>& all, const Leaf<P>& leaf, const Registered<P>* entry) {
    return std::ranges::any_of(
        leaf.ranking.first(std::max<std::size_t>(leaf.ranking.size(), 2) - 1),
        [&](const Choice<P>& choice) { return &all.registry[static_cast<std::size_t>(choice.variant)] == entry; });
}

/// A choice of any tree that supports the problem there and is ranked before every configuration of the baseline that
/// does: its name, or empty.
template <class P>
std::string faster_than_the_baseline(const Tables<P>& all, const P& problem, const DeviceInfo& device) {
    for (const Selector<P>& tree : all.selectors)
        for (const Leaf<P>& leaf : tree.leaves)
            for (const Choice<P>& choice : leaf.ranking) {
                const Registered<P>& entry = all.registry[static_cast<std::size_t>(choice.variant)];
                if (!supports(entry, problem, choice.configuration, device)) continue;
                if (entry.variant.role == Role::baseline) break;  // what comes after it is slower
                return std::string(entry.variant.name) + " " + choice.configuration.text();
            }
    return {};
}

TEST(Selection, BaselineRunsOnlyWhereItIsFastestOrAlone) {
    for_each_family([]<class P>(const P*, const std::string& name) {
        const Tables<P> all = tables<P>();
        int related = 0;
        for (const DeviceInfo& device : all_devices())
            for (const std::string& key : all_problems(*find_family(name), device.kind)) {
                std::string wrong;
                const P problem = parse_problem<P>(key, wrong).value();
                const auto decision = decide(all, problem, device, nullptr);
                ASSERT_TRUE(decision) << decision.error().message;
                const Registered<P>* entry = decision.value().entry;
                related += decision.value().tree && decision.value().tree->device_key != device.key;
                if (entry->variant.role != Role::baseline || ranks(all, *decision.value().leaf, entry)) continue;
                EXPECT_EQ(faster_than_the_baseline(all, problem, device), "")
                    << name << " " << key << " " << device.key;
            }
        EXPECT_GT(related, 0) << name;
    });
}

TEST(Selection, StagesKeepTiesOfWholeNumbers) {
    const auto devices = all_devices();
    const auto h200 = std::ranges::find(devices, "nvidia-h200", &DeviceInfo::key);
    ASSERT_NE(h200, devices.end());
    const distance::Problem problem{16384, 16384, 128, Metric::euclidean, Missing::none};
    const auto alone = decide(problem, *h200);
    ASSERT_TRUE(alone) << alone.error().message;
    EXPECT_FALSE(alone.value().entry->variant.rounds.empty()) << "nothing rounds here: take another problem";
    EXPECT_TRUE(choose(problem, *h200).variant->rounds.empty());
}

}  // namespace
}  // namespace espalier::bench
