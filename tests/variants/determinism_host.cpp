#include "harness/emulator/executor.hpp"
#include "tests/variants/determinism.hpp"

namespace espalier {

std::optional<std::string> find_nondeterminism(const std::function<std::vector<std::byte>(std::uint8_t poison)>& run) {
    return device::host::find_nondeterminism([&] { return run(device::host::current_execution().poison); });
}

}  // namespace espalier
