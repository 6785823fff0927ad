// `espalier list`: families, their axes and variants.

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/bench/families/family.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/print_json.hpp"
#include "kernels/core/registry.hpp"

namespace espalier::bench::cli {
namespace {

struct Arguments {
    std::vector<std::string> families;
    std::string suite;
    bool json = false, markdown = false;
};

std::vector<const Family*> chosen(const std::vector<std::string>& names) {
    std::vector<const Family*> list;
    for (const Family* family : families())
        if (names.empty()) list.push_back(family);
    for (const auto& name : names) list.push_back(&family_named(name));
    return list;
}

nlohmann::ordered_json to_json(const Family& family) {
    auto axes = nlohmann::ordered_json::array();
    for (const FeatureInfo& feature : family.features())
        axes.push_back(
            {{"name", feature.name},
             {"derived", feature.derived},
             {"known", feature.known},
             {"optional", feature.optional},
             {"categories", std::vector<std::string>(feature.categories.begin(), feature.categories.end())}});
    auto variants = nlohmann::ordered_json::array();
    for (const VariantInfo& variant : family.variants()) {
        std::vector<std::string> configurations;
        for (const Configuration& configuration : variant.configurations)
            configurations.push_back(configuration.text());
        variants.push_back({{"name", variant.name},
                            {"role", to_string(variant.role)},
                            {"device", to_string(variant.kind)},
                            {"min_sm", variant.min_sm},
                            {"gpu_only", variant.gpu_only},
                            {"summary", variant.summary},
                            {"source", variant.source},
                            {"limits", variant.limits},
                            {"path", variant.path},
                            {"unavailable", variant.foreign.empty() ? "" : foreign_reason(variant.foreign)},
                            {"source_id", variant.source_id},
                            {"configurations", configurations}});
    }
    return {{"family", family.name()}, {"features", std::move(axes)}, {"variants", std::move(variants)}};
}

/// "width, height, border (zero, replicate or mirror)"
std::string axes_of(const Family& family) {
    std::string text;
    for (const FeatureInfo& feature : family.features()) {
        if (feature.derived) continue;
        text.append(text.empty() ? "" : ", ").append(feature.name);
        if (feature.categories.empty()) continue;
        text += fmt::format(" ({})", fmt::join(feature.categories, "|"));
    }
    return text;
}

/// Where it runs, as a person says it.
std::string device_of(const VariantInfo& variant) {
    if (!variant.foreign.empty()) return fmt::format("CPU, {}", variant.foreign);
    if (variant.kind == DeviceKind::cpu) return "CPU";
    return variant.min_sm ? fmt::format("GPU, sm {}", variant.min_sm) : "GPU";
}

void print_text(const Family& family) {
    fmt::print("{}\n  axes: {}\n", family.name(), axes_of(family));
    std::size_t width = 0;
    for (const VariantInfo& variant : family.variants()) width = std::max(width, variant.name.size());
    for (const VariantInfo& variant : family.variants()) {
        fmt::print("  {:<{}}  {:<10}  {:<12}  {:>3}  {}\n", variant.name, width, to_string(variant.role),
                   device_of(variant), variant.configurations.size(), variant.path);
        if (!variant.foreign.empty())
            fmt::print("  {:<{}}  {}\n", "", width, foreign_reason(variant.foreign));
        else if (!variant.limits.empty())
            fmt::print("  {:<{}}  needs {}\n", "", width, variant.limits);
    }
    fmt::print("\n");
}

/// A cell of a Markdown table.
std::string cell(std::string_view text) {
    std::string escaped;
    for (const char c : text) escaped.append(c == '|' ? "\\|" : std::string(1, c));
    return escaped;
}

void print_markdown(const Family& family) {
    fmt::print("## {}\n\nAxes: {}\n\n", family.name(), cell(axes_of(family)));
    fmt::print("| variant | role | runs on | what it does | needs | source |\n| --- | --- | --- | --- | --- | --- |\n");
    for (const VariantInfo& variant : family.variants())
        fmt::print("| [`{}`]({}) | {} | {} | {} | {} | {} |\n", variant.name, variant.path, to_string(variant.role),
                   device_of(variant), variant.foreign.empty() ? cell(variant.summary) : "see its source",
                   cell(variant.limits), cell(variant.source));
    fmt::print("\n");
}

/// Calls `use` with every case of the family's published tables, on devices of any kind.
template <class Use>
void for_each_published(const Family& family, Use use) {
    const std::vector<PublishedProblem> published = family.published();
    std::set<std::string> seen;
    for (const PublishedProblem& entry : published) {
        if (!seen.insert(entry.problem).second) continue;
        for (const VariantInfo& variant : family.variants())
            for (const Configuration& configuration : with_pinned(variant))
                if (std::string tables = tables_with(published, entry.problem, variant.name, configuration);
                    !tables.empty())
                    use(tables, entry.problem, variant, configuration.text());
    }
}

void list_published(const Arguments& arguments) {
    auto output = nlohmann::ordered_json::array();
    for (const Family* family : chosen(arguments.families))
        for_each_published(*family, [&](const std::string& tables, const std::string& problem,
                                        const VariantInfo& variant, const std::string& configuration) {
            if (arguments.json)
                output.push_back({{"tables", tables},
                                  {"family", family->name()},
                                  {"problem", problem},
                                  {"variant", variant.name},
                                  {"configuration", configuration},
                                  {"device", to_string(variant.kind)}});
            else
                fmt::print("{:<12}  {}/{}|{}|{}\n", tables, family->name(), variant.name, problem, configuration);
        });
    if (arguments.json) print_json(output, 2);
}

void run(const Arguments& arguments) {
    if (!arguments.suite.empty()) return list_published(arguments);
    auto output = nlohmann::ordered_json::array();
    for (const Family* family : chosen(arguments.families)) {
        if (arguments.json)
            output.push_back(to_json(*family));
        else if (arguments.markdown)
            print_markdown(*family);
        else
            print_text(*family);
    }
    if (arguments.json) print_json(output, 2);
}

}  // namespace

void add_list(CLI::App& program, ExitCode&) {
    static Arguments arguments;
    CLI::App& command = *program.add_subcommand("list", "List families, their axes and their variants");
    command.add_option("--family", arguments.families, "only these")->delimiter(',');
    CLI::Option* const suite =
        command
            .add_option("--suite", arguments.suite,
                        "the cases of `sweep --suite` instead, each with the tables that have it")
            ->check(one_of({"published"}));
    CLI::Option* const json = command.add_flag("--json", arguments.json, "everything, as JSON");
    command.add_flag("--markdown", arguments.markdown, "tables for the documentation")->excludes(json)->excludes(suite);
    command.callback([] { run(arguments); });
}

}  // namespace espalier::bench::cli
