#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/records/case_record.hpp"

namespace espalier::bench {

/// A disturbance's cause: other programs on its processors, other guests of the same host, a processor far below
/// its fastest clock, or a GPU that heat or the power supply slowed down.
enum class DisturbanceCause { programs, guests, slow_processor, slow_gpu };

struct Disturbance {
    DisturbanceCause cause = DisturbanceCause::programs;
    /// The share of the processors that others took, of the fastest clock that was reached, of the GPU's rounds that
    /// were slowed down.
    double share = 0;
};

/// The share of the processors that others may take. Medians stand while fewer than half of the samples are met: half a
/// processor's time meets at most half of the samples of a variant that uses all of them. A large host has more going
/// on in the background: there it is 1% of its processors.
double tolerated_share(double processors);

/// The share that others take of the processors, if that is more than is tolerated.
std::optional<Disturbance> taken_by_others(double foreign_share, double steal_share, double processors);

/// The disturbance of a measurement with these conditions, if any. Records without `processors` were watched for
/// too short a time to trust a share of a few percent: they count as disturbed if a share exceeds a quarter and not all
/// of their disturbed rounds were repeated.
std::optional<Disturbance> disturbance_of(const Conditions& conditions);

/// The same of a case. One without a time was not disturbed: it has nothing that a disturbance could falsify.
/// This is the rule that every reader asks: a disturbed case is marked where it is shown, wins nothing, sets no best
/// time that others are compared with, and is counted (`DisturbedProblems`).
std::optional<Disturbance> disturbance_of(const CaseRecord& record);

/// The cause as CSV and JSON spell it: programs, guests, slow_processor or slow_gpu.
std::string_view to_string(DisturbanceCause cause);

/// The same of a case; empty if nothing disturbed it.
std::string_view disturbance_name(const CaseRecord& record);

/// "other programs used 48% of the processors"
std::string describe(const Disturbance& disturbance);

/// Sums up several disturbances: the most frequent cause, and the median of its shares.
std::optional<Disturbance> typical(const std::vector<Disturbance>& disturbances);

/// "3 of 4 problems were disturbed: other programs used 48% of the processors"
std::string describe(std::size_t disturbed, std::size_t problems, const Disturbance& disturbance);

/// Counts the problems of some cases: a problem is disturbed if any of its timed cases is, because what was timed
/// beside that one met the same load.
class DisturbedProblems {
public:
    void add(const CaseRecord& record) { add(record.family + "|" + record.problem, record); }
    /// The same where the caller has another name for the problem than its record.
    void add(const std::string& problem, const CaseRecord& record);

    /// Problems that have a time.
    [[nodiscard]] std::size_t problems() const { return timed_.size(); }
    [[nodiscard]] std::size_t count() const { return disturbed_.size(); }
    [[nodiscard]] bool contains(const std::string& problem) const { return disturbed_.contains(problem); }
    [[nodiscard]] bool all() const { return count() > 0 && count() == problems(); }
    /// The typical disturbance of the disturbed ones; nothing if there is none.
    [[nodiscard]] std::optional<Disturbance> disturbance() const;
    /// The warning of whoever shows the cases; empty if none is disturbed.
    [[nodiscard]] std::string warning() const;

private:
    std::set<std::string> timed_;
    std::map<std::string, Disturbance> disturbed_;  ///< the first of each problem
};

}  // namespace espalier::bench
