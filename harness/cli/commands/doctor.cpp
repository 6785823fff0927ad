// `espalier doctor`: what there is to measure on, and what is missing.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "espalier/selectors.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "harness/bench/sweep/worker/examine.hpp"
#include "harness/bench/sweep/worker/processors.hpp"
#include "harness/bench/sweep/worker/provenance.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/print_json.hpp"
#include "kernels/core/isa.hpp"
#include "kernels/device/cpu_limits.hpp"
#include "kernels/device/gpu_key.hpp"

namespace espalier::bench::cli {
namespace {

struct Arguments {
    std::string device = "all", results = "results";
    bool json = false, no_ceilings = false;
};

std::string gib(double bytes) { return fmt::format("{:.1f} GiB", bytes / (1 << 30)); }
std::string giga(double rate) { return rate > 0 ? fmt::format("{:.0f}", rate / 1e9) : "?"; }

/// Free bytes of the disk that results go to; 0 if unknown.
std::uintmax_t disk_free(const std::string& folder) {
    std::error_code error;
    std::filesystem::path path = std::filesystem::absolute(folder);
    while (!std::filesystem::exists(path, error) && path.has_relative_path()) path = path.parent_path();
    const auto space = std::filesystem::space(path, error);
    return error ? 0 : space.available;
}

/// The CPUs of this process and what confines it to them. Workers, which are asked everything else, inherit both.
struct Confinement {
    std::vector<int> cpus = device::process_cpus();
    device::CpuQuota quota = device::cpu_quota();
    device::CpuTopology topology = device::cpu_topology(cpus);

