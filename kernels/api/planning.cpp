#include "kernels/api/planning.hpp"

namespace espalier {

std::string date_of_wisdom() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
}

std::chrono::nanoseconds budget_of(const PlanOptions& planning) {
    if (planning.budget.count() > 0) return planning.budget;
    return planning.effort == Effort::exhaustive ? std::chrono::nanoseconds::max() : std::chrono::milliseconds(50);
}

}  // namespace espalier
