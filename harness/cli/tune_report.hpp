#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "harness/bench/tune/choose/pick.hpp"
#include "harness/bench/tune/choose/tuning.hpp"

namespace espalier::bench::cli {

/// For each problem how many configurations are valid and which is best, as JSON.
nlohmann::ordered_json tune_summary(const tune::Description& description, const tune::Tuning& tuning,
                                    const tune::Bench& bench);

/// The same in words, with the next best ones and the reasons of invalid ones.
void print_tuning(const tune::Description& description, const tune::Tuning& tuning, const tune::Bench& bench,
                  const std::optional<tune::Pick>& pick);

}  // namespace espalier::bench::cli
