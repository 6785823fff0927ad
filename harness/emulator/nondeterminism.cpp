#include <algorithm>

#include "harness/emulator/executor.hpp"

namespace espalier::device::host {
namespace {

std::string text(const Execution& of) {
    static constexpr char kDigits[] = "0123456789abcdef";
    return of.order.text() + " order with poison 0x" + kDigits[of.poison >> 4] + kDigits[of.poison & 15];
}

std::string compare(const std::vector<std::byte>& first, const std::vector<std::byte>& other) {
    if (first.size() != other.size())
        return std::to_string(first.size()) + " against " + std::to_string(other.size()) + " bytes of output";
    const auto differing = std::mismatch(first.begin(), first.end(), other.begin()).first;
    if (differing == first.end()) return {};
    return "outputs differ, first at byte " + std::to_string(differing - first.begin());
}

}  // namespace

std::vector<Execution> contrasting_executions() {
    using Kind = ExecutionOrder::Kind;
    return {{{Kind::forward}, 0xFF},     {{Kind::forward}, 0x5A},     {{Kind::reverse}, 0xFF},
            {{Kind::interleaved}, 0x5A}, {{Kind::shuffled, 1}, 0xFF}, {{Kind::shuffled, 2}, 0x5A}};
}

std::optional<std::string> find_nondeterminism(const std::function<std::vector<std::byte>()>& run) {
    const auto executions = contrasting_executions();
    std::vector<std::byte> first;
    for (const Execution& each : executions) {
        const ScopedExecution scope(each.order, each.poison);
        const auto outputs = run();
        if (&each == &executions.front()) {
            first = outputs;
            continue;
        }
        if (const std::string difference = compare(first, outputs); !difference.empty())
            return difference + ": " + text(executions.front()) + " against " + text(each);
    }
    return std::nullopt;
}

}  // namespace espalier::device::host
