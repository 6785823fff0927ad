#include "harness/cli/case_filter.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>

#include "harness/bench/families/family.hpp"
#include "kernels/core/similar_name.hpp"

namespace espalier::bench::cli {

void CaseFilter::add_options(CLI::App& command) {
    // One value a word: what follows may be a path.
    command.add_option("--family", family_words_, "only these")->delimiter(',')->allow_extra_args(false);
    command.add_option("--filter", filter_word_,
                       "only cases whose family/variant|problem|configuration this regular expression finds");
    command
        .add_option("-p", axis_words_,
                    "only problems with these values: rows=1000, rows=1000:1000000 or "
                    "rows=1000:1000000:x10; may be repeated")
        ->type_name("AXIS=VALUES")
        ->allow_extra_args(false);
}

void CaseFilter::interpret() {
    for (const std::string& family : family_words_) families_.emplace_back(family_named(family).name());
    for (const std::string& axis : axis_words_) axes_.push_back(parse_axis_values(axis));
    if (filter_word_.empty()) return;
    RE2::Options options(RE2::Quiet);  // it searches in linear time, whatever is asked for
    options.set_max_mem(std::int64_t{16} << 20);
    filter_ = std::make_shared<const RE2>(filter_word_, options);
    if (!filter_->ok())
        throw Failure(ExitCode::usage, "--filter '" + filter_word_ + "' is no regular expression: " + filter_->error() +
                                           ": correct it; RE2's syntax is meant");
}

bool CaseFilter::asks_for(const CaseRecord& record) const {
    if (!families_.empty() && !std::ranges::count(families_, record.family)) return false;
    if (filter_ && !RE2::PartialMatch(record.key(), *filter_)) return false;
    return std::ranges::all_of(axes_, [&](const AxisValues& axis) {
        const auto value = record.axis(axis.axis);
        return value && axis.holds(std::string(*value));
    });
}

std::optional<std::string> CaseFilter::unknown_axis(const std::set<std::string>& axes) const {
    for (const AxisValues& asked : axes_) {
        if (axes.empty() || axes.contains(asked.axis)) continue;
        SimilarName meant(asked.axis);
        for (const std::string& axis : axes) meant.offer(axis);
        return fmt::format("no problem has an axis '{}'; there are {}{}", asked.axis, fmt::join(axes, ", "),
                           meant.question());
    }
    return std::nullopt;
}

}  // namespace espalier::bench::cli
