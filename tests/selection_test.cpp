// Every family chooses something that can run for every problem that its tests and sweeps know, on every kind
// of device, with the trees that are committed.

#include <gtest/gtest.h>

#include <vector>

#include "harness/device/runtime.hpp"
#include "harness/families/family.hpp"
#include "kernels/families.hpp"

namespace espalier {
namespace {

DeviceInfo cpu(const char* key, int threads, bool avx2, bool avx512) {
    DeviceInfo device;
    device.key = key;
    device.threads = threads;
    device.avx2 = device.fma = avx2;
    device.avx512 = device.avx512_vnni = avx512;
    device.memory_bytes = std::size_t{1} << 40;
    return device;
}

/// With an H200's limits, which are those of all GPUs of the last years or more than they have; what makes
/// the difference for the choice is the key and the architecture.
DeviceInfo gpu(const char* key, int sm) {
    DeviceInfo device = device::open(0);
    device.emulated = false;
    device.key = key;
    device.sm = sm;
    device.memory_bytes = std::size_t{1} << 40;
    return device;
}

std::vector<DeviceInfo> all_devices() {
    return {cpu("cpu-generic-1t", 1, false, false),
            cpu("cpu-avx2-8t", 8, true, false),
            cpu("cpu-avx512-2t", 2, true, true),
            cpu("cpu-avx512-96t", 96, true, true),
            gpu("nvidia-v100", 70),
            gpu("nvidia-a100", 80),
            gpu("nvidia-l40", 89),
            gpu("nvidia-h200", 90),
            gpu("nvidia-b200", 100),
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

}  // namespace
}  // namespace espalier
