#include "harness/sweep/devices.hpp"

#include <algorithm>

#include "harness/families/family.hpp"
#include "harness/sweep/worker_pool.hpp"

namespace espalier::bench {
namespace {

/// Asking a worker keeps CUDA out of this process, which lives as long as the sweep.
std::vector<std::string> all_devices() {
    WorkerPool first("0");
    try {
        first.worker();
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

}  // namespace

std::vector<std::vector<std::string>> devices_named(const std::string& names) {
    std::vector<std::string> gpus, cpu;
    for (const std::string& device : names == "all" ? all_devices() : words(names)) {
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
