#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "harness/emulator/access_checker.hpp"
#include "harness/emulator/block_memory.hpp"
#include "harness/emulator/fiber_pool.hpp"
#include "harness/emulator/kernel_side.hpp"
#include "harness/emulator/schedule.hpp"

namespace espalier::device::host {

/// One block of a grid: its threads, what each of them waits for, and its shared memory. Reused for
/// all blocks of a launch.
class Block {
public:
    Block(const Launch& launch, ThreadBody body, const Execution& execution, FiberPool& pool, bool watched);

    /// Runs every thread of block `index` to its end. After an exception every thread has been unwound.
    void run(uint3 index);

    // Called by the running thread.
    int barrier(const char* name, bool predicate, Site site);
    std::uint64_t collective(const WarpOperation& operation, unsigned mask, std::uint64_t value, unsigned argument,
                             Site site);
    void atomic_access(const void* address, std::size_t bytes, std::uintptr_t instruction);
    void memory_access(const void* address, std::size_t bytes, AccessKind kind, std::uintptr_t instruction);
    void fence();
    void yield();
    void* static_shared(const SharedArray& array);
    void* dynamic_shared() const { return memory_.dynamic(); }
    [[nodiscard]] unsigned lane() const { return running_ % 32; }
    [[nodiscard]] std::uint64_t poison() const { return 0x0101010101010101U * execution_.poison; }
    [[nodiscard]] ExecutionFault fault(const std::string& what, Site site, int code) const;

private:
    enum class State : std::uint8_t { runnable, at_barrier, in_collective, returned };

    struct Thread {
        uint3 index;
        State state;
        bool predicate;
        int count;                        ///< what the last barrier found
        const char* operation;            ///< name of what it waits in
        const WarpOperation* collective;  ///< while in one
        unsigned mask;
        Site site;
        std::unique_ptr<Worker> worker;  ///< while it has started and not ended
    };

    void begin(uint3 index);
    void step(unsigned thread);
    void polled();
    void fail_if(const std::optional<std::string>& wrong);
    void settle();
    void finish_barrier();
    void finish_collective(unsigned warp, const WarpOperation& operation, unsigned mask);
    void wait();
    void retire(Thread& thread);
    void abandon();
    bool release_yielded();
    [[nodiscard]] ExecutionFault deadlock() const;
    [[nodiscard]] ExecutionFault damaged(const std::string& what) const;
    [[nodiscard]] std::string name(const Thread& thread) const;

    const Launch& launch_;
    ThreadBody body_;
    Execution execution_;
    FiberPool& pool_;
    BlockMemory memory_;
    std::optional<AccessChecker> checker_;  ///< in programs whose kernels report their accesses
    std::optional<ExecutionFault> fault_;   ///< what it found, thrown when the thread is back
    Schedule schedule_;
    uint3 index_{};
    std::vector<Thread> threads_;
    std::vector<Lanes> warps_;   ///< what each lane brings to a collective
    std::vector<unsigned> met_;  ///< of each warp, the lanes that wait in a collective
    std::vector<unsigned> yielded_;
    unsigned running_ = 0;
    unsigned at_barrier_ = 0;
    unsigned returned_ = 0;
    unsigned polls_ = 0;            ///< of the running thread since it was switched to
    std::uint64_t idle_polls_ = 0;  ///< of all threads since one of them got anywhere
};

}  // namespace espalier::device::host
