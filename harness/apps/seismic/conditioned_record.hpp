#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "harness/apps/seismic/butterworth.hpp"
#include "harness/apps/seismic/record.hpp"

namespace espalier::bench::seismic {

/// What is done to the traces before they are summed, in this order.
struct Conditioning {
    bool demean = false;                                ///< take off each trace's mean
    bool detrend = false;                               ///< take off each trace's straight line, its mean with it
    std::optional<std::pair<double, double>> bandpass;  ///< corners in Hz; takes off the mean, too
    bool absolute = false;

    [[nodiscard]] bool any() const { return demean || detrend || bandpass || absolute; }
};

/// The same record with its traces conditioned. Means and lines are those of all samples of a trace that lie in no gap,
/// for which the record is read once before the first sample is handed out; gaps stay zeros, before and after
/// filtering. The samples do not depend on how they are read: filtering goes in blocks that begin at fixed samples,
/// with what comes before and after them. Of what grows, absolute values alone can be taken. Throws BadFile for a
/// record that cannot be read, and for a band whose filter remembers too much.
std::unique_ptr<Record> conditioned(std::unique_ptr<Record> record, const Conditioning& what);

}  // namespace espalier::bench::seismic
