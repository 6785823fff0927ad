#include "harness/bench/families/published.hpp"

#include <algorithm>

#include "harness/bench/families/family.hpp"

namespace espalier::bench {
namespace {

/// Calls `use` with each part of the text between separators.
template <class Use>
void for_each_part(std::string_view text, char separator, Use use) {
    while (!text.empty()) {
        const auto end = text.find(separator);
        use(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
}

bool holds(const Configuration& configuration, std::string_view setting) {
    return std::ranges::any_of(configuration, [&](const Setting& own) {
        return setting == std::string(own.name) + "=" + std::to_string(own.value);
    });
}

bool compares(const PublishedProblem& published, const VariantInfo& variant) {
    const std::vector<Configuration> all = with_pinned(variant);
    return std::ranges::any_of(published.choices, [&](std::string_view choice) {
        return std::ranges::any_of(
            all, [&](const Configuration& configuration) { return is_choice(choice, variant.name, configuration); });
    });
}

}  // namespace

std::vector<Configuration> with_pinned(const VariantInfo& variant) {
    std::vector<Configuration> all = variant.configurations;
    all.insert(all.end(), variant.pinned.begin(), variant.pinned.end());
    return all;
}

bool pins_a_stage(const Setting& setting) { return setting.name.find('.') != std::string_view::npos; }
std::string_view stage_family(const Setting& setting) { return setting.name.substr(0, setting.name.find('.')); }
std::string_view stage_variant(const Setting& setting) { return setting.name.substr(setting.name.find('.') + 1); }

bool is_choice(std::string_view choice, std::string_view variant, const Configuration& configuration) {
    const auto colon = choice.find(':');
    if (choice.substr(0, colon) != variant) return false;
    bool all = true;
    std::ptrdiff_t pins = std::ranges::count_if(configuration, pins_a_stage);
    for_each_part(colon == std::string_view::npos ? "" : choice.substr(colon + 1), ';', [&](std::string_view setting) {
        all = all && holds(configuration, setting);
        if (setting.find('.') != std::string_view::npos) --pins;
    });
    return all && pins == 0;
}

std::string tables_with(const std::vector<PublishedProblem>& published, std::string_view problem,
                        std::string_view variant, const Configuration& configuration) {
    std::vector<std::string_view> names;
    for (const PublishedProblem& entry : published) {
        if (entry.problem != problem) continue;
        const bool chosen = std::ranges::any_of(
            entry.choices, [&](std::string_view choice) { return is_choice(choice, variant, configuration); });
        if (!chosen) continue;
        for_each_part(entry.tables, ' ', [&](std::string_view table) {
            if (!std::ranges::count(names, table)) names.push_back(table);
        });
    }
    std::string text;
    for (const std::string_view name : names) text.append(text.empty() ? "" : " ").append(name);
    return text;
}

std::vector<std::string> published_problems(const Family& family, DeviceKind kind) {
    std::vector<std::string> problems;
    for (const PublishedProblem& entry : family.published()) {
        const bool here = std::ranges::any_of(family.variants(), [&](const VariantInfo& variant) {
            return variant.kind == kind && compares(entry, variant);
        });
        if (here && !std::ranges::count(problems, entry.problem)) problems.push_back(entry.problem);
    }
    return problems;
}

}  // namespace espalier::bench