    [[nodiscard]] bool by_mask() const { return static_cast<int>(cpus.size()) < topology.online; }
    [[nodiscard]] bool by_quota() const {
        return quota.cpus > 0 && device::usable_threads(cpus.size(), quota) < static_cast<int>(cpus.size());
    }
};

nlohmann::ordered_json to_json(const Confinement& here) {
    nlohmann::ordered_json json{{"cpus", device::cpu_list(here.cpus)},
                                {"online", here.topology.online},
                                {"limited_by_mask", here.by_mask()},
                                {"cores", here.topology.cores},
                                {"numa_nodes", here.topology.nodes},
                                {"all_numa_nodes", here.topology.all_nodes},
                                {"quota_cpus", nullptr},
                                {"quota_file", here.quota.file},
                                {"limited_by_quota", here.by_quota()}};
    if (here.quota.cpus > 0) json["quota_cpus"] = here.quota.cpus;
    return json;
}

void print_text(const Confinement& here) {
    const device::CpuTopology& topology = here.topology;
    to_stdout("  CPUs {} of {}", device::cpu_list(here.cpus), topology.online);
    if (topology.cores > 0) to_stdout(" on {}", counted(static_cast<std::size_t>(topology.cores), "core"));
    if (topology.cores > 0 && topology.cores < static_cast<int>(here.cpus.size()))
        to_stdout(", of which some are siblings (SMT)");
    if (!topology.nodes.empty())
        to_stdout("; NUMA node {} of {}", device::cpu_list(topology.nodes), topology.all_nodes);
    to_stdout("\n");
    if (here.by_mask())
        to_stdout("  limited by the affinity mask of this process: to {} of {} CPUs\n", here.cpus.size(),
                  topology.online);
    if (here.quota.cpus > 0)
        to_stdout("  {} by the quota of its control group: the time of {:.4g} CPUs ({})\n",
                  here.by_quota() ? "limited" : "not limited", here.quota.cpus, printable(here.quota.file));
}

/// What is told of any device that can be used.
nlohmann::ordered_json facts_of(const Examination& found) {
    const DeviceInfo& device = found.device;
    return {{"device", found.name},
            {"usable", true},
            {"key", device.key},
            {"name", device.name},
            {"driver", found.driver},
            {"runtime", found.runtime},
            {"memory_bytes", device.memory_bytes},
            {"free_bytes", found.free.device},
            {"threads", device.threads},
            {"avx2", device.avx2 && device.fma},
            {"avx512", device.avx512},
            {"avx512_vnni", device.avx512_vnni},
            {"amx_bf16", device.amx_bf16},
            {"neon", device.neon},
            {"sm", device.sm},
            {"sm_count", device.sm_count},
            {"bytes_per_second", device.bytes_per_second},
            {"cached_bytes_per_second", device.cached_bytes_per_second},
            {"fp32_per_second", device.fp32_per_second},
            {"int_per_second", device.int_per_second},
            {"copies",
             {{"pageable_to_device", found.copies.pageable_to_device},
              {"pageable_to_host", found.copies.pageable_to_host},
              {"pinned_to_device", found.copies.pinned_to_device},
              {"pinned_to_host", found.copies.pinned_to_host}}},
            {"counters", found.counters_refusal.empty()},
            {"counters_reason", found.counters_refusal}};
}

nlohmann::ordered_json to_json(const Examination& found) {
    if (!found.refusal.empty()) return {{"device", found.name}, {"usable", false}, {"reason", found.refusal}};
    const DeviceInfo& device = found.device;
    nlohmann::ordered_json json = facts_of(found);
    if (device.kind == DeviceKind::cpu) {
        json["limits"] = to_json(Confinement{});
    } else {
        json["uuid"] = device.uuid;
        json["mig"] = device::mig_profile(device.name);
    }
    return json;
}

void print_text(const Examination& found) {
    if (!found.refusal.empty()) {
        to_stdout("{}\n", found.refusal);
        return;
    }
    const DeviceInfo& device = found.device;
    const bool cpu = device.kind == DeviceKind::cpu;
    to_stdout("device {}: {} ({})\n", found.name, device.key, device.name);
    if (cpu)
        to_stdout("  {} threads; {}{}\n", device.threads, in_words(isa_of(device)),
                  device.threads < 2 ? "; parallel variants have nothing to run on" : "");
    else
        to_stdout("  compute capability {}.{}, {} multiprocessors; driver {}\n", device.sm / 10, device.sm % 10,
                  device.sm_count, found.driver);
    if (cpu) print_text(Confinement{});
    if (const auto part = device::mig_profile(device.name); !part.empty())
        to_stdout("  an instance of a GPU that is shared out (MIG): {}\n", part);
    if (!device.uuid.empty()) to_stdout("  {}\n", device.uuid);
    to_stdout("  memory {}, {} free\n", gib(static_cast<double>(device.memory_bytes)),
              gib(static_cast<double>(found.free.device)));
    if (device.bytes_per_second > 0)
        to_stdout("  ceilings: memory {} GB/s, caches {} GB/s, single precision {} GFLOP/s, integer {} Gop/s\n",
                  giga(device.bytes_per_second), giga(device.cached_bytes_per_second), giga(device.fp32_per_second),
                  giga(device.int_per_second));
    if (found.copies.pinned_to_device > 0)
        to_stdout("  copies: page-locked {:.1f} GB/s to the device, {:.1f} back; pageable {:.1f} and {:.1f}\n",
                  found.copies.pinned_to_device / 1e9, found.copies.pinned_to_host / 1e9,
                  found.copies.pageable_to_device / 1e9, found.copies.pageable_to_host / 1e9);
    to_stdout("  counters: {}\n", found.counters_refusal.empty() ? "yes" : found.counters_refusal);
}

nlohmann::ordered_json to_json(const LoadedSelectors& loaded) {
    auto list = nlohmann::ordered_json::array();
    for (const LoadedSelector& tree : loaded.selectors)
        list.push_back({{"family", tree.family}, {"device", tree.device}, {"file", tree.file}});
    return {{"loaded", std::move(list)}, {"ignored", loaded.ignored}};
}

void print_text(const LoadedSelectors& loaded) {
    if (loaded.selectors.empty()) to_stdout("selectors: those that are compiled in\n");
    for (const LoadedSelector& tree : loaded.selectors)
        to_stdout("selector of {} on {}: loaded from {}\n", tree.family, tree.device, printable(tree.file));
}

std::vector<Examination> examine_named(const std::string& names, bool ceilings) {
    std::vector<Examination> found;
    for (const auto& turn : devices_named(names))
        for (const std::string& device : turn) found.push_back(examine(device, ceilings));
    return found;
}

void run(const Arguments& arguments, ExitCode& code) {
    restrict_threads(0);
    const bool ceilings = !arguments.no_ceilings;
    const auto devices = arguments.device == "all" ? examine_all(ceilings) : examine_named(arguments.device, ceilings);
    const std::string compiler = find_compiler();
    const std::uintmax_t disk = disk_free(arguments.results);
    const LoadedSelectors selectors = value_or_fail(loaded_selectors());
    if (arguments.json) {
        auto list = nlohmann::ordered_json::array();
        for (const Examination& found : devices) list.push_back(to_json(found));
        const nlohmann::ordered_json output{{"build", build_identity()},
                                            {"cuda_compiler", compiler},
                                            {"disk_free_bytes", disk},
                                            {"selectors", to_json(selectors)},
                                            {"devices", std::move(list)}};
        print_json(output, 2);
    } else {
        to_stdout("build: {}\nCUDA compiler: {}\ndisk: {} free for {}\n", build_identity(), compiler,
                  gib(static_cast<double>(disk)), arguments.results);
        print_text(selectors);
        for (const Examination& found : devices) print_text(found);
    }
    const bool refused = !std::ranges::all_of(devices, &std::string::empty, &Examination::refusal);
    if (arguments.device != "all" && refused) code = ExitCode::no_device;
}

}  // namespace

void add_doctor(CLI::App& program, ExitCode& code) {
    static Arguments arguments;
    CLI::App& command = *program.add_subcommand("doctor", "Show what there is to measure on, and what is missing");
    command
        .add_option("--device", arguments.device,
                    "cpu, a GPU as 0 or cuda:0, several with commas between them, or all; exits with 3 if one that is "
                    "named is not there")
        ->capture_default_str();
    command.add_option("--results", arguments.results, "folder whose disk is looked at")->capture_default_str();
    command.add_flag("--no-ceilings", arguments.no_ceilings,
                     "do not measure the devices' ceilings, nor copies to and from them");
    command.add_flag("--json", arguments.json, "as JSON");
    command.callback([&code] { run(arguments, code); });
}

}  // namespace espalier::bench::cli
