#include "harness/bench/sweep/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "harness/base/text/sha256.hpp"
#include "kernels/core/registry.hpp"
#include "kernels/core/similar_name.hpp"

namespace espalier::bench {
namespace {

using Axes = std::vector<std::pair<std::string, std::vector<std::string>>>;

std::vector<const Family*> chosen_families(const SweepOptions& options) {
    std::vector<const Family*> chosen;
    for (const auto& name : options.families) family_named(name);  // throws for one that there is not
    for (const Family* family : families())
        if (options.families.empty() || std::ranges::count(options.families, family->name())) chosen.push_back(family);
    return chosen;
}

bool asked_for(const SweepOptions& options, const Family& family, const VariantInfo& variant) {
    if (options.variants.empty()) return true;
    const std::string name(variant.name);
    return std::ranges::any_of(options.variants, [&](const std::string& wanted) {
        return wanted == name || wanted == std::string(family.name()) + "/" + name;
    });
}

void refuse_unknown_variants(const SweepOptions& options, const std::vector<const Family*>& chosen) {
    for (const std::string& wanted : options.variants) {
        const auto slash = wanted.find('/');
        const auto name = slash == std::string::npos ? wanted : wanted.substr(slash + 1);
        bool found = false;
        std::string_view foreign;
        for (const Family* family : chosen) {
            const std::size_t variant = family->find(name);
            if (variant == Family::npos || (slash != std::string::npos && wanted.substr(0, slash) != family->name()))
                continue;
            const std::string_view elsewhere = family->variants()[variant].foreign;
            if (elsewhere.empty())
                found = true;
            else
                foreign = elsewhere;
        }
        if (found) continue;
        if (!foreign.empty()) throw BadProblem("variant '" + wanted + "' " + foreign_reason(foreign));
        throw BadProblem(unknown_variant(wanted));
    }
}

bool has_axis(const Family& family, const std::string& axis) {
    return std::ranges::any_of(family.features(),
                               [&](const FeatureInfo& feature) { return !feature.derived && feature.name == axis; });
}

std::string with_axis(const Family& family, const std::string& key, const std::string& axis, const std::string& value) {
    // Later assignments win when a key is parsed, so that appending overrides.
    return family.canonical(key.empty() ? axis + "=" + value : key + ";" + axis + "=" + value);
}

/// An axis that every key spells out.
bool is_required(const FeatureInfo& feature) { return !feature.derived && !feature.optional; }

/// The default problems with the given axes replaced by every combination of the given values. Where
/// that makes problems equal, one is kept. All required axes given: just their product.
std::vector<std::string> problems_of(const Family& family, const DeviceInfo& device, const SweepOptions& options,
                                     const Axes& axes) {
    if (options.problems) return options.problems(family, device);
    std::vector<std::string> keys = family.default_problems(device.kind, options.effort);
    const auto given = [&](const FeatureInfo& feature) {
        return std::ranges::any_of(axes, [&](const auto& axis) { return axis.first == feature.name; });
    };
    if (std::ranges::all_of(family.features(), [&](const FeatureInfo& f) { return !is_required(f) || given(f); }))
        keys = {""};
    for (const auto& [axis, values] : axes) {
        if (!has_axis(family, axis)) continue;
        std::vector<std::string> longer;
        for (const auto& key : keys)
            for (const auto& value : values) longer.push_back(with_axis(family, key, axis, value));
        keys = std::move(longer);
    }
    std::set<std::string> seen;
    std::erase_if(keys, [&](const std::string& key) { return !seen.insert(key).second; });
    return keys;
}

void refuse_unknown_axes(const SweepOptions& options, const std::vector<const Family*>& chosen) {
    for (const auto& [axis, values] : options.axes) {
        if (std::ranges::any_of(chosen, [&, axis = axis](const Family* family) { return has_axis(*family, axis); }))
            continue;
        SimilarName meant(axis);
        for (const Family* family : chosen)
            for (const FeatureInfo& feature : family->features())
                if (!feature.derived) meant.offer(feature.name);
        throw BadProblem("no family asked for has an axis '" + axis + "'; espalier list shows the axes" +
                         meant.question());
    }
}

/// Beside the data the host holds a copy of the inputs, the oracle's outputs and those being compared.
std::string memory_refusal(const Family& family, std::size_t variant, const std::string& problem,
                           const Configuration& configuration, const DeviceInfo& device, const FreeMemory& free) {
    const std::size_t data = family.data_bytes(problem);
    const std::size_t workspace = family.workspace(variant, problem, configuration, device);
    const bool cpu = device.kind == DeviceKind::cpu;
    const double on_device = static_cast<double>(data) + static_cast<double>(workspace);
    const double on_host = 2.0 * static_cast<double>(data) + (cpu ? on_device : 0);
    if (!cpu && on_device > static_cast<double>(free.device))
        return fmt::format("needs {} bytes of data and {} of workspace, the device has {} free", data, workspace,
                           free.device);
    if (on_host > static_cast<double>(free.host))
        return fmt::format(
            "needs {:.0f} bytes of host memory ({} of data, {} of workspace, the rest to verify), {} "
            "are free",
            on_host, data, workspace, free.host);
    return {};
}

/// Gives the cases that are to be measured first their places.
void place_first(const SweepOptions& options, const DeviceInfo& device, PlannedProblem& planned) {
    if (!options.first_cases) return;
    const FirstCases first = options.first_cases(*planned.family, planned.problem, device);
    for (PlannedCase& planned_case : planned.cases) {
        const std::pair choice{std::string(planned.family->variants()[planned_case.variant].name),
                               planned_case.configuration.text()};
        const auto place = static_cast<std::size_t>(std::ranges::find(first.choices, choice) - first.choices.begin());
        if (place < first.choices.size()) planned_case.place = place;
        planned_case.needed = place < first.needed && planned_case.unsupported.empty();
    }
}

PlannedProblem plan_problem(const SweepOptions& options, const Family& family, const std::string& problem,
                            const DeviceInfo& device, const FreeMemory& free) {
    PlannedProblem planned{&family, problem, {}, options.every_counter};
    const auto variants = family.variants();
    for (std::size_t v = 0; v < variants.size(); ++v) {
        if (variants[v].kind != device.kind || !asked_for(options, family, variants[v])) continue;
        // Pinned stages are for those who ask for them by name.
        for (const Configuration& configuration :
             options.has_case ? with_pinned(variants[v]) : variants[v].configurations) {
            if (options.has_case && !options.has_case(family, problem, variants[v], configuration)) continue;
            std::string reason = family.supports(v, problem, configuration, device).reason;
            if (reason.empty()) reason = memory_refusal(family, v, problem, configuration, device, free);
            planned.cases.push_back({.variant = v, .configuration = configuration, .unsupported = std::move(reason)});
        }
    }
    place_first(options, device, planned);
    return planned;
}

}  // namespace

std::size_t PlannedProblem::runnable() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(cases, [](const PlannedCase& planned) { return planned.unsupported.empty(); }));
}

