#pragma once

#include <vector>

namespace espalier::bench {

/// Times a fixed loop of dependent integer arithmetic, some tens of microseconds of it, on the calling thread: a
/// virtual machine does not tell its clock, but a processor that is slowed down takes longer.
class CalibrationLoop {
public:
    CalibrationLoop();
    void run();

    /// The fastest run of this process over the median of these: 1 is full speed. Nothing is known before the first.
    [[nodiscard]] double share() const;
    [[nodiscard]] bool known() const { return !nanoseconds_.empty(); }

private:
    std::vector<double> nanoseconds_;
};

/// `fastest` over the median of `nanoseconds`, at most 1.
double clock_share(std::vector<double> nanoseconds, double fastest);

}  // namespace espalier::bench
