#pragma once

#include <chrono>

namespace espalier::bench {

/// Seconds of the clock that only goes forward.
inline double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Adds the time of its life to a sum.
class Stopwatch {
public:
    explicit Stopwatch(double& sum) : sum_(sum), start_(steady_seconds()) {}
    ~Stopwatch() { sum_ += steady_seconds() - start_; }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    double& sum_;
    double start_;
};

}  // namespace espalier::bench
