#include "harness/emulator/executor.hpp"

#include <cstring>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "harness/emulator/block.hpp"
#include "harness/emulator/device_heap.hpp"
#include "harness/emulator/errors.hpp"
#include "harness/emulator/format.hpp"
#include "harness/emulator/kernel_code.hpp"
#include "harness/emulator/limits.hpp"
#include "harness/emulator/symbols.hpp"

namespace espalier::device::host {
namespace {

std::mutex execution_mutex;
Execution execution;

/// Set before main() by programs whose kernels report their accesses.
constinit bool accesses_watched = false;

thread_local Block* running_block = nullptr;
thread_local FiberPool fibers;

/// Makes a block the running one of this OS thread.
class Running {
public:
    explicit Running(Block& block) { running_block = &block; }
    ~Running() { running_block = nullptr; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
};

Block& block() {
    if (running_block == nullptr) throw std::logic_error("a kernel's intrinsic was called outside of a kernel");
    return *running_block;
}

void require(bool accepted, CudaError error) {
    if (!accepted) throw_error(error, "kernel launch");
}

void check_limits(const Launch& launch) {
    const auto& [grid, size] = std::pair(launch.grid, launch.block);
    require(grid.x >= 1 && grid.y >= 1 && grid.z >= 1, CudaError::invalid_configuration);
    require(grid.x <= kGridWidth && grid.y <= kGridHeight && grid.z <= kGridHeight, CudaError::invalid_configuration);
    require(size.x >= 1 && size.y >= 1 && size.z >= 1, CudaError::invalid_configuration);
    require(size.x <= kThreadsPerBlock && size.y <= kThreadsPerBlock && size.z <= kBlockDepth,
            CudaError::invalid_configuration);
    require(size.x * size.y * size.z <= kThreadsPerBlock, CudaError::invalid_configuration);
    if (launch.shared_bytes > kShared) throw_error(CudaError::invalid_value, "opting in to dynamic shared memory");
}

/// The n-th block to run, in the order that the threads of a block follow too.
std::uint64_t block_at(std::uint64_t n, std::uint64_t count, const ExecutionOrder& order) {
    if (order.kind == ExecutionOrder::Kind::reverse) return count - 1 - n;
    if (order.kind != ExecutionOrder::Kind::shuffled) return n;
    // A step that shares no divisor with the count visits every block once, without a table of them.
    std::uint64_t step = (order.seed * 2654435761U + 40503U) % count;
    while (std::gcd(step, count) != 1) ++step;
    return (n * step + order.seed) % count;
}

}  // namespace

std::string ExecutionOrder::text() const {
    switch (kind) {
        case Kind::forward: return "forward";
        case Kind::reverse: return "reverse";
        case Kind::interleaved: return "interleaved";
        case Kind::shuffled: break;
    }
    return "shuffled(" + std::to_string(seed) + ")";
}

Execution current_execution() {
    const std::lock_guard lock(execution_mutex);
    return execution;
}

ScopedExecution::ScopedExecution(ExecutionOrder order, std::uint8_t poison) {
    const std::lock_guard lock(execution_mutex);
    before_ = std::exchange(execution, {order, poison});
}

ScopedExecution::~ScopedExecution() {
    const std::lock_guard lock(execution_mutex);
    execution = before_;
}

ExecutionFault::ExecutionFault(const std::string& what, FaultSite site, int code)
    : DeviceError(what + " [kernel " + site.kernel + ", block (" + std::to_string(site.block.x) + "," +
                      std::to_string(site.block.y) + "," + std::to_string(site.block.z) + ")" +
                      (site.thread ? ", thread (" + std::to_string(site.thread->x) + "," +
                                         std::to_string(site.thread->y) + "," + std::to_string(site.thread->z) + ")"
                                   : "") +
                      ", " + site.location.file_name() + ":" + std::to_string(site.location.line()) + "]",
                  code),
      site_(std::move(site)) {}

void execute(const Launch& launch, ThreadBody body) {
    if (running_block != nullptr) throw_error(CudaError::not_supported, "launch from within a kernel");
    check_limits(launch);
    const Execution how = current_execution();
    Block block(launch, body, how, fibers, accesses_watched);
    const Running running(block);
    blockDim = launch.block;
    gridDim = launch.grid;
    const auto [width, height, depth] = launch.grid;
    const std::uint64_t count = std::uint64_t{width} * height * depth;
    try {
        for (std::uint64_t n = 0; n < count; ++n) {
            const std::uint64_t at = block_at(n, count, how.order);
            block.run({static_cast<unsigned>(at % width), static_cast<unsigned>(at / width % height),
                       static_cast<unsigned>(at / width / height)});
        }
    } catch (...) {
        static_cast<void>(DeviceHeap::instance().damage());  // so that no later launch is blamed for this one
        throw;
    }
    if (const auto damage = DeviceHeap::instance().damage())
        throw ExecutionFault(*damage, {kernel_name(launch), {}, std::nullopt, launch.location},
                             static_cast<int>(CudaError::illegal_address));
}

std::string kernel_name(const Launch& launch) {
    const std::string name = function_at(launch.kernel);
    return name.empty() ? "launched in " + text(launch.location) : name;
}

void write_constant(void* symbol, std::size_t capacity, const void* from, std::size_t bytes) {
    if (bytes > capacity) throw_error(CudaError::invalid_value, "copy to constant memory");
    if (bytes > 0) std::memcpy(symbol, from, bytes);
}

int block_barrier(const char* name, bool predicate, Site site) {
    const ExecutorCode here;
    return block().barrier(name, predicate, site);
}

std::uint64_t warp_collective(const WarpOperation& operation, unsigned mask, std::uint64_t value, unsigned argument,
                              Site site) {
    const ExecutorCode here;
    return block().collective(operation, mask, value, argument, site);
}

void atomic_access(const void* address, std::size_t bytes, std::uintptr_t instruction) {
    const ExecutorCode here;
    block().atomic_access(address, bytes, instruction);
}

void memory_access(const void* address, std::size_t bytes, AccessKind kind, std::uintptr_t instruction) {
    if (!in_kernel_code) return;
    const ExecutorCode here;
    block().memory_access(address, bytes, kind, instruction);
}

void watch_accesses() { accesses_watched = true; }

void fence() {
    const ExecutorCode here;
    block().fence();
}

void yield() {
    const ExecutorCode here;
    block().yield();
}

unsigned lane_index() { return block().lane(); }
std::uint64_t poison_value() { return block().poison(); }

void* static_shared(const SharedArray& array) {
    const ExecutorCode here;
    return block().static_shared(array);
}
void* dynamic_shared_memory() { return block().dynamic_shared(); }

void fault(const std::string& what, Site site) {
    const ExecutorCode here;
    throw block().fault(what, site, static_cast<int>(CudaError::launch_failure));
}
void illegal_address(const std::string& what, Site site) {
    const ExecutorCode here;
    throw block().fault(what, site, static_cast<int>(CudaError::illegal_address));
}

}  // namespace espalier::device::host
