#include "harness/emulator/access_checker.hpp"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "harness/emulator/device_heap.hpp"
#include "harness/emulator/format.hpp"
#include "harness/emulator/kernel_side.hpp"
#include "harness/emulator/symbols.hpp"

namespace espalier::device::host {
namespace {

bool within(const std::byte* address, std::size_t bytes, Bytes memory) {
    return address >= memory.data() && address + bytes <= memory.data() + memory.size();
}

bool near(const std::byte* address, Bytes memory) {
    return address >= memory.data() - GuardedMemory::kBand &&
           address < memory.data() + memory.size() + GuardedMemory::kBand;
}

/// Code and static data of the program: where constant memory and tables are.
const std::vector<Bytes>& program_segments() {
    static const std::vector<Bytes> segments = [] {
        std::vector<Bytes> found;
        dl_iterate_phdr(
            [](dl_phdr_info* module, std::size_t, void* data) {
                for (int i = 0; i < module->dlpi_phnum; ++i)
                    if (module->dlpi_phdr[i].p_type == PT_LOAD)
                        static_cast<std::vector<Bytes>*>(data)->emplace_back(
                            reinterpret_cast<const std::byte*>(module->dlpi_addr + module->dlpi_phdr[i].p_vaddr),
                            module->dlpi_phdr[i].p_memsz);
                return 0;
            },
            &found);
        return found;
    }();
    return segments;
}

bool is_static(const Access& access) {
    const Bytes indices[] = {std::as_bytes(std::span(&threadIdx, 1)), std::as_bytes(std::span(&blockIdx, 1)),
                             std::as_bytes(std::span(&blockDim, 1)), std::as_bytes(std::span(&gridDim, 1))};
    const auto holds = [&](Bytes memory) { return within(access.address, access.bytes, memory); };
    return std::any_of(std::begin(indices), std::end(indices), holds) ||
           std::any_of(program_segments().begin(), program_segments().end(), holds);
}

bool reads(AccessKind kind) { return kind == AccessKind::read || kind == AccessKind::atomic_read; }

}  // namespace

AccessChecker::AccessChecker(const BlockMemory& shared, uint3 block)
    : shared_(shared),
      block_(block),
      device_(DeviceHeap::instance().allocations()),
      races_(block.x * block.y * block.z) {}

void AccessChecker::begin_block() {
    races_.begin_block();
    // Shared memory of different blocks has one address here and nothing else in common.
    for (const Bytes memory : shared_.arrays()) races_.forget(memory);
}

std::optional<AccessChecker::Place> AccessChecker::find(const std::byte* address) const {
    if (const auto array = shared_.find(address)) return Place{array->name, array->memory};
    auto after = std::upper_bound(device_.begin(), device_.end(), address + GuardedMemory::kBand,
                                  [](const std::byte* a, Bytes memory) { return a < memory.data(); });
    if (after == device_.begin() || !near(address, *--after)) return std::nullopt;
    return Place{"device memory", *after};
}

std::optional<std::string> AccessChecker::check(const Access& access, std::initializer_list<Bytes> own) {
    for (const Bytes memory : own)
        if (within(access.address, access.bytes, memory)) return std::nullopt;
    const auto place = find(access.address);
    if (place && within(access.address, access.bytes, place->memory)) {
        if (access.kind != AccessKind::write || access.bytes > before_.size()) return describe(access, *place);
        write_ = access;
        written_ = *place;
        std::memcpy(before_.data(), access.address, access.bytes);
        return std::nullopt;
    }
    if (!place && is_static(access)) return std::nullopt;
    const std::string done = (reads(access.kind) ? " was read" : " was written"), here = line_at(access.instruction);
    if (!place) return "memory that is neither device nor shared memory" + done + " in " + here;
    return std::string(place->name) + " of " + std::to_string(place->memory.size()) + " bytes" + done + " at byte " +
           std::to_string(access.address - place->memory.data()) + " in " + here;
}

std::optional<std::string> AccessChecker::settle() {
    if (!write_) return std::nullopt;
    const Access access = *std::exchange(write_, std::nullopt);
    if (std::memcmp(before_.data(), access.address, access.bytes) != 0) return describe(access, written_);
    races_.write_of_the_same(access);
    return std::nullopt;
}

std::optional<std::string> AccessChecker::describe(const Access& access, const Place& place) {
    const auto race = races_.access(access);
    return race ? std::optional(describe(*race, access, place)) : std::nullopt;
}

std::string AccessChecker::thread_name(unsigned thread) const {
    return text(uint3{thread % block_.x, thread / block_.x % block_.y, thread / block_.x / block_.y});
}

std::string AccessChecker::describe(const Race& race, const Access& access, const Place& place) const {
    return "race on byte " + std::to_string(race.address - place.memory.data()) + " of " + std::string(place.name) +
           " of " + std::to_string(place.memory.size()) + " bytes: thread " + thread_name(access.thread) +
           (reads(access.kind) ? " reads it in " : " writes it in ") + line_at(access.instruction) + ", thread " +
           thread_name(race.thread) + (race.in_another_block ? " of another block" : "") +
           (race.wrote ? " wrote it in " : " read it in ") + line_at(race.instruction) + ", and nothing orders the two";
}

}  // namespace espalier::device::host
