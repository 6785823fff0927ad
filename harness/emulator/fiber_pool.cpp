#include "harness/emulator/fiber_pool.hpp"

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <utility>

#include "harness/emulator/kernel_code.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define ESPALIER_ASAN 1
#else
#define ESPALIER_ASAN 0
#endif

namespace espalier::device::host {
namespace {

/// As much as a debug build under AddressSanitizer needs for a kernel with large local arrays. Pages
/// that are never touched cost nothing.
constexpr std::size_t kStackBytes = 256 * 1024;

/// Stacks start at different distances from their page, else the hot ends of all of them compete for
/// the same few sets of the caches: a third of the time of a barrier of 1024 threads.
constexpr std::size_t kColours = 128;
constexpr std::size_t kColourBytes = 320;

void announce_switch(void** save, const void* stack, std::size_t bytes) {
#if ESPALIER_ASAN
    __sanitizer_start_switch_fiber(save, stack, bytes);
#else
    static_cast<void>(save), static_cast<void>(stack), static_cast<void>(bytes);
#endif
}

void announce_arrival(void* saved, const void** old_stack, std::size_t* old_bytes) {
#if ESPALIER_ASAN
    __sanitizer_finish_switch_fiber(saved, old_stack, old_bytes);
#else
    static_cast<void>(saved), static_cast<void>(old_stack), static_cast<void>(old_bytes);
#endif
}

}  // namespace

Worker::Worker(std::size_t number) : allocator_(kStackBytes), stack_(allocator_.allocate()) {
    namespace context = boost::context;
    // AddressSanitizer may remember the frames of an earlier stack at this address, of a thread that ended.
    ASAN_UNPOISON_MEMORY_REGION(stack().data(), stack().size());
    const std::size_t colour = number % kColours * kColourBytes;
    const context::preallocated place(static_cast<std::byte*>(stack_.sp) - colour, stack_.size - colour, stack_);
    inside_ = context::fiber(std::allocator_arg, place, allocator_, [this](context::fiber&& caller) {
        outside_ = std::move(caller);
        announce_arrival(nullptr, &outside_stack_, &outside_stack_bytes_);
        loop();
        announce_switch(nullptr, outside_stack_, outside_stack_bytes_);
        return std::move(outside_);
    });
}

Worker::~Worker() {
    quitting_ = true;
    switch_in();
}

bool Worker::start(ThreadBody body) {
    body_ = body;
    busy_ = true;
    return resume();
}

bool Worker::resume() {
    switch_in();
    return !busy_;
}

void Worker::abandon() {
    abandoning_ = true;
    switch_in();
    abandoning_ = false;
}

void Worker::suspend() {
    switch_out();
    if (abandoning_) throw Abandoned{};
}

void Worker::loop() {
    while (!quitting_) {
        try {
            const KernelCode kernel;
            body_();
        } catch (const Abandoned&) {
        } catch (...) {
            failure = std::current_exception();
        }
        // Outside of the handlers: the C++ runtime keeps one chain of caught exceptions per OS thread,
        // which a switch inside a handler would tear.
        busy_ = false;
        switch_out();
    }
}

void Worker::switch_in() {
    void* fake_stack = nullptr;
    const auto* const bottom = static_cast<const std::byte*>(stack_.sp) - stack_.size;
    announce_switch(&fake_stack, bottom, stack_.size);
    inside_ = std::move(inside_).resume();
    announce_arrival(fake_stack, nullptr, nullptr);
}

void Worker::switch_out() {
    void* fake_stack = nullptr;
    announce_switch(&fake_stack, outside_stack_, outside_stack_bytes_);
    outside_ = std::move(outside_).resume();
    announce_arrival(fake_stack, &outside_stack_, &outside_stack_bytes_);
}

std::unique_ptr<Worker> FiberPool::take() {
    if (idle_.empty()) return std::make_unique<Worker>(made_++);
    auto worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
}

}  // namespace espalier::device::host
