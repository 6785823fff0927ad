#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/sweep/sweep.hpp"

namespace espalier::bench::cli {

// What commands that measure say of it. Text goes to the standard error, but for the keys of cases.

nlohmann::ordered_json to_json(const SweepSummary& summary, bool interrupted);
nlohmann::ordered_json to_json(const DryRun& dry);
void print_summary(const SweepSummary& summary);
/// What would be measured and how long it would take; and the key of every case.
void print_forecast(const DryRun& dry, bool keys);
void tell_left_out(const std::vector<std::string>& left_out);

}  // namespace espalier::bench::cli
