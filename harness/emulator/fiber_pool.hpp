#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "harness/emulator/launch.hpp"

namespace espalier::device::host {

/// A fiber on a stack of its own that runs one body after another, so that a stack is set up once and
/// not once per device thread. Tells AddressSanitizer about every switch.
class Worker {
public:
    explicit Worker(std::size_t number);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs `body` on the fiber until it suspends or ends. Returns true if it ended; what it threw is
    /// then in `failure`.
    bool start(ThreadBody body);
    bool resume();

    /// Unwinds a suspended body: its destructors run, and nothing else of it.
    void abandon();

    [[nodiscard]] std::span<const std::byte> stack() const {
        return {static_cast<const std::byte*>(stack_.sp) - stack_.size, stack_.size};
    }

    /// Called by the body: back to whoever started or resumed it.
    void suspend();

    std::exception_ptr failure;

private:
    struct Abandoned {};

    void loop();
    void switch_in();
    void switch_out();

    boost::context::protected_fixedsize_stack allocator_;
    boost::context::stack_context stack_;
    boost::context::fiber inside_;   ///< where the body is suspended, while it is
    boost::context::fiber outside_;  ///< where to return to, while the body runs
    const void* outside_stack_ = nullptr;
    std::size_t outside_stack_bytes_ = 0;
    ThreadBody body_;
    bool busy_ = false;
    bool abandoning_ = false;
    bool quitting_ = false;
};

/// Idle workers, the last one used first: its stack is still in the cache.
class FiberPool {
public:
    std::unique_ptr<Worker> take();
    void give_back(std::unique_ptr<Worker> worker) { idle_.push_back(std::move(worker)); }

private:
    std::vector<std::unique_ptr<Worker>> idle_;
    std::size_t made_ = 0;
};

}  // namespace espalier::device::host
