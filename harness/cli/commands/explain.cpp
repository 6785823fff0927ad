// espalier explain: what the selectors choose for a problem on a device, here or elsewhere, and why.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "espalier/explanation.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/print_json.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/forests.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

struct ExplainOptions {
    std::string family;
    std::vector<std::string> axes;
    std::string device = "auto";
    std::string variant;
    std::string results;  ///< empty: the default
    bool deterministic = false;
    bool predict = false;
    bool json = false;
};

std::string_view name_of(Explanation::Tree tree) {
    switch (tree) {
        case Explanation::Tree::exact: return "exact";
        case Explanation::Tree::related: return "related";
        case Explanation::Tree::none: break;
    }
    return "none";
}

nlohmann::ordered_json to_json(const Explanation::RankedChoice& choice) {
    return {{"variant", choice.variant},
            {"configuration", choice.configuration},
            {"slowdown", choice.slowdown},
            {"infeasible", choice.infeasible},
            {"same_as", choice.same_as}};
}

nlohmann::ordered_json to_json(const Explanation& why) {
    nlohmann::ordered_json json{{"family", why.family},
                                {"problem", why.problem},
                                {"device", why.device},
                                {"variant", why.variant},
                                {"configuration", why.configuration},
                                {"threads", why.threads},
                                {"reason", why.reason},
                                {"nondeterminism", why.nondeterminism},
                                {"forced_by", why.forced_by},
                                {"ignored", why.ignored},
                                {"measured_at", why.measured_at},
                                {"measured_speedup", why.measured_speedup},
                                {"measured_choices", why.measured_choices},
                                {"predicted_slowdown", why.predicted_slowdown},
                                {"tree", name_of(why.tree)},
                                {"trained_on_this_device", why.tree == Explanation::Tree::exact}};
    if (why.tree == Explanation::Tree::none) return json;
    for (const auto& candidate : why.predicted) json["predicted"].push_back(to_json(candidate));
    json["tree_device"] = why.tree_device;
    json["tree_file"] = why.tree_file;
    json["tree_data_sha256"] = why.tree_data;
    json["leaf"] = why.leaf;
    json["path"] = why.path;
    json["problems"] = why.problems;
    json["margin"] = why.margin;
    json["regret"] = why.regret;
    json["regret_interval"] = {why.regret_low, why.regret_high};
    for (const auto& candidate : why.ranking) json["ranking"].push_back(to_json(candidate));
    return json;
}

void run_explain(const ExplainOptions& options) {
    const fs::path results = results_to_read(options.results, {options.device});
    const DeviceInfo device = described_device(options.device, results);
    if (std::getenv("ESPALIER_FORESTS") == nullptr && fs::is_directory(selectors_of(results)))
        set_forest_folder(selectors_of(results).string());
    const auto effort = options.predict ? espalier::Effort::predict : espalier::Effort::tree;
    const std::string problem = fmt::format("{}", fmt::join(options.axes, ";"));
    const auto explain_it = [&](const ForcedVariant* forced) {
        return explain(options.family, problem, device, forced, {.deterministic = options.deterministic}, effort);
    };
    const Explanation why =
        value_or_fail(with_forced_variant(options.family, options.variant, explain_it, "--variant"));
    if (options.json)
        print_json(to_json(why), 2);
    else
        to_stdout("{}", why.text());
}

}  // namespace

void add_explain(CLI::App& program, ExitCode&) {
    const auto options = std::make_shared<ExplainOptions>();
    CLI::App& command = *program.add_subcommand("explain", "Says which variant a problem gets, and why");
    command.add_option("--family", options->family, "distance, smallest_k, convolution_2d, ...")->required();
    command.add_option("-p", options->axes, "axis=value of the problem; axes left out keep the family's default")
        ->type_name("AXIS=VALUE");
    command
        .add_option("--device", options->device,
                    std::string("key of a device with results, or one of this machine: ") + kDeviceHelp)
        ->capture_default_str();
    command.add_option("--variant", options->variant, "explain this variant instead of the selector's choice");
    command.add_flag("--deterministic", options->deterministic, "what runs when equal calls must give equal bits");
    command.add_flag("--predict", options->predict, "what a plan with Effort::predict runs");
    command.add_option("--results", options->results, kResultsHelp);
    command.add_flag("--json", options->json, "print JSON");
    command.callback([options] { run_explain(*options); });
}

}  // namespace espalier::bench::cli
