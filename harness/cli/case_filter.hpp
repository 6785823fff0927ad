#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/parse.hpp"

namespace re2 {
class RE2;
}

namespace espalier::bench::cli {

/// The options --family, --filter and -p of commands that read records: which of the cases are asked for.
class CaseFilter {
public:
    /// Adds the options. The filter must outlive the parsing.
    void add_options(CLI::App& command);
    /// Reads the options' values, after parsing. Throws `Failure` with the exit code for wrong usage.
    void interpret();

    [[nodiscard]] bool asks_for(const CaseRecord& record) const;
    /// Whether it leaves anything out.
    [[nodiscard]] bool active() const { return !families_.empty() || filter_ || !axes_.empty(); }
    /// What to say of an axis that none of the records has, whose axes are these: it may be mistyped. Nothing if there
    /// is no such axis.
    [[nodiscard]] std::optional<std::string> unknown_axis(const std::set<std::string>& axes) const;

private:
    std::vector<std::string> family_words_, axis_words_;
    std::string filter_word_;
    std::vector<std::string> families_;
    std::shared_ptr<const re2::RE2> filter_;  ///< null: every case
    std::vector<AxisValues> axes_;
};

}  // namespace espalier::bench::cli
