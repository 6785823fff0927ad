#include "harness/bench/profile/copy_rates.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "harness/base/clock.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 28;  // what starting a copy costs is lost in it

/// By the host's clock: pageable memory is copied through the driver's own buffers, which events do not see.
template <class Copy>
double rate(const Copy& copy) {
    std::array<double, 5> seconds{};
    copy();  // touches pages and wakes the link
    device::synchronize();
    for (double& taken : seconds) {
        const double start = steady_seconds();
        copy();
        device::synchronize();
        taken = steady_seconds() - start;
    }
    std::ranges::sort(seconds);
    return static_cast<double>(kBytes) / seconds[seconds.size() / 2];
}

}  // namespace

CopyRates measure_copy_rates() {
    const device::Buffer there(kBytes);
    std::vector<std::byte> pageable(kBytes, std::byte{1});
    const device::PinnedBuffer pinned(kBytes);
    return {.pageable_to_device = rate([&] { device::copy_to_device(there.data(), pageable.data(), kBytes); }),
            .pageable_to_host = rate([&] { device::copy_to_host(pageable.data(), there.data(), kBytes); }),
            .pinned_to_device = rate([&] { device::copy_to_device(there.data(), pinned.data(), kBytes); }),
            .pinned_to_host = rate([&] { device::copy_to_host(pinned.data(), there.data(), kBytes); })};
}

}  // namespace espalier::bench
