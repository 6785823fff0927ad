#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/bench/records/case_record.hpp"

namespace espalier::bench::report {

/// The fastest variant that was right on a problem, and what came next. Disturbed cases win nothing and come next to
/// nothing: where there are no others, nobody won, and `best` is only the fastest of them.
struct Winner {
    const CaseRecord* best = nullptr;
    const CaseRecord* next = nullptr;  ///< the fastest of the other variants; null if there is none
    std::size_t timed = 0;             ///< cases of the problem that have a time
    std::size_t disturbed = 0;         ///< of these

    /// Whether `best` won: it was not disturbed.
    [[nodiscard]] bool wins() const { return disturbed < timed; }

    /// How many times as long the next variant takes; 0 if there is none.
    [[nodiscard]] double margin() const { return next ? next->time_ns / best->time_ns : 0; }
    /// The share of the roofline that the best reaches; 0 if that is unknown.
    [[nodiscard]] double roofline_share() const { return best->floor_ns / best->time_ns; }
};

/// One per problem that has a time, by family and the problems' features. Of records of one case the last counts. They
/// must outlive the winners.
std::vector<Winner> find_winners(std::span<const CaseRecord* const> cases);

/// "+-0.4%", half the interval as a share of the time; where that would be no interval "too few samples", or the bare
/// range.
std::string interval_text(const CaseRecord& record);

/// A table of at most so many lines, the family above its problems. Where nobody won, the values are marked ~.
std::string winners_table(std::span<const Winner> winners, std::size_t most_lines);

}  // namespace espalier::bench::report
