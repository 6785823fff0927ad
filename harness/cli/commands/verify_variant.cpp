// `espalier verify-variant`: one variant alone on every edge case of its family.

#include <fmt/format.h>

#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/families/variant_check.hpp"
#include "harness/cli/command.hpp"

namespace espalier::bench::cli {
namespace {

struct Arguments {
    std::vector<std::string> names;
    double seconds = 60;
};

/// Of one family, or of all that have a variant called so.
std::vector<VariantName> named(const std::string& name) {
    const auto slash = name.find('/');
    std::vector<VariantName> found;
    if (slash != std::string::npos) {
        const Family& family = family_named(name.substr(0, slash));
        if (const auto v = family.find(name.substr(slash + 1)); v != Family::npos) found.push_back({&family, v});
    } else {
        for (const Family* family : families())
            if (const auto v = family->find(name); v != Family::npos) found.push_back({family, v});
    }
    if (found.empty()) throw BadProblem(unknown_variant(name));
    return found;
}

void run(const Arguments& arguments, ExitCode& code) {
    constexpr int kSkipped = 77;  // CTest's and Automake's
    bool any = false;
    for (const std::string& text : arguments.names)
        for (const VariantName& name : named(text)) {
            const VariantInfo& variant = name.family->variants()[name.variant];
            const VariantCheck check = check_variant(name, arguments.seconds);
            const std::string subject = fmt::format("{}/{}", name.family->name(), variant.name);
            if (!check.fault.empty()) {
                to_stderr("{}: {}\n", variant.path, check.fault);
                code = ExitCode::failed_variants;
            } else if (!check.skipped.empty()) {
                to_stdout("{}: skipped: {}\n", subject, check.skipped);
            } else {
                to_stdout("{}: right on {} problems, {} runs\n", subject, check.problems, check.runs);
            }
            any = any || check.skipped.empty();
        }
    if (!any && code == ExitCode::ok) code = static_cast<ExitCode>(kSkipped);
}

}  // namespace

void add_verify_variant(CLI::App& program, ExitCode& code) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App& command = *program.add_subcommand(
        "verify-variant", "Run variants on every edge case of their family and compare with the oracle");
    command.add_option("variants", arguments->names, "family/variant, or a variant's name")->required();
    add_number(command, "--timeout", arguments->seconds, "seconds without progress after which one counts as hung")
        ->capture_default_str();
    set_footer(command,
               "A GPU's variants run on the host executor where there is no GPU. Exit code 77: all were skipped.");
    command.callback([arguments, &code] { run(*arguments, code); });
}

}  // namespace espalier::bench::cli
