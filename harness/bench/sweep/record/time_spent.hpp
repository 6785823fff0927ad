#pragma once

namespace espalier::bench {

/// Where the time of a measurement, of a worker or of a sweep went, in seconds.
struct TimeSpent {
    double timing = 0, verification = 0, counting = 0, ceilings = 0;
    double lost = 0;     ///< in attempts that ended with the worker
    double waiting = 0;  ///< for other programs to leave the processors alone

    TimeSpent& operator+=(const TimeSpent& other) {
        timing += other.timing;
        verification += other.verification;
        counting += other.counting;
        ceilings += other.ceilings;
        lost += other.lost;
        waiting += other.waiting;
        return *this;
    }

    [[nodiscard]] double total() const { return timing + verification + counting + ceilings + lost + waiting; }
};

}  // namespace espalier::bench
