#include "harness/bench/records/case_record.hpp"

#include <algorithm>

namespace espalier::bench {
namespace {

constexpr std::array<std::pair<Status, std::string_view>, 8> kNames{{{Status::ok, "ok"},
                                                                     {Status::unsupported, "unsupported"},
                                                                     {Status::wrong, "wrong"},
                                                                     {Status::timeout, "timeout"},
                                                                     {Status::crashed, "crashed"},
                                                                     {Status::out_of_memory, "out_of_memory"},
                                                                     {Status::too_slow, "too_slow"},
                                                                     {Status::not_measured, "not_measured"}}};

}  // namespace

std::string_view to_string(Status status) {
    for (const auto& [value, name] : kNames)
        if (value == status) return name;
    return "unknown";
}

std::optional<Status> parse_status(std::string_view text) {
    for (const auto& [value, name] : kNames)
        if (name == text) return value;
    return std::nullopt;
}

std::string timed_build(const Provenance& provenance, DeviceKind kind) {
    const std::string& build = provenance.build;
    if (kind != DeviceKind::cuda) return build;
    // "espalier VERSION, TYPE, COMPILER FLAGS, nvcc VERSION FLAGS"
    const auto compiler = build.find(", ", build.find(", ") + 1), nvcc = build.rfind(", nvcc ");
    if (nvcc == std::string::npos || nvcc < compiler) return build;
    return build.substr(0, compiler) + build.substr(nvcc);
}

std::string_view timed_driver(const Provenance& provenance) {
    // "Linux 6.1.0-18-amd64"
    const std::string_view driver = provenance.driver;
    return driver.starts_with("Linux ") ? driver.substr(0, driver.find('-')) : driver;
}

std::optional<std::string_view> axis_of(std::string_view problem, std::string_view name) {
    while (!problem.empty()) {
        const auto item = problem.substr(0, problem.find(';'));
        const auto equals = item.find('=');
        if (equals != std::string_view::npos && item.substr(0, equals) == name) return item.substr(equals + 1);
        problem.remove_prefix(std::min(problem.size(), item.size() + 1));
    }
    return std::nullopt;
}

std::optional<std::string_view> CaseRecord::axis(std::string_view name) const { return axis_of(problem, name); }

}  // namespace espalier::bench
