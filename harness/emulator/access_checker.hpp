#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/block_memory.hpp"
#include "harness/emulator/geometry.hpp"
#include "harness/emulator/race_detector.hpp"

namespace espalier::device::host {

using Bytes = std::span<const std::byte>;

/// Checks every access of a launch, in builds whose kernels report them (see access_hooks.cpp): is it
/// within memory that a kernel may touch, and does it race with another one?
class AccessChecker {
public:
    AccessChecker(const BlockMemory& shared, uint3 block);

    void begin_block();

    /// `own` is memory that is the thread's alone: its stack, the launch's arguments.
    /// Returns what is wrong, in words. Call `settle` before.
    std::optional<std::string> check(const Access& access, std::initializer_list<Bytes> own);

    /// An access is reported before it happens, but whether a write races depends on what it writes:
    /// several threads may write what is there already, as the CUDA programming guide allows. So a
    /// write is checked here, before anything else happens.
    std::optional<std::string> settle();

    RaceDetector& races() { return races_; }

private:
    struct Place {
        std::string_view name;
        Bytes memory;
    };
    std::optional<std::string> describe(const Access& access, const Place& place);
    [[nodiscard]] std::optional<Place> find(const std::byte* address) const;
    [[nodiscard]] std::string describe(const Race& race, const Access& access, const Place& place) const;
    [[nodiscard]] std::string thread_name(unsigned thread) const;

    const BlockMemory& shared_;
    uint3 block_;
    std::vector<Bytes> device_;    ///< by address
    std::optional<Access> write_;  ///< not checked yet
    Place written_;
    std::array<std::byte, 64> before_;  ///< what was there
    RaceDetector races_;
};

}  // namespace espalier::device::host
