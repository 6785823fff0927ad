#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/base/failure.hpp"
#include "harness/bench/sweep/schedule/sweep.hpp"

namespace espalier::bench::cli {

// What commands that measure say of it. Text goes to the standard error, but for the keys of cases.

nlohmann::ordered_json to_json(const SweepSummary& summary, bool interrupted);
void print_summary(const SweepSummary& summary);
/// A turn of a dry run: what would be measured and how long it would take, in words and appended to `output`; and the
/// key of every case, unless it is JSON that is printed. `no_device` if one of the devices is left out, as when
/// measuring.
ExitCode estimate(const SweepOptions& options, const std::vector<std::string>& devices, bool json,
                  nlohmann::ordered_json& output);

}  // namespace espalier::bench::cli
