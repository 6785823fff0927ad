#pragma once

#include <string>
#include <utility>
#include <vector>

namespace espalier {

/// What else the machine did while something was timed: shares of all processors' time, from /proc.
/// `foreign_cpu_share` went to other processes, `steal_cpu_share` to other guests of the same host. Empty
/// where the system does not say.
class ConditionsWatch {
public:
    ConditionsWatch();
    [[nodiscard]] std::vector<std::pair<std::string, double>> read() const;

private:
    struct Ticks {
        double all = 0, busy = 0, steal = 0, own = 0;
    };
    static Ticks now();

    Ticks start_;
};

}  // namespace espalier
