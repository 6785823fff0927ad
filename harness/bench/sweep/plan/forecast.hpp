#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/bench/sweep/plan/options.hpp"

namespace espalier::bench {

struct CaseRecord;
struct PlannedProblem;

/// How long problems take that are timed, by what sweeps of this device have recorded in journals and the results
/// folder.
class Forecast {
public:
    /// The folder may be missing.
    Forecast(const std::filesystem::path& results, const std::vector<std::filesystem::path>& journals,
             CounterMode counters);

    /// Seconds for all cases of a problem: as it took before; else as much per case as its family's problem of the
    /// most similar size took; else as a case of any family. `otherwise` where nothing was recorded.
    [[nodiscard]] double seconds(const PlannedProblem& planned, double otherwise) const;

private:
    /// By one problem in one sweep, or summed.
    struct Taken {
        double measuring = 0, counting = 0;
        std::size_t cases = 0, counted_cases = 0;
        double log_size = 0;  ///< of bytes and operations
    };
    using Problems = std::map<std::string, Taken>;

    void add(const CaseRecord& record);
    [[nodiscard]] double estimate(const Taken& similar, std::size_t cases) const;

    bool count_;
    std::map<std::string, Problems> families_;
    Taken all_;
};

}  // namespace espalier::bench
