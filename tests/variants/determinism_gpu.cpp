#include "tests/variants/determinism.hpp"

namespace espalier {

std::optional<std::string> find_nondeterminism(const std::function<std::vector<std::byte>(std::uint8_t poison)>& run) {
    const auto first = run(0xFF);
    for (int repeat = 1; repeat < 6; ++repeat)
        if (run(repeat % 2 == 0 ? 0xFF : 0x5A) != first) return "outputs differ in run " + std::to_string(repeat);
    return std::nullopt;
}

}  // namespace espalier
