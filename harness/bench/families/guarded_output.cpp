#include "harness/bench/families/guarded_output.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace espalier::bench {

GuardedOutput::GuardedOutput(DeviceKind kind, std::size_t bytes)
    : kind_(kind), bytes_(bytes), memory_(kind, bytes + 2 * kGuard) {}

void GuardedOutput::poison(std::uint8_t pattern) {
    memory_.fill(0, kGuard, kGuardByte);
    memory_.fill(kGuard, bytes_, pattern);
    memory_.fill(kGuard + bytes_, kGuard, kGuardByte);
}

void GuardedOutput::load(std::size_t offset, std::span<std::byte> to) const { memory_.load(kGuard + offset, to); }

BenchMemory GuardedOutput::copy() const {
    BenchMemory values(kind_, bytes_);
    values.copy_from(data());
    return values;
}

bool GuardedOutput::same_as(const BenchMemory& copy) const { return copy.equals(data()); }

Mismatch GuardedOutput::check_guards() const {
    for (const bool tail : {false, true}) {
        std::vector<std::byte> band(kGuard);
        memory_.load(tail ? kGuard + bytes_ : 0, band);
        const auto hit = std::find_if(band.begin(), band.end(), [](std::byte b) { return b != std::byte{kGuardByte}; });
        if (hit == band.end()) continue;
        const auto at = hit - band.begin();
        return {tail ? "wrote past the output's end, at byte +" + std::to_string(at)
                     : "wrote before the output's start, at byte -" +
                           std::to_string(static_cast<std::ptrdiff_t>(kGuard) - at)};
    }
    return {};
}

}  // namespace espalier::bench
