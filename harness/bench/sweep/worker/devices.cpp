#include "harness/bench/sweep/worker/devices.hpp"

#include <algorithm>
#include <charconv>

#include "harness/bench/families/family.hpp"
#include "harness/bench/sweep/worker/supervised_worker.hpp"

namespace espalier::bench {
namespace {

/// Asking a worker keeps CUDA out of this process, which lives as long as the sweep.
std::vector<std::string> all_devices() {
    SupervisedWorker first("0");
    try {
        first.open();
    } catch (const NoUsableDevice&) {
        // A sweep of it will say why, if there is one. A worker that ended without a word did so for a reason.
    }
    std::vector<std::string> devices{"cpu"};
    for (int gpu = 0; gpu < first.gpus().value_or(1); ++gpu) devices.push_back(std::to_string(gpu));
    return devices;
}

std::vector<std::string> words(const std::string& list) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= list.size();) {
        const auto end = std::min(list.find(',', at), list.size());
        words.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

std::string canonical(const std::string& name) {
    if (name == "cpu") return name;
    if (const auto ordinal = gpu_ordinal(name)) return std::to_string(*ordinal);
    throw BadProblem("'" + name + "' is no device: write cpu, 0 or cuda:0 for the first GPU, several with commas " +
                     "between them, or all");
}

}  // namespace

std::optional<int> gpu_ordinal(std::string_view name) {
    if (name == "cuda") return 0;
    if (name.starts_with("cuda:")) name.remove_prefix(5);
    int ordinal = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), ordinal);
    const bool whole = error == std::errc{} && end == name.data() + name.size();
    return whole && name.front() != '-' ? std::optional(ordinal) : std::nullopt;
}

std::vector<std::vector<std::string>> devices_named(const std::string& names) {
    std::vector<std::string> gpus, cpu;
    for (const std::string& name : names == "all" ? all_devices() : words(names)) {
        const std::string device = canonical(name);
        auto& turn = device == "cpu" ? cpu : gpus;
        if (std::ranges::count(turn, device)) throw BadProblem("--device names " + device + " twice");
        turn.push_back(device);
    }
    std::vector<std::vector<std::string>> turns;
    for (auto& turn : {gpus, cpu})
        if (!turn.empty()) turns.push_back(turn);
    return turns;
}

}  // namespace espalier::bench
