#pragma once

#include <atomic>
#include <cstdint>

namespace espalier::bench {

/// What a worker is busy with.
enum class Phase : std::uint32_t { idle, preparing, baseline, verifying, timing, counting, ceilings };

/// A page that parent and worker share: the worker notes what it is about to run, the parent sees
/// whether it moves and, if it dies, which case it died of. Memory instead of messages, because
/// waking the parent for every sample would disturb what is being timed.
struct ProgressPage {
    static constexpr std::uint32_t kNoCandidate = 0xFFFFFFFF;

    std::atomic<std::uint64_t> beats{0};  ///< rises with every step
    std::atomic<std::uint32_t> candidate{kNoCandidate};
    std::atomic<Phase> phase{Phase::idle};

    void step(Phase what, std::uint32_t which = kNoCandidate) {
        candidate.store(which, std::memory_order_relaxed);
        phase.store(what, std::memory_order_relaxed);
        beats.fetch_add(1, std::memory_order_release);
    }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<Phase>::is_always_lock_free);

/// The page behind an anonymous file (`memfd`), mapped in this process for as long as the object lives.
class SharedPage {
public:
    SharedPage();                        ///< makes one
    explicit SharedPage(int inherited);  ///< maps the one of the parent
    ~SharedPage();
    SharedPage(const SharedPage&) = delete;
    SharedPage& operator=(const SharedPage&) = delete;

    [[nodiscard]] ProgressPage& operator*() const { return *page_; }
    ProgressPage* operator->() const { return page_; }
    [[nodiscard]] int file() const { return file_; }

private:
    void map();

    int file_ = -1;
    ProgressPage* page_ = nullptr;
};

}  // namespace espalier::bench
