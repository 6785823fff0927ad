#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/bench/sweep/plan/caches.hpp"

namespace espalier::bench::tune {

struct TuneOptions {
    std::string device = "0";
    std::string compiler = "auto";  ///< auto, nvrtc or nvcc; the host executor has the host's own
    double seconds = 300;           ///< for everything; a batch that has begun is finished
    std::size_t exhaustive = 1000;  ///< all configurations of a problem are measured if there are no more
    double noise = 0.005;           ///< of the final times: relative half-width of the interval of a ratio to the best
    double timeout_seconds = 60;    ///< without a step
    std::size_t jobs = 0;           ///< compilers at a time; 0: as many as there are processors, at most 16
    Caches caches = Caches::cold;
    std::uint64_t seed = 1;
    bool counters = false;  ///< of the best configurations
    bool quiet = false;
};

}  // namespace espalier::bench::tune
