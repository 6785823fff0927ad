#include "espalier/plan.hpp"

#include "kernels/api/planned.hpp"

namespace espalier::inline v0 {

const Device& Plan::device() const { return state_->of_device; }
std::size_t Plan::workspace_bytes() const { return state_->workspace_bytes; }
bool Plan::deterministic() const { return state_->deterministic; }

Result<Explanation> Plan::explain() const {
    return guarded([&]() -> Result<Explanation> { return state_->explain(); });
}

}  // namespace espalier::inline v0
