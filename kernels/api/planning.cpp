#include "kernels/api/planning.hpp"

namespace espalier {

std::chrono::nanoseconds budget_of(const PlanOptions& planning) {
    if (planning.budget.count() > 0) return planning.budget;
    return planning.effort == Effort::exhaustive ? std::chrono::nanoseconds::max() : std::chrono::milliseconds(50);
}

}  // namespace espalier
