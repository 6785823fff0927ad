#include "harness/emulator/block.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/emulator/errors.hpp"
#include "harness/emulator/format.hpp"
#include "harness/emulator/limits.hpp"

namespace espalier::device::host {
namespace {

constexpr unsigned kPollsBeforeYield = 1024;

/// So many atomics of a block without any of its threads getting past a barrier or to its end are a
/// spin wait for something that never comes. A fraction of a second.
constexpr std::uint64_t kPollsBeforeFault = std::uint64_t{1} << 25;

unsigned volume(uint3 size) { return size.x * size.y * size.z; }

bool same_place(const Site& a, const Site& b) {
    return a.line() == b.line() && a.column() == b.column() &&
           (a.file_name() == b.file_name() || std::string_view(a.file_name()) == b.file_name());
}

}  // namespace

Block::Block(const Launch& launch, ThreadBody body, const Execution& execution, FiberPool& pool, bool watched)
    : launch_(launch),
      body_(body),
      execution_(execution),
      pool_(pool),
      memory_(launch.shared_bytes, execution.poison),
      schedule_(execution.order, volume(launch.block)),
      threads_(volume(launch.block)),
      warps_((threads_.size() + 31) / 32),
      met_(warps_.size()) {
    if (watched) checker_.emplace(memory_, launch.block);
    unsigned i = 0;
    for (unsigned z = 0; z < launch.block.z; ++z)
        for (unsigned y = 0; y < launch.block.y; ++y)
            for (unsigned x = 0; x < launch.block.x; ++x) threads_[i++].index = {x, y, z};
}

void Block::begin(uint3 index) {
    index_ = index;
    blockIdx = index;
    memory_.poison();
    for (Thread& thread : threads_) thread.state = State::runnable;
    std::ranges::fill(met_, 0U);
    at_barrier_ = returned_ = 0;
    idle_polls_ = 0;
    if (checker_) checker_->begin_block();
    schedule_.all_ready();
}

void Block::run(uint3 index) {
    begin(index);
    try {
        while (returned_ < threads_.size()) {
            const unsigned next = schedule_.take();
            if (next != Schedule::kNone)
                step(next);
            else if (!release_yielded())
                throw deadlock();
        }
        if (const auto damage = memory_.damage()) throw damaged(*damage);
    } catch (...) {
        abandon();
        throw;
    }
}

void Block::step(unsigned next) {
    Thread& thread = threads_[next];
    running_ = next;
    polls_ = 0;
    threadIdx = thread.index;
    bool ended = false;
    if (thread.worker) {
        ended = thread.worker->resume();
    } else {
        thread.worker = pool_.take();
        ended = thread.worker->start(body_);
    }
    settle();
    if (ended) retire(thread);
    if (fault_) throw *fault_;
}

void Block::retire(Thread& thread) {
    thread.state = State::returned;
    ++returned_;
    idle_polls_ = 0;
    const std::exception_ptr failure = std::exchange(thread.worker->failure, nullptr);
    pool_.give_back(std::move(thread.worker));
    if (failure) std::rethrow_exception(failure);
}

void Block::abandon() {
    for (unsigned i = 0; i < threads_.size(); ++i) {
        if (!threads_[i].worker) continue;
        running_ = i;
        threads_[i].worker->abandon();
        threads_[i].worker->failure = nullptr;
        pool_.give_back(std::move(threads_[i].worker));
    }
}

void Block::wait() { threads_[running_].worker->suspend(); }

int Block::barrier(const char* name, bool predicate, Site site) {
    settle();
    Thread& self = threads_[running_];
    self.state = State::at_barrier;
    self.predicate = predicate;
    self.operation = name;
    self.site = site;
    if (++at_barrier_ == threads_.size()) finish_barrier();
    wait();
    return self.count;
}

void Block::finish_barrier() {
    const Thread& first = threads_.front();
    int count = 0;
    for (const Thread& thread : threads_) {
        count += thread.predicate ? 1 : 0;
        if (same_place(thread.site, first.site)) continue;
        throw fault("the block met at different barriers: thread " + text(first.index) + " at " + first.operation +
                        " in " + text(first.site) + ", thread " + text(thread.index) + " at " + thread.operation +
                        " in " + text(thread.site),
                    thread.site, static_cast<int>(CudaError::launch_failure));
    }
    for (Thread& thread : threads_) {
        thread.state = State::runnable;
        thread.count = count;
    }
    at_barrier_ = 0;
    idle_polls_ = 0;
    if (checker_) checker_->races().barrier();
    schedule_.all_ready();
}

std::uint64_t Block::collective(const WarpOperation& operation, unsigned mask, std::uint64_t value, unsigned argument,
                                Site site) {
    const unsigned warp = running_ / 32;
    const int code = static_cast<int>(CudaError::launch_failure);
    if ((mask >> lane() & 1U) == 0)
        throw fault(std::string(operation.name) + ": mask " + hexadecimal(mask) +
                        " does not contain the caller, lane " + std::to_string(lane()),
                    site, code);
    settle();
    Thread& self = threads_[running_];
    self.state = State::in_collective;
    self.operation = operation.name;
    self.collective = &operation;
    self.mask = mask;
    self.site = site;
    Lane& mine = warps_[warp][lane()];
    mine.value = value;
    mine.argument = argument;

    // Asked of all lanes by each of them: most often some are yet to come, and one look tells.
    unsigned& met = met_[warp];
    met |= 1U << lane();
    bool complete = (met & mask) == mask;
    for (unsigned l = 0; l < 32 && complete; ++l) {
        if ((mask >> l & 1U) == 0) continue;
        const unsigned other = warp * 32 + l;
        complete =
            other < threads_.size() && threads_[other].state == State::in_collective && threads_[other].mask == mask;
        if (complete && threads_[other].collective != &operation)
            throw fault("lanes of mask " + hexadecimal(mask) + " met in different operations: " + operation.name +
                            " and, lane " + std::to_string(l) + ", " + threads_[other].operation + " in " +
                            text(threads_[other].site),
                        site, code);
    }
    if (complete) finish_collective(warp, operation, mask);
    wait();
    return mine.result;
}

void Block::finish_collective(unsigned warp, const WarpOperation& operation, unsigned mask) {
    operation.resolve(warps_[warp], mask);
    if (checker_ && operation.orders_memory) checker_->races().warp_barrier(warp, mask);
    met_[warp] &= ~mask;
    for (unsigned l = 0; l < 32; ++l) {
        if ((mask >> l & 1U) == 0) continue;
        threads_[warp * 32 + l].state = State::runnable;
        schedule_.ready(warp * 32 + l);
    }
    idle_polls_ = 0;
}

void Block::memory_access(const void* address, std::size_t bytes, AccessKind kind, std::uintptr_t instruction) {
    settle();
    if (fault_ || !checker_) return;
    const Access access{static_cast<const std::byte*>(address), bytes, kind, running_, instruction};
    const Bytes arguments{static_cast<const std::byte*>(body_.bound), body_.bound_bytes};
    fail_if(checker_->check(access, {threads_[running_].worker->stack(), arguments}));
}

void Block::fail_if(const std::optional<std::string>& wrong) {
    // Not thrown here: the compiler takes it for granted that reporting an access throws nothing.
    if (wrong) fault_ = fault(*wrong, launch_.location, static_cast<int>(CudaError::illegal_address));
}

void Block::settle() {
    if (checker_ && !fault_) fail_if(checker_->settle());
}

void Block::atomic_access(const void* address, std::size_t bytes, std::uintptr_t instruction) {
    memory_access(address, bytes, AccessKind::atomic_update, instruction);
    polled();
}

void Block::fence() {
    settle();
    if (checker_) checker_->races().fence(running_);
    polled();
}

void Block::polled() {
    if (++polls_ == kPollsBeforeYield) yield();
}

void Block::yield() {
    settle();
    idle_polls_ += polls_ + 1;
    if (idle_polls_ > kPollsBeforeFault)
        throw fault("no thread got anywhere for " + std::to_string(kPollsBeforeFault) +
                        " atomic operations: a wait for what never comes (only one block runs at a time)",
                    launch_.location, static_cast<int>(CudaError::launch_failure));
    yielded_.push_back(running_);
    wait();
}

/// A thread that yielded goes on after every other has had its turn.
bool Block::release_yielded() {
    for (const unsigned thread : yielded_) schedule_.ready(thread);
    return !std::exchange(yielded_, {}).empty();
}

void* Block::static_shared(const SharedArray& array) {
    void* const data = memory_.array(array);
    if (memory_.static_bytes() <= kStaticShared && memory_.static_bytes() + memory_.dynamic_bytes() <= kShared)
        return data;
    const std::string bytes = std::to_string(memory_.static_bytes()) + " bytes of static";
    throw fault(
        memory_.static_bytes() > kStaticShared
            ? bytes + " shared memory: the limit is 48 KiB, beyond it use dynamic shared memory"
            : bytes + " and " + std::to_string(memory_.dynamic_bytes()) + " of dynamic shared memory exceed 227 KiB",
        launch_.location, static_cast<int>(CudaError::invalid_value));
}

}  // namespace espalier::device::host
