#include "harness/bench/peers/python/bridge.hpp"

#include <array>

#include "kernels/device/runtime.hpp"

namespace espalier::bench::python {
namespace {

Callback connected = nullptr;

/// The error that Python reports, or nothing if it did the task.
std::string ask(const char* task, const char* peer, const std::string& problem, const void* const* arrays) {
    std::array<char, 512> message{};
    if (connected(task, peer, problem.c_str(), arrays, message.data(), message.size()) == 0) return {};
    return message.front() ? message.data() : "no reason was given";
}

}  // namespace

void call_back(Callback callback) { connected = callback; }

Support supports(const char* peer, const std::string& problem) {
    if (!connected) return Support::no("needs Python: scripts/peers --python starts it");
    std::string reason = ask("supports", peer, problem, nullptr);
    return reason.empty() ? Support::yes() : Support::no(std::move(reason));
}

void run(const char* peer, const std::string& problem, std::span<const void* const> arrays) {
    const std::string reason = ask("run", peer, problem, arrays.data());
    if (!reason.empty()) throw device::DeviceError(std::string(peer) + ": " + reason, 1);
}

}  // namespace espalier::bench::python
