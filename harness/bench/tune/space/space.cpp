#include "harness/bench/tune/space/space.hpp"

#include <algorithm>
#include <numeric>

#include "harness/bench/tune/describe/place.hpp"

namespace espalier::bench::tune {
namespace {

std::vector<std::size_t> in_order(std::size_t values) {
    std::vector<std::size_t> order(values);
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
}

}  // namespace

Space::Space(const Description& description, std::size_t problem)
    : description_(description), due_(description.parameters.size() + 1) {
    for (auto& [name, value] : description.names_of(problem))
        if (std::ranges::none_of(description.parameters, [&, &name = name](const auto& p) { return p.name == name; }))
            sizes_.emplace_back(name, std::move(value));
    for (const Condition& condition : description.conditions) {
        std::size_t last = 0;
        for (const std::size_t parameter : condition.parameters) last = std::max(last, parameter + 1);
        due_[last].push_back(&condition);
    }
}

bool Space::allowed(std::size_t parameters, const Names& names) const {
    return std::ranges::all_of(due_[parameters], [&](const Condition* condition) {
        return value_of(condition->formula, names, description_.path).truth();
    });
}

bool Space::walk(Configuration& configuration, Names& names, const Order& order, const Visit& visit) const {
    const std::size_t next = configuration.size();
    if (!allowed(next, names)) return true;
    if (next == description_.parameters.size()) return visit(configuration);
    const Parameter& parameter = description_.parameters[next];
    names.emplace_back(parameter.name, Value());
    configuration.push_back(0);
    bool go_on = true;
    for (const std::size_t value : order(parameter.values.size())) {
        configuration.back() = value;
        names.back().second = parameter.values[value];
        go_on = walk(configuration, names, order, visit);
        if (!go_on) break;
    }
    configuration.pop_back();
    names.pop_back();
    return go_on;
}

std::optional<std::vector<Configuration>> Space::all(std::size_t most) const {
    std::vector<Configuration> found;
    Configuration configuration;
    Names names = sizes_;
    const bool complete = walk(configuration, names, in_order, [&](const Configuration& one) {
        if (found.size() == most) return false;
        found.push_back(one);
        return true;
    });
    if (!complete) return std::nullopt;
    return found;
}

std::optional<Configuration> Space::draw(std::mt19937_64& random) const {
    std::optional<Configuration> found;
    Configuration configuration;
    Names names = sizes_;
    const auto shuffled = [&](std::size_t values) {
        std::vector<std::size_t> order = in_order(values);
        std::ranges::shuffle(order, random);
        return order;
    };
    walk(configuration, names, shuffled, [&](const Configuration& one) {
        found = one;
        return false;
    });
    return found;
}

bool Space::holds(const Configuration& configuration) const {
    Names names = sizes_;
    if (!allowed(0, names)) return false;
    for (std::size_t p = 0; p < configuration.size(); ++p) {
        names.emplace_back(description_.parameters[p].name, description_.parameters[p].values[configuration[p]]);
        if (!allowed(p + 1, names)) return false;
    }
    return true;
}

double Space::unrestricted() const {
    double count = 1;
    for (const Parameter& parameter : description_.parameters) count *= static_cast<double>(parameter.values.size());
    return count;
}

}  // namespace espalier::bench::tune
