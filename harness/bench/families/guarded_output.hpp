#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/base/bench_memory.hpp"
#include "harness/bench/families/workload.hpp"

namespace espalier::bench {

/// An output between two guard bands.
class GuardedOutput {
public:
    GuardedOutput(DeviceKind kind, std::size_t bytes);

    [[nodiscard]] std::byte* data() const { return memory_.data() + kGuard; }
    [[nodiscard]] std::size_t size() const { return bytes_; }
    void poison(std::uint8_t pattern);
    void load(std::size_t offset, std::span<std::byte> to) const;
    [[nodiscard]] Mismatch check_guards() const;
    /// A copy of the values beside them, and whether they still are the same. On the device: neither moves
    /// gigabytes to the host.
    [[nodiscard]] BenchMemory copy() const;
    [[nodiscard]] bool same_as(const BenchMemory& copy) const;

private:
    static constexpr std::size_t kGuard = 512;  // keeps the output as aligned as a bare allocation
    static constexpr std::uint8_t kGuardByte = 0xA5;
    DeviceKind kind_;
    std::size_t bytes_;
    BenchMemory memory_;
};

}  // namespace espalier::bench
