#include "harness/sweep/conditions.hpp"

#include <sys/times.h>

#include <algorithm>
#include <fstream>

namespace espalier {

ConditionsWatch::ConditionsWatch() : start_(now()) {}

ConditionsWatch::Ticks ConditionsWatch::now() {
    std::ifstream file("/proc/stat");
    std::string label;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
    if (!(file >> label >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal) || label != "cpu") return {};
    tms own{};
    times(&own);
    const double busy = user + nice + system + irq + soft;
    return {busy + idle + wait + steal, busy, steal, static_cast<double>(own.tms_utime + own.tms_stime)};
}

std::vector<std::pair<std::string, double>> ConditionsWatch::read() const {
    const Ticks stop = now();
    const double all = stop.all - start_.all;
    if (!(all > 0)) return {};
    const double foreign = (stop.busy - start_.busy) - (stop.own - start_.own);
    return {{"foreign_cpu_share", std::clamp(foreign / all, 0.0, 1.0)},
            {"steal_cpu_share", std::clamp((stop.steal - start_.steal) / all, 0.0, 1.0)}};
}

}  // namespace espalier
