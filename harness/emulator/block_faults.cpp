// The messages of a block about its threads when they went wrong.

#include <map>

#include "harness/emulator/block.hpp"
#include "harness/emulator/errors.hpp"
#include "harness/emulator/format.hpp"

namespace espalier::device::host {

ExecutionFault Block::damaged(const std::string& what) const {
    return ExecutionFault(what, {kernel_name(launch_), index_, std::nullopt, launch_.location},
                          static_cast<int>(CudaError::illegal_address));
}

ExecutionFault Block::fault(const std::string& what, Site site, int code) const {
    return ExecutionFault(what, {kernel_name(launch_), index_, threads_[running_].index, site}, code);
}

std::string Block::name(const Thread& thread) const {
    switch (thread.state) {
        case State::returned: return "returned";
        case State::at_barrier: return std::string("at ") + thread.operation + " in " + text(thread.site);
        case State::in_collective:
            return std::string("in ") + thread.operation + " with mask " + hexadecimal(thread.mask) + " in " +
                   text(thread.site);
        case State::runnable: break;
    }
    return "runnable";
}

ExecutionFault Block::deadlock() const {
    struct Group {
        unsigned threads = 0;
        uint3 first{};
    };
    std::map<std::string, Group> groups;
    const Thread* waiting = nullptr;
    for (const Thread& thread : threads_) {
        Group& group = groups[name(thread)];
        if (group.threads++ == 0) group.first = thread.index;
        if (waiting == nullptr && thread.state != State::returned) waiting = &thread;
    }
    std::string what = "threads wait for each other forever: ";
    for (bool first = true; const auto& [state, group] : groups) {
        what += std::string(first ? "" : "; ") + std::to_string(group.threads) + " " + state +
                " (first: " + text(group.first) + ")";
        first = false;
    }
    return ExecutionFault(what, {kernel_name(launch_), index_, waiting->index, waiting->site},
                          static_cast<int>(CudaError::launch_failure));
}

}  // namespace espalier::device::host
