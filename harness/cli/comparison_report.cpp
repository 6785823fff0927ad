#include "harness/cli/comparison_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"

namespace espalier::bench::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view to_string(Change change) {
    return change == Change::slower ? "slower" : change == Change::faster ? "faster" : "same";
}

Json interval_json(const RatioInterval& relative) { return {relative.lo, relative.hi}; }

Json cases_json(const Comparison& comparison) {
    Json cases = Json::array();
    for (const ComparedCase& one : comparison.cases)
        cases.push_back({{"case", one.key},
                         {"before_ns", one.before_ns},
                         {"after_ns", one.after_ns},
                         {"absolute_ratio", one.after_ns / one.before_ns},
                         {"ratio", one.relative.ratio},
                         {"interval", interval_json(one.relative)},
                         {"verdict", to_string(one.change)},
                         {"relative_to", one.alone ? "machine" : "problem"},
                         {"source_changed", one.source_changed}});
    return cases;
}

Json variants_json(const Comparison& comparison) {
    Json variants = Json::array();
    for (const ComparedVariant& one : comparison.variants)
        variants.push_back({{"variant", one.name},
                            {"cases", one.cases},
                            {"problems", one.problems},
                            {"ratio", one.relative.ratio},
                            {"interval", interval_json(one.relative)},
                            {"verdict", to_string(one.change)},
                            {"relative_to", one.alone ? "machine" : "problem"}});
    return variants;
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json();
}

Json noise_json(const Comparison& comparison) {
    return {{"from", comparison.sessions_before + comparison.sessions_after > 2 ? "repetitions" : "scatter"},
            {"case", or_null(comparison.case_noise)},
            {"variant", or_null(comparison.variant_noise)},
            {"least_ratio_of_case", comparison.least_of_case},
            {"least_ratio_of_variant", comparison.least_of_variant}};
}

void print_machine(const Comparison& comparison) {
    if (!comparison.machine) return;
    const double ratio = *comparison.machine;
    std::string range;
    if (comparison.problems.size() > 1)
        range = fmt::format(" (its problems {:.2f}x to {:.2f}x)", comparison.problems.back().ratio,
                            comparison.problems.front().ratio);
    to_stdout("the machine as a whole: {:.3f}x {}{}: not counted\n", ratio >= 1 ? ratio : 1 / ratio,
              ratio >= 1 ? "slower" : "faster", range);
}

std::string change_line(Change change, const RatioInterval& relative) {
    return fmt::format("{:8} {:.3f} [{:.3f}, {:.3f}]", to_string(change), relative.ratio, relative.lo, relative.hi);
}

void print_changes(const Comparison& comparison, bool all) {
    for (const BrokenCase& one : comparison.broken)
        to_stdout("broken   {}: {}: {}\n", one.key, one.status, printable(one.reason));
    for (const ComparedVariant& one : comparison.variants)
        if (all || one.change != Change::same)
            to_stdout("{}  {} on {}\n", change_line(one.change, one.relative), one.name,
                      counted(one.problems, "problem"));
    for (const ComparedCase& one : comparison.cases)
        if (all || one.change != Change::same)
            to_stdout("{}  {:.4g} -> {:.4g} us  {}{}\n", change_line(one.change, one.relative), one.before_ns / 1000,
                      one.after_ns / 1000, one.key, one.source_changed ? "  (its source changed)" : "");
}

}  // namespace

Json comparison_json(const Comparison& comparison) {
    Json broken = Json::array(), problems = Json::array();
    for (const BrokenCase& one : comparison.broken)
        broken.push_back({{"case", one.key}, {"status", one.status}, {"reason", printable(one.reason)}});
    for (const ShiftedProblem& one : comparison.problems)
        problems.push_back({{"problem", one.problem}, {"ratio", one.ratio}});
    return {{"sessions", {comparison.sessions_before, comparison.sessions_after}},
            {"compared", comparison.cases.size()},
            {"slower", comparison.count(Change::slower)},
            {"faster", comparison.count(Change::faster)},
            {"slower_variants", comparison.count_variants(Change::slower)},
            {"faster_variants", comparison.count_variants(Change::faster)},
            {"mended", comparison.mended},
            {"only_before", comparison.only_before},
            {"only_after", comparison.only_after},
            {"disturbed", comparison.disturbed.cases},
            {"disturbed_measurements", comparison.disturbed.measurements},
            {"disturbed_by", comparison.disturbed.cause},
            {"relative_to_machine", comparison.alone},
            {"machine_ratio", or_null(comparison.machine)},
            {"noise", noise_json(comparison)},
            {"regression", comparison.regression()},
            {"broken", std::move(broken)},
            {"variants", variants_json(comparison)},
            {"problems", std::move(problems)},
            {"cases", cases_json(comparison)}};
}

void print_comparison(const Comparison& comparison, bool all) {
    print_machine(comparison);
    print_changes(comparison, all);
    to_stdout("{} compared: {} slower, {} faster, {} broken, {} mended\n", counted(comparison.cases.size(), "case"),
              comparison.count(Change::slower), comparison.count(Change::faster), comparison.broken.size(),
              comparison.mended);
    if (comparison.cases.empty()) return;
    to_stdout("{} compared: {} slower, {} faster\n", counted(comparison.variants.size(), "variant"),
              comparison.count_variants(Change::slower), comparison.count_variants(Change::faster));
    to_stdout("{} before, {} after: a case counts as slower from {:.2f}x on, a variant from {:.2f}x (half of them)\n",
              counted(comparison.sessions_before, "session"), comparison.sessions_after, comparison.least_of_case,
              comparison.least_of_variant);
}

void tell_limits(const Comparison& comparison) {
    if (comparison.disturbed.measurements)
        to_stderr(
            "warning: left out, because {}: {}; {} no other on one of the sides. Sweep again on a quiet "
            "machine, or judge them all the same with --allow-disturbed\n",
            comparison.disturbed.cause, counted(comparison.disturbed.measurements, "measurement"),
            counted(comparison.disturbed.cases, "case has", "cases have"));
    if (comparison.repeated)
        to_stderr("warning: {} in two of the sweeps: the first one counts\n",
                  counted(comparison.repeated, "measurement is", "measurements are"));
    if (comparison.only_before + comparison.only_after)
        to_stderr("with a time before only: {}, after only: {}\n", counted(comparison.only_before, "case"),
                  comparison.only_after);
    if (comparison.cases.empty()) return;
    if (!comparison.tells_variants)
        to_stderr(
            "fewer than three variants: whether one changed or the machine did cannot be told; compare more "
            "families, or several sessions a side\n");
    else if (comparison.alone)
        to_stderr(
            "{} on problems of fewer than three variants, where a change cannot be told from a shift of the "
            "problem: judged relative to the machine\n",
            counted(comparison.alone, "case is", "cases are"));
}

}  // namespace espalier::bench::cli
