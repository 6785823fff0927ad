#pragma once

#include <nlohmann/json.hpp>

#include "harness/bench/emit/trained.hpp"
#include "harness/bench/learn/learn.hpp"

namespace espalier::bench::learn {

/// The training data for other learners: {"device_key", "family", "data_sha256", "features": names,
/// "categories": count per feature (0: a number), "choices": "variant configuration", "problems": keys,
/// "values": problems x features, "log_slowdown": problems x choices as in `Matrix::slowdown`,
/// "measured": problems x choices, "folds": the held-out problems' indices of the folds of `evaluate`}.
nlohmann::ordered_json export_matrix(const DeviceInfo& device, const Trained& trained, const LearnOptions& options);

}  // namespace espalier::bench::learn
