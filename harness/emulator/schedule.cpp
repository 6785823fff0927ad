#include "harness/emulator/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace espalier::device::host {

Schedule::Schedule(ExecutionOrder order, unsigned threads)
    : kind_(order.kind), random_(order.seed), thread_(threads), position_(threads) {
    std::iota(thread_.begin(), thread_.end(), 0U);
    if (kind_ == ExecutionOrder::Kind::reverse) std::reverse(thread_.begin(), thread_.end());
    if (kind_ == ExecutionOrder::Kind::interleaved)
        std::stable_sort(thread_.begin(), thread_.end(), [](unsigned a, unsigned b) { return a % 32 < b % 32; });
    for (unsigned p = 0; p < threads; ++p) position_[thread_[p]] = p;
}

void Schedule::all_ready() {
    if (kind_ == ExecutionOrder::Kind::shuffled) {
        std::shuffle(thread_.begin(), thread_.end(), random_);
        for (unsigned p = 0; p < thread_.size(); ++p) position_[thread_[p]] = p;
    }
    for (unsigned p = 0; p < thread_.size(); ++p) ready_.insert(p);
    cursor_ = 0;
}

unsigned Schedule::take() {
    // Priorities restart at the first position, so that one warp runs ahead of the others as far as its
    // synchronisation allows; interleaved goes round, so that none does.
    const bool round = kind_ == ExecutionOrder::Kind::interleaved;
    unsigned position = ready_.next(round ? cursor_ : 0);
    if (position == kNone && round) position = ready_.next(0);
    if (position == kNone) return kNone;
    cursor_ = position + 1;
    ready_.erase(position);
    return thread_[position];
}

}  // namespace espalier::device::host
