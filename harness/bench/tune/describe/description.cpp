#include "harness/bench/tune/describe/description.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/files/read_file.hpp"
#include "harness/bench/tune/describe/place.hpp"
#include "harness/bench/tune/describe/read_kernel.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"

namespace espalier::bench::tune {
namespace {

/// A list as T1 has it: an expression in quotes that is one, or a list of JSON.
List read_values(const Place& place) {
    if (!place.is_text()) {
        List values;
        for (const Place& one : place.items()) values.push_back(one.value());
        return values;
    }
    const Formula formula = place.formula({});
    try {
        const Value value = formula.expression.evaluate({});
        if (!value.list())
            place.refuse("'" + formula.expression.text() + "' is no list: write [...] or list(range(...))");
        return *value.list();
    } catch (const BadExpression& error) {
        place.refuse(error.what());
    }
}

void check_values(const Place& place, const List& values, bool texts) {
    if (values.empty()) place.refuse("a parameter has one value or more");
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (texts ? values[i].text() == nullptr : !values[i].is_number())
            place.refuse(fmt::format("'{}' does not fit the Type: {}", spelled(values[i]),
                                     texts ? "write texts in quotes" : "write numbers"));
        if (std::ranges::count(values, values[i]) > 1)
            place.refuse(fmt::format("{} is there twice: remove one", spelled(values[i])));
    }
}

Parameter read_parameter(const Place& place) {
    place.expect_members({"Name", "Type", "Values", "Default"});
    Parameter parameter{place.member("Name").identifier(), {}, 0};
    const bool texts = place.member("Type").one_of({"int", "uint", "float", "bool", "string"}) == 4;
    const Place values = place.member("Values");
    parameter.values = read_values(values);
    check_values(values, parameter.values, texts);
    if (const auto given = place.find("Default")) {
        const auto found = std::ranges::find(parameter.values, given->value());
        if (found == parameter.values.end()) given->refuse("the default is none of the Values: choose one of them");
        parameter.by_default = static_cast<std::size_t>(found - parameter.values.begin());
    }
    return parameter;
}

/// Conditions may ask for sizes, which the kernel's part of the file names: they are read after it.
void read_conditions(const Place& space, Description& description) {
    const auto conditions = space.find("Conditions");
    if (!conditions) return;
    std::vector<std::string> names;
    for (const Parameter& parameter : description.parameters) names.push_back(parameter.name);
    names.insert(names.end(), description.size_names.begin(), description.size_names.end());
    names.emplace_back("ProblemSize");
    for (const Place& place : conditions->items()) {
        place.expect_members({"Expression", "Parameters"});
        Condition condition{place.member("Expression").formula(names), {}, false};
        for (const std::string& name : condition.formula.expression.asks_for()) {
            const auto is_it = [&](const Parameter& one) { return one.name == name; };
            const auto found = std::ranges::find_if(description.parameters, is_it);
            if (found == description.parameters.end())
                condition.asks_for_sizes = true;
            else
                condition.parameters.push_back(static_cast<std::size_t>(found - description.parameters.begin()));
        }
        description.conditions.push_back(std::move(condition));
    }
}

void read_budget(const Place& root, Description& description) {
    const auto budget = root.find("Budget");
    if (!budget) return;
    for (const Place& place : budget->items())
        if (place.member("Type").one_of({"TuningDuration", "ConfigurationCount", "ConfigurationFraction"}) == 0)
            description.budget_seconds = place.member("BudgetValue").number();
}

void read_space(const Place& root, Description& description) {
    const Place space = root.member("ConfigurationSpace");
    space.expect_members({"TuningParameters", "Conditions"});
    const Place parameters = space.member("TuningParameters");
    for (const Place& place : parameters.items()) {
        description.parameters.push_back(read_parameter(place));
        const std::string& name = description.parameters.back().name;
        if (std::ranges::count(description.parameters, name, &Parameter::name) > 1)
            place.refuse("there is another parameter '" + name + "'");
    }
    if (description.parameters.empty()) parameters.refuse("nothing is to be tuned: write one parameter or more");
    read_kernel(root.member("KernelSpecification"), description);
    read_conditions(space, description);
}

void add_sizes(const Description& description, std::size_t problem, Names& names) {
    List sizes;
    for (std::size_t d = 0; d < description.size_names.size(); ++d) {
        names.emplace_back(description.size_names[d], Value(description.sizes[problem][d]));
        sizes.emplace_back(description.sizes[problem][d]);
    }
    names.emplace_back("ProblemSize", Value(std::move(sizes)));
}

}  // namespace

Names Description::names_of(const std::vector<std::size_t>& configuration, std::size_t problem) const {
    Names names;
    for (std::size_t p = 0; p < parameters.size(); ++p)
        names.emplace_back(parameters[p].name, parameters[p].values[configuration[p]]);
    add_sizes(*this, problem, names);
    return names;
}

Names Description::names_of(std::size_t problem) const {
    Names names;
    for (const Parameter& parameter : parameters) names.emplace_back(parameter.name, Value(List(parameter.values)));
    add_sizes(*this, problem, names);
    return names;
}

std::string Description::problem_key(std::size_t problem) const {
    std::string key;
    for (std::size_t d = 0; d < size_names.size(); ++d)
        key += fmt::format("{}{}={}", d == 0 ? "" : ";", size_names[d], sizes[problem][d]);
    return key.empty() ? "default" : key;
}

std::string Description::configuration_text(const std::vector<std::size_t>& configuration) const {
    std::string text;
    for (std::size_t p = 0; p < parameters.size(); ++p)
        text += fmt::format("{}{}={}", p == 0 ? "" : ";", parameters[p].name,
                            spelled(parameters[p].values[configuration[p]]));
    return text;
}

Description read_description(const std::filesystem::path& path) {
    const auto bytes = read_file(path);
    if (!bytes) throw BadData(path.string() + ": there is no such file: name a description in the T1 format");
    nlohmann::json json;
    try {
        json = parse_checked(*bytes);
    } catch (const BadData& error) {
        throw BadData(path.string() + ": " + error.what());
    }
    Description description;
    description.path = path;
    const std::string file = path.string();
    const Place root(json, file);
    root.expect_members(
        {"ConfigurationSpace", "KernelSpecification", "Search", "Budget", "General", "BenchmarkConfig"});
    read_budget(root, description);
    read_space(root, description);
    return description;
}

}  // namespace espalier::bench::tune
