#pragma once

#include <atomic>
#include <exception>
#include <utility>

namespace espalier {

/// Carries an exception out of a parallel region of OpenMP. One that left the region by itself would end the program,
/// and so does one that leaves a thread's part of a loop:
///
///     ThreadErrors errors;
///     #pragma omp parallel
///     {
///         std::optional<Scratch> scratch;
///         errors.guard([&] { scratch.emplace(size); });
///     #pragma omp for
///         for (std::int64_t i = 0; i < n; ++i) errors.guard([&] { compute(i, *scratch); });
///     }
///     errors.rethrow();
class ThreadErrors {
public:
    /// Does the work, unless some work of any thread has failed: never after a failure of the same thread.
    template <class Work>
    void guard(Work&& work) noexcept {
        if (failed_.load(std::memory_order_relaxed)) return;
        try {
            std::forward<Work>(work)();
        } catch (...) {
            if (!failed_.exchange(true)) first_ = std::current_exception();
        }
    }

    /// Throws what the first work that failed threw. After the region, whose end the threads wait for.
    void rethrow() const {
        if (first_) std::rethrow_exception(first_);
    }

private:
    std::atomic<bool> failed_{false};
    std::exception_ptr first_;
};

}  // namespace espalier
