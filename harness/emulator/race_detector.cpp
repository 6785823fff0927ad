#include "harness/emulator/race_detector.hpp"

#include <algorithm>
#include <bit>

namespace espalier::device::host {

namespace {

bool is_atomic(AccessKind kind) { return kind == AccessKind::atomic_read || kind == AccessKind::atomic_update; }

}  // namespace

RaceDetector::RaceDetector(unsigned threads)
    : released_(1), fenced_(threads), looked_(threads), known_((threads + 31) / 32 * 32) {}

void RaceDetector::begin_block() {
    ++block_;
    phase_ = 0;
    acquired_ = 0;
    released_.push_back(0);
    std::fill(fenced_.begin(), fenced_.end(), 0);
    std::fill(looked_.begin(), looked_.end(), 0);
    for (auto& lanes : known_) lanes.fill(0);
}

void RaceDetector::barrier() { ++phase_; }

void RaceDetector::warp_barrier(unsigned warp, unsigned mask) {
    auto* const lanes = &known_[warp * 32];
    std::array<std::uint32_t, 32> joined{};
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        const auto& known = lanes[std::countr_zero(rest)];
        for (unsigned l = 0; l < 32; ++l) joined[l] = std::max(joined[l], known[l]);
    }
    for (unsigned l = 0; l < 32; ++l)
        if ((mask >> l & 1U) != 0) joined[l] = time_;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) lanes[std::countr_zero(rest)] = joined;
    ++time_;
}

void RaceDetector::fence(unsigned thread) {
    released_[block_] = fenced_[thread] = ++time_;
    ++time_;
}

bool RaceDetector::ordered(const Stamp& earlier, unsigned earlier_thread, unsigned thread) const {
    if (earlier.block != block_) return released_[earlier.block] > earlier.time && acquired_ != 0;
    if (earlier.phase != phase_ || earlier_thread == thread) return true;
    if (earlier_thread / 32 == thread / 32 && known_[thread][earlier_thread % 32] >= earlier.time) return true;
    return fenced_[earlier_thread] > earlier.time && looked_[thread] > fenced_[earlier_thread];
}

std::optional<Race> RaceDetector::conflict(const Cell& cell, const Access& access) const {
    const auto race = [&](bool wrote, const Event& earlier, unsigned thread) {
        return Race{access.address, wrote, earlier.stamp.block != block_, thread, earlier.instruction};
    };
    const bool both_atomic = is_atomic(access.kind) && cell.write_was_atomic;
    for (const Event* write : {&cell.write, &cell.update})
        if (write->stamp.block != 0 && !both_atomic && !ordered(write->stamp, write->stamp.thread, access.thread))
            return race(true, *write, write->stamp.thread);
    if (access.kind == AccessKind::read || access.kind == AccessKind::atomic_read) return std::nullopt;
    if (const auto reader = unordered_reader(cell, access.thread)) return race(false, cell.read, *reader);
    return std::nullopt;
}

std::optional<unsigned> RaceDetector::unordered_reader(const Cell& cell, unsigned thread) const {
    const Stamp& read = cell.read.stamp;
    if (read.block == 0) return std::nullopt;
    if (!now(read)) return ordered(read, read.thread, thread) ? std::nullopt : std::optional<unsigned>(read.thread);
    if (cell.read_by_other_warps && looked_[thread] <= read.time)
        return read.thread / 32 == thread / 32 ? cell.other_reader : read.thread;
    for (std::uint32_t rest = cell.read_lanes; rest != 0; rest &= rest - 1) {
        const unsigned reader = read.thread / 32U * 32U + static_cast<unsigned>(std::countr_zero(rest));
        if (!ordered(read, reader, thread)) return reader;
    }
    return std::nullopt;
}

/// The readers that a read of `thread` is not ordered after: whoever is ordered after that read is so after the others.
std::uint32_t RaceDetector::lanes_unordered(const Cell& cell, unsigned thread) const {
    std::uint32_t lanes = 0;
    for (std::uint32_t rest = cell.read_lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        if (!ordered(cell.read.stamp, thread / 32 * 32 + lane, thread)) lanes |= 1U << lane;
    }
    return lanes;
}

void RaceDetector::record(Cell& cell, const Access& access) const {
    const Event event{{block_, phase_, time_, static_cast<std::uint16_t>(access.thread)}, access.instruction};
    if (access.kind == AccessKind::read) {
        const bool first = !now(cell.read.stamp);
        const bool same_warp = !first && cell.read.stamp.thread / 32U == access.thread / 32U;
        cell.read_by_other_warps = !first && (cell.read_by_other_warps || !same_warp);
        if (!same_warp) cell.other_reader = cell.read.stamp.thread;
        cell.read_lanes = (same_warp ? lanes_unordered(cell, access.thread) : 0) | 1U << access.thread % 32;
        cell.read = event;
    } else if (access.kind == AccessKind::write) {
        cell.write = event;
        cell.update = {};
        cell.write_was_atomic = false;
    } else if (access.kind == AccessKind::atomic_update) {
        const Stamp& before = cell.write.stamp;
        if (cell.write_was_atomic && !ordered(before, before.thread, access.thread)) cell.update = cell.write;
        cell.write = event;
        cell.write_was_atomic = true;
    }
}

RaceDetector::Cell& RaceDetector::cell(const std::byte* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (last_cells_ == nullptr || at / kPageBytes != last_page_) {
        auto& page = pages_[at / kPageBytes];
        if (!page) page = std::make_unique<Page>();
        last_page_ = at / kPageBytes;
        last_cells_ = page.get();
    }
    return (*last_cells_)[at % kPageBytes];
}

void RaceDetector::forget(std::span<const std::byte> memory) {
    for (const std::byte& byte : memory) cell(&byte) = {};
}

std::optional<Race> RaceDetector::access(const Access& access) {
    std::optional<Race> race;
    for (std::size_t i = 0; i < access.bytes; ++i) {
        Cell& touched = cell(access.address + i);
        if (!race && (race = conflict(touched, access))) race->address = access.address + i;
        record(touched, access);
    }
    if (is_atomic(access.kind)) acquired_ = looked_[access.thread] = ++time_;
    return race;
}

void RaceDetector::write_of_the_same(const Access& access) {
    for (std::size_t i = 0; i < access.bytes; ++i) record(cell(access.address + i), access);
}

}  // namespace espalier::device::host
