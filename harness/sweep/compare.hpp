#pragma once

#include <string>
#include <vector>

#include "harness/records/merge.hpp"
#include "harness/records/results.hpp"

namespace espalier::bench {

enum class Change { same, faster, slower };

/// A case that is `ok` on both sides.
struct ComparedCase {
    std::string key;
    double before_ns = 0, after_ns = 0;
    double ratio = 1, lo = 1, hi = 1;  ///< after / before, and an interval that holds it with at least 95%
    Change change = Change::same;
    bool source_changed = false;  ///< of the variant
};

/// A case that was `ok` before and failed after.
struct BrokenCase {
    std::string key, status, reason;
};

struct Comparison {
    std::vector<ComparedCase> cases;  ///< the worst ratio first
    std::vector<BrokenCase> broken;
    std::size_t mended = 0;                       ///< failed before and `ok` now
    std::size_t only_before = 0, only_after = 0;  ///< measured on one side alone
    double median_ratio = 1, lo = 1, hi = 1;      ///< over the cases, with its 95% interval
    [[nodiscard]] std::size_t slower() const;
    [[nodiscard]] std::size_t faster() const;
    [[nodiscard]] bool regression() const { return !broken.empty() || slower() > 0; }
};

struct CompareOptions {
    double threshold = 0.05;  ///< a case is slower if its whole interval lies above 1 + threshold
    MergeOptions pool;        ///< which differences of drivers, builds and cache modes to accept
};

/// Compares two sweeps of one device, paired by case. Ratios are of medians; the two sides were not measured in
/// the same moments, so their samples are not paired: the interval combines those of both medians at 97.5% each,
/// which together hold with 95%. Peers are left out: they are not ours to regress. Throws `BadData` for different
/// devices, and for different drivers, builds or cache modes unless the options accept them.
Comparison compare(const DeviceResults& before, const DeviceResults& after, const CompareOptions& options);

}  // namespace espalier::bench
