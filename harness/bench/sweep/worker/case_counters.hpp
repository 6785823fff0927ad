#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/profile/counters.hpp"
#include "harness/bench/sweep/worker/progress_page.hpp"
#include "harness/bench/sweep/worker/protocol.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

struct CaseToCount {
    std::uint32_t candidate = 0;
    double run_seconds = 0;
    std::function<void()> run;
};

/// How many of the first cases are counted together, in `passes` runs each: so many that beginning and ending the
/// passes costs little beside them, and no more, so that one failure costs few and time runs out between them. At
/// least one of one or more.
std::size_t cases_to_count_together(std::span<const CaseToCount> cases, std::size_t passes);

/// Hardware counters of cases, in passes of their own, so that profiling never touches a timing. Lives as long as a
/// worker, because preparing the metrics takes longer than counting a kernel.
class CaseCounters {
public:
    explicit CaseCounters(const DeviceInfo& device) : device_(device) {}

    using Send = std::function<void(const protocol::Event&)>;

    /// Why nothing can be counted here; empty if it can.
    [[nodiscard]] std::string refusal();

    /// How often a run is repeated for all the metrics; 0 where nothing can be counted.
    [[nodiscard]] std::size_t passes();

    /// Sends a `Counted` for every case: until `deadline` with counters, then with the reason why not. Runs that take
    /// long get those of few passes, unless it shall be `every` one. False if the process must not be used any more.
    bool count(std::vector<CaseToCount> cases, bool every, Caches caches, double deadline, ProgressPage& progress,
               const Send& send);

private:
    struct Opened {
        std::unique_ptr<device::CounterSession> session;
        std::string reason;  ///< why there is none
    };
    struct Pass;

    const Opened& opened(std::optional<Opened>& session, std::span<const std::string_view> metrics);
    bool count_all(const Pass& pass);
    bool count_together(const Pass& pass, std::span<const CaseToCount> cases);

    const DeviceInfo& device_;
    std::optional<Opened> full_, basic_;
};

}  // namespace espalier::bench
