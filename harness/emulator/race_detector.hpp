#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace espalier::device::host {

enum class AccessKind : std::uint8_t {
    read,
    write,
    atomic_read,    ///< volatile: races with plain writes only
    atomic_update,  ///< races with plain accesses only
};

/// An access of a thread of the running block.
struct Access {
    const std::byte* address;
    std::size_t bytes;
    AccessKind kind;
    unsigned thread;
    std::uintptr_t instruction;
};

/// Two accesses that nothing orders, at least one of them a write: the one just made and an earlier one.
struct Race {
    const std::byte* address;
    bool wrote;  ///< the earlier one
    bool in_another_block;
    unsigned thread;  ///< that made the earlier one
    std::uintptr_t instruction;
};

/// Finds data races of one launch from what orders accesses, not from what they do to the results, so
/// that a race is found in whatever order the threads happen to run. Remembers for every byte of
/// shared and device memory the last write and the last reads.
///
/// Two accesses of a block are ordered by a barrier of the block, a __syncwarp of both lanes (directly or
/// through other lanes; shuffles and votes order nothing, as CUDA documents), a fence of the first thread
/// followed by an atomic or volatile access of the second. What orders accesses of two blocks: a fence in
/// the first block after its access, followed by an atomic or volatile access in the second block. The
/// two are taken to belong together: a kernel in which they do not is not found out.
class RaceDetector {
public:
    explicit RaceDetector(unsigned threads);

    void begin_block();
    void barrier();
    void warp_barrier(unsigned warp, unsigned mask);
    void fence(unsigned thread);

    /// Forgets all accesses to this memory.
    void forget(std::span<const std::byte> memory);

    /// Records an access. Returns the race that it completes.
    std::optional<Race> access(const Access& access);

    /// Records a write that changed nothing: it races with no other.
    void write_of_the_same(const Access& access);

private:
    struct Stamp {
        std::uint32_t block = 0;  ///< counted from 1 in the order of execution; 0: none
        std::uint32_t phase = 0;  ///< barriers of the block so far
        std::uint32_t time = 0;
        std::uint16_t thread = 0;
    };
    struct Event {
        Stamp stamp;
        std::uintptr_t instruction = 0;
    };
    struct Cell {
        Event write;
        Event update;  ///< an atomic update that `write`, another one, is not ordered after
        Event read;
        std::uint32_t read_lanes = 0;  ///< of the warp of `read`
        bool write_was_atomic = false;
        bool read_by_other_warps = false;
        std::uint16_t other_reader = 0;  ///< one of another warp than `read`'s, if there is any
    };
    static constexpr std::size_t kPageBytes = 1024;
    using Page = std::array<Cell, kPageBytes>;

    [[nodiscard]] Cell& cell(const std::byte* address);
    [[nodiscard]] bool ordered(const Stamp& earlier, unsigned earlier_thread, unsigned thread) const;
    [[nodiscard]] std::optional<Race> conflict(const Cell& cell, const Access& access) const;
    [[nodiscard]] std::optional<unsigned> unordered_reader(const Cell& cell, unsigned thread) const;
    [[nodiscard]] std::uint32_t lanes_unordered(const Cell& cell, unsigned thread) const;
    void record(Cell& cell, const Access& access) const;
    [[nodiscard]] bool now(const Stamp& stamp) const { return stamp.block == block_ && stamp.phase == phase_; }

    std::uint32_t block_ = 0, phase_ = 0;
    std::uint32_t time_ = 1;                            ///< advances with every event that may order accesses
    std::uint32_t acquired_ = 0;                        ///< the running block's last atomic access; 0: none
    std::vector<std::uint32_t> released_;               ///< last fence, by block
    std::vector<std::uint32_t> fenced_;                 ///< last fence, by thread
    std::vector<std::uint32_t> looked_;                 ///< last atomic access, by thread
    std::vector<std::array<std::uint32_t, 32>> known_;  ///< by thread: until when each lane's accesses are ordered
    std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
    std::uintptr_t last_page_ = 0;
    Page* last_cells_ = nullptr;
};

}  // namespace espalier::device::host
