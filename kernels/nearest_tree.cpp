#include "kernels/nearest_tree.hpp"

#include <cstdlib>

namespace espalier {
namespace {

int isa_level(std::string_view isa) { return isa == "avx512" ? 2 : isa == "avx2" ? 1 : 0; }

int isa_level(const DeviceInfo& device) { return device.avx512 ? 2 : device.avx2 && device.fma ? 1 : 0; }

std::int64_t distance_of_gpus(const TrainedOn& trained, const DeviceInfo& device) {
    if (trained.sm == device.sm) return 0;
    if (trained.sm > device.sm || trained.sm / 10 != device.sm / 10) return kUnrelated;
    return device.sm - trained.sm;
}

std::int64_t distance_of_cpus(const TrainedOn& trained, const DeviceInfo& device) {
    const int levels = isa_level(device) - isa_level(trained.isa);
    if (levels < 0) return kUnrelated;
    constexpr std::int64_t kLevel = std::int64_t{1} << 40;  // outweighs any difference in threads
    const std::int64_t threads = std::int64_t{device.threads} - trained.threads;
    return levels * kLevel + 2 * std::abs(threads) + (threads < 0 ? 1 : 0);
}

}  // namespace

std::int64_t distance_between(const TrainedOn& trained, const DeviceInfo& device) {
    if (trained.kind != device.kind) return kUnrelated;
    return device.kind == DeviceKind::cpu ? distance_of_cpus(trained, device) : distance_of_gpus(trained, device);
}

}  // namespace espalier
