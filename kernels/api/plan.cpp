#include "espalier/plan.hpp"

#include "kernels/api/planned.hpp"

namespace espalier::inline v1 {

const Device& Plan::device() const noexcept {
    static const Device cpu = Device::cpu();
    return state_ ? state_->of_device : cpu;
}
std::size_t Plan::workspace_bytes() const noexcept { return state_ ? state_->workspace_bytes : 0; }
bool Plan::deterministic() const noexcept { return !state_ || state_->deterministic; }

Result<Explanation> Plan::explain() const {
    return guarded([&]() -> Result<Explanation> { return planned_state(state_.get()).explain(); });
}

}  // namespace espalier::inline v1
