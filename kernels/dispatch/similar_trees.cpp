#include "kernels/dispatch/similar_trees.hpp"

#include <cstdlib>

namespace espalier {
namespace {

// All weights are in sixteenths of a doubling, the unit in which sizes are compared; what was seen of them is in
// docs/performance/fallbacks.md.
constexpr std::int64_t kDoubling = 16;
constexpr std::int64_t kRicherIsa = kDoubling;  // what cannot run is skipped, and what is best then is ranked, too
constexpr std::int64_t kPoorerIsa = 256 * kDoubling;  // a tree cannot rank what its own device could not run
constexpr std::int64_t kOtherMicroarchitecture = 8;   // caches and ports: as much as 1.4 times the threads
constexpr std::int64_t kOtherMaker = kDoubling;       // which has less of its design in common
constexpr std::int64_t kOtherComputeCapability = 8;   // of the same major version: machine code runs as it is
constexpr std::int64_t kOtherMajorVersion = 48;       // tensor cores and copies of another kind
constexpr std::int64_t kUnknown = kDoubling;          // what is known of one of the two alone

/// Of two sizes' logarithms.
std::int64_t apart(int a, int b) {
    if (a == kUnknownSize || b == kUnknownSize) return a == b ? 0 : kUnknown;
    return std::abs(a - b);
}

/// Levels of x86-64 are steps; nothing of another architecture is alike.
std::int64_t apart(Isa device, Isa trained) {
    if (device == trained) return 0;
    constexpr std::int64_t kOtherArchitecture = 8 * kPoorerIsa;
    if (device == Isa::neon || trained == Isa::neon) return kOtherArchitecture;
    const int steps = static_cast<int>(trained) - static_cast<int>(device);
    return steps > 0 ? kRicherIsa * steps : kPoorerIsa * -steps;
}

/// By the names that device/microarchitecture.cpp gives: this is asked for every tree whenever something is decided.
bool is_amds(std::string_view design) { return design.starts_with("zen") || design.starts_with("amd-"); }

std::int64_t apart(std::string_view design, std::string_view trained) {
    if (design == trained) return 0;
    return is_amds(design) == is_amds(trained) ? kOtherMicroarchitecture : kOtherMaker;
}

std::int64_t dissimilarity_of_cpus(const DeviceTraits& device, const DeviceTraits& trained) {
    return apart(device.isa, trained.isa) + apart(device.log_threads, trained.log_threads) +
           apart(device.microarchitecture, trained.microarchitecture);
}

std::int64_t dissimilarity_of_gpus(const DeviceTraits& a, const DeviceTraits& b) {
    const std::int64_t architecture = a.sm == b.sm             ? 0
                                      : a.sm / 10 == b.sm / 10 ? kOtherComputeCapability
                                                               : kOtherMajorVersion * std::abs(a.sm / 10 - b.sm / 10);
    return architecture + apart(a.log_sm_count, b.log_sm_count) + apart(a.log_shared, b.log_shared) +
           apart(a.log_l2, b.log_l2) + apart(a.log_bandwidth, b.log_bandwidth);
}

/// "a instead of b, ..." of what differs.
class Differences {
public:
    void add(std::string_view here, std::string_view there, std::string_view unit = {}) {
        if (here == there) return;
        text_.append(text_.empty() ? "" : ", ").append(here).append(unit).append(" instead of ").append(there);
    }
    void add(std::int64_t here, std::int64_t there, std::string_view unit) {
        add(std::to_string(here), std::to_string(there), unit);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

std::string_view known(std::string_view microarchitecture) {
    return microarchitecture.empty() ? "an unknown design" : microarchitecture;
}

Differences differences_of_cpus(const DeviceTraits& device, const DeviceTraits& trained) {
    Differences all;
    all.add(to_string(device.isa), to_string(trained.isa));
    all.add(known(device.microarchitecture), known(trained.microarchitecture));
    all.add(device.threads, trained.threads, " threads");
    return all;
}

Differences differences_of_gpus(const DeviceTraits& device, const DeviceTraits& trained) {
    const auto shifted = [](std::size_t bytes, int by) { return static_cast<std::int64_t>(bytes >> by); };
    const auto giga = [](double rate) { return static_cast<std::int64_t>(rate / 1e9); };
    Differences all;
    all.add("sm_" + std::to_string(device.sm), "sm_" + std::to_string(trained.sm));
    all.add(device.sm_count, trained.sm_count, " SMs");
    all.add(shifted(device.shared_per_block, 10), shifted(trained.shared_per_block, 10), " KiB of shared memory");
    all.add(shifted(device.l2_bytes, 20), shifted(trained.l2_bytes, 20), " MiB of L2");
    if (apart(device.log_bandwidth, trained.log_bandwidth) > kDoubling / 4)
        all.add(giga(device.bytes_per_second), giga(trained.bytes_per_second), " GB/s");
    return all;
}

}  // namespace

std::int64_t dissimilarity(const DeviceTraits& device, const DeviceTraits& trained) {
    return device.kind == DeviceKind::cpu ? dissimilarity_of_cpus(device, trained)
                                          : dissimilarity_of_gpus(device, trained);
}

std::string difference(const DeviceTraits& device, const DeviceTraits& trained) {
    const bool cpu = device.kind == DeviceKind::cpu;
    return (cpu ? differences_of_cpus(device, trained) : differences_of_gpus(device, trained)).text();
}

}  // namespace espalier
