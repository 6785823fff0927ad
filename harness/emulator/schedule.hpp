#pragma once

#include <random>
#include <vector>

#include "harness/emulator/executor.hpp"
#include "harness/emulator/ready_set.hpp"

namespace espalier::device::host {

/// Decides which of the threads that can run runs next.
class Schedule {
public:
    Schedule(ExecutionOrder order, unsigned threads);

    /// Makes every thread ready; a shuffled schedule draws new priorities.
    void all_ready();
    void ready(unsigned thread) { ready_.insert(position_[thread]); }

    static constexpr unsigned kNone = ReadySet::kNone;

    /// Takes the next thread out of the set, or returns kNone.
    unsigned take();

private:
    ExecutionOrder::Kind kind_;
    std::mt19937_64 random_;
    std::vector<unsigned> thread_;    ///< by position
    std::vector<unsigned> position_;  ///< by thread
    ReadySet ready_;
    unsigned cursor_ = 0;
};

}  // namespace espalier::device::host
