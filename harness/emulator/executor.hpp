#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/emulator/geometry.hpp"
#include "harness/emulator/site.hpp"
#include "kernels/device/runtime.hpp"

/// The host executor runs CUDA kernels on the CPU, for tests: see docs/host-executor.md.
namespace espalier::device::host {

/// Which thread of a block runs next whenever one has to wait. A correct kernel computes the same in
/// every order. The blocks of a grid follow the same order, one after the other.
struct ExecutionOrder {
    enum class Kind {
        forward,      ///< the lowest thread that can run: each warp as far as it can before the next one
        reverse,      ///< the highest
        interleaved,  ///< lane 0 of every warp, lane 1 of every warp, ...: all warps advance together
        shuffled,     ///< by random priorities, drawn anew after every barrier
    };
    Kind kind = Kind::forward;
    std::uint64_t seed = 0;  ///< for shuffled

    [[nodiscard]] std::string text() const;  ///< "forward", "shuffled(7)"
};

/// How kernels are run: the order, and the byte that uninitialised memory is filled with: device
/// memory when allocated, shared memory before each block, and values shuffled from lanes that take
/// no part. 0xFF makes every float a NaN and every index huge, 0x5A makes finite numbers.
struct Execution {
    ExecutionOrder order{};
    std::uint8_t poison = 0xFF;
};

/// Sets how kernels run, in the whole process, until it is destroyed.
class ScopedExecution {
public:
    explicit ScopedExecution(ExecutionOrder order, std::uint8_t poison = 0xFF);
    ~ScopedExecution();
    ScopedExecution(const ScopedExecution&) = delete;
    ScopedExecution& operator=(const ScopedExecution&) = delete;

private:
    Execution before_;
};

[[nodiscard]] Execution current_execution();

/// Where in a launch something went wrong.
struct FaultSite {
    std::string kernel;  ///< its demangled name, or where it was launched
    uint3 block{};
    std::optional<uint3> thread;  ///< none if the block as a whole is at fault
    Site location = Site::current();
};

/// A kernel did something that CUDA leaves undefined or a GPU would fault on.
class ExecutionFault : public DeviceError {
public:
    ExecutionFault(const std::string& what, FaultSite site, int code = 719);
    [[nodiscard]] const FaultSite& site() const { return site_; }

private:
    FaultSite site_;
};

/// The executions that `find_nondeterminism` compares: several orders, two poisons.
std::vector<Execution> contrasting_executions();

/// Runs `run` once under each of `contrasting_executions()` and compares the bytes that it returns
/// with the first ones. Returns the first difference in words: which order exposes a race, which
/// poison an uninitialised read. Nothing if all agree.
std::optional<std::string> find_nondeterminism(const std::function<std::vector<std::byte>()>& run);

}  // namespace espalier::device::host