std::vector<std::size_t> PlannedProblem::in_order(std::uint64_t seed) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < cases.size(); ++i)
        if (cases[i].unsupported.empty()) order.push_back(i);
    std::mt19937_64 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        const VariantInfo& variant = family->variants()[cases[i].variant];
        const bool is_default = cases[i].configuration == variant.configurations.front();
        return std::pair(cases[i].place, is_default && variant.role == Role::baseline ? 0 : is_default ? 1 : 2);
    });
    return order;
}

PlannedProblem PlannedProblem::only(const std::vector<std::size_t>& chosen) const {
    PlannedProblem part{family, problem, {}, every_counter};
    for (const std::size_t index : chosen) part.cases.push_back(cases.at(index));
    return part;
}

std::size_t SweepPlan::cases() const {
    std::size_t total = 0;
    for (const PlannedProblem& problem : problems) total += problem.cases.size();
    return total;
}

SweepPlan make_plan(const SweepOptions& options, const DeviceInfo& device, const FreeMemory& free) {
    const auto chosen = chosen_families(options);
    refuse_unknown_variants(options, chosen);
    refuse_unknown_axes(options, chosen);
    SweepPlan plan;
    std::string all_keys;
    std::size_t index = 0;
    for (const Family* family : chosen)
        for (const std::string& problem : problems_of(*family, device, options, options.axes)) {
            PlannedProblem planned = plan_problem(options, *family, problem, device, free);
            if (planned.cases.empty()) continue;
            for (const PlannedCase& planned_case : planned.cases)
                all_keys.append(family->name())
                    .append("/")
                    .append(family->variants()[planned_case.variant].name)
                    .append("|")
                    .append(problem)
                    .append("|")
                    .append(planned_case.configuration.text())
                    .append("\n");
            if (index++ % static_cast<std::size_t>(options.shards) == static_cast<std::size_t>(options.shard - 1))
                plan.problems.push_back(std::move(planned));
        }
    plan.id = sha256(all_keys);
    return plan;
}

}  // namespace espalier::bench
