#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/bench/train/ablation.hpp"
#include "harness/bench/train/train.hpp"

namespace espalier::bench::cli {

/// What `espalier train` is asked instead of training: variants by name, "family/variant" or "variant".
struct AblationQuestions {
    std::vector<std::string> without, only;
    int ship = -1;  ///< the largest set to look for; -1: none

    [[nodiscard]] bool any() const { return !without.empty() || !only.empty() || ship >= 0; }
};

/// Throws `Failure` for a name that no family has.
void check_names(const AblationQuestions& questions);

/// Answers for every family that the questions are about: as JSON, or as text for people.
nlohmann::ordered_json ablation_json(const learn::TrainedDevice& trained, const AblationQuestions& questions,
                                     const learn::LearnOptions& options);
std::string ablation_text(const learn::TrainedDevice& trained, const AblationQuestions& questions,
                          const learn::LearnOptions& options);

}  // namespace espalier::bench::cli
