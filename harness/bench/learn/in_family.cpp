#include "harness/bench/learn/in_family.hpp"

#include <algorithm>

#include "kernels/core/pair.hpp"

namespace espalier::bench::learn {

std::vector<Column> columns_of(const Family& family) {
    const auto features = family.features();
    std::vector<Column> columns;
    for (const FeatureInfo& f : features)
        columns.push_back(
            {std::string(f.name), static_cast<int>(f.categories.size()), f.derived, {}, f.known, f.inert});
    const auto size = [&](std::size_t f) {
        return !features[f].derived && features[f].known && !columns[f].inert && features[f].categories.empty();
    };
    for (std::size_t a = 0; a < features.size(); ++a)
        for (std::size_t b = a + 1; b < features.size(); ++b) {
            if (!size(a) || !size(b)) continue;
            const std::string first(features[a].name), second(features[b].name);
            columns.push_back({first + " / " + second, 0, true, {InteractionKind::ratio, a, b}});
            columns.push_back({first + " * " + second, 0, true, {InteractionKind::product, a, b}});
        }
    return columns;
}

std::vector<double> values_of(std::span<const Column> columns, std::vector<double> features) {
    for (std::size_t c = features.size(); c < columns.size(); ++c) {
        const double a = features[columns[c].interaction.first], b = features[columns[c].interaction.second];
        features.push_back(columns[c].interaction.kind == InteractionKind::ratio ? ratio(a, b) : product(a, b));
    }
    return features;
}

std::vector<double> asked_values(const Family& family, std::span<const Column> columns, std::string_view problem) {
    std::vector<double> features = family.feature_values(family.as_asked(problem));
    const std::vector<double> defaults = family.feature_values("");
    for (std::size_t f = 0; f < features.size(); ++f)
        if (columns[f].absent) features[f] = defaults[f];
    return values_of(columns, std::move(features));
}

std::vector<double> values_of(const Family& family, std::string_view problem) {
    return asked_values(family, columns_of(family), problem);
}

std::string name_of(const Family& family, const Choice& candidate) {
    const VariantInfo& variant = family.variants()[candidate.variant];
    return std::string(variant.name) + " " + variant.configurations[candidate.configuration].text();
}

Support supports(const Family& family, const DeviceInfo& device, const std::string& problem, const Choice& candidate) {
    const auto [variant, configuration] = candidate;
    return family.supports(variant, problem, family.variants()[variant].configurations[configuration], device);
}

bool supports_any(const Family& family, const DeviceInfo& device, std::span<const std::string> problems,
                  std::size_t variant) {
    const std::size_t configurations = family.variants()[variant].configurations.size();
    return std::ranges::any_of(problems, [&](const std::string& problem) {
        for (std::size_t c = 0; c < configurations; ++c)
            if (supports(family, device, problem, {variant, c})) return true;
        return false;
    });
}

}  // namespace espalier::bench::learn
