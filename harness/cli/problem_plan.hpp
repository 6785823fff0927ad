#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "espalier/device.hpp"
#include "espalier/error.hpp"
#include "espalier/plan.hpp"

namespace espalier::bench::cli {

/// Says why no plan can be made for a problem of a family, and so nothing be learned; nothing if one can.
std::optional<std::string> without_plan(std::string_view family, std::string_view problem);

/// Makes the plan that a program would make for the problem of this key, and so learns by an effort that measures: with
/// arrays like its own, and for nearest neighbours with points of the problem's kind of data. Throws BadProblem for a
/// key that is none.
Result<void> make_plan(std::string_view family, std::string_view problem, const Device& device, const Options& options,
                       const PlanOptions& planning);

}  // namespace espalier::bench::cli
