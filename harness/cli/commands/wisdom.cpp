// espalier wisdom: what measuring plans learned, in files that programs wrote, and what of it counts here.

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "harness/base/files/read_file.hpp"
#include "harness/base/files/replaced_file.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/print_json.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/wisdom_entry.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/text_lines.hpp"

namespace espalier::bench::cli {
namespace {

struct Arguments {
    std::vector<std::string> files;
    std::string family, device, output;
    bool used = false;
    bool json = false;
};

struct Line {
    WisdomEntry entry;
    std::string stale;  ///< why it is of no use here; empty if it counts
};

/// The entries of files, in the order of their problems; of two for one problem the later counts.
class Entries {
public:
    void read(const std::string& path) {
        std::size_t damaged = 0;
        std::string first;
        for_each_line(read_named_file(path), [&](std::string_view line, std::size_t number) {
            try {
                add(read_wisdom_line(line));
            } catch (const BadData& error) {
                if (damaged++ == 0) first = fmt::format("line {}: {}", number, error.what());
            }
        });
        if (damaged > 0)
            to_stderr("warning: {}: {} left out, the first is {}\n", printable(path), counted(damaged, "damaged line"),
                      first);
    }

    [[nodiscard]] std::vector<const Line*> of(const Arguments& asked) const {
        std::vector<const Line*> list;
        for (const auto& [place, line] : lines_)
            if ((asked.family.empty() || line->entry.family == asked.family) &&
                (asked.device.empty() || line->entry.device == asked.device) && (!asked.used || line->stale.empty()))
                list.push_back(line);
        return list;
    }

private:
    using Place = std::tuple<std::string, std::string, std::string, int, bool>;

    void add(const WisdomEntry& entry) {
        const KernelFamily* const family = find_kernel_family(entry.family);
        if (!family) throw BadData("no family is called " + printable(entry.family));
        // Never freed: the library may refer to what it learns.
        static std::deque<Line>& all = *new std::deque<Line>;
        Line& line = all.emplace_back(Line{entry, {}});
        if (const auto why = family->learn(line.entry)) line.stale = *why;
        lines_[{entry.family, entry.device, entry.problem, entry.threads, entry.deterministic}] = &line;
    }

    std::map<Place, const Line*> lines_;
};

nlohmann::ordered_json to_json(const Line& line) {
    const WisdomEntry& entry = line.entry;
    return {{"family", entry.family},
            {"problem", entry.problem},
            {"device", entry.device},
            {"threads", entry.threads},
            {"deterministic", entry.deterministic},
            {"variant", entry.variant},
            {"configuration", entry.configuration},
            {"effort", entry.exhaustive ? "exhaustive" : "measure"},
            {"date", entry.date},
            {"speedup", entry.speedup},
            {"time_ns", entry.nanoseconds},
            {"choices", entry.choices},
            {"driver", entry.driver},
            {"library", entry.library},
            {"stale", line.stale}};
}

std::string conditions(const WisdomEntry& entry) {
    std::string text;
    if (entry.threads > 0) text = ", " + counted(entry.threads, "thread");
    return entry.deterministic ? text + ", deterministic" : text;
}

/// Two lines each: the problem, and what runs for it.
void print(const std::vector<const Line*>& lines) {
    for (const Line* line : lines) {
        const WisdomEntry& entry = line->entry;
        to_stdout("{} {} on {}{}\n", entry.family, entry.problem, entry.device, conditions(entry));
        to_stdout("    {}{}: {:.4g} us, {:.2f}x the tree's choice, best of {}, {}\n", entry.variant,
                  entry.configuration == "default" ? "" : " (" + entry.configuration + ")", entry.nanoseconds * 1e-3,
                  entry.speedup, entry.choices, entry.date);
        if (!line->stale.empty()) to_stdout("    stale: {}\n", line->stale);
    }
}

void write(const std::string& path, const std::vector<const Line*>& lines) {
    ReplacedFile file(path);
    file.write("# Wisdom of espalier: what plans measured, a line each.\n");
    for (const Line* line : lines) file.write(wisdom_line(line->entry) + "\n");
    file.commit();
}

void run_wisdom(const Arguments& arguments) {
    std::vector<NamedFile> inputs;
    for (const std::string& file : arguments.files) inputs.push_back({"", file});
    refuse_same_files({{"--output", arguments.output}}, inputs);
    Entries entries;
    for (const std::string& file : arguments.files) entries.read(file);
    const std::vector<const Line*> lines = entries.of(arguments);
    if (!arguments.output.empty()) {
        write(arguments.output, lines);
    } else if (arguments.json) {
        auto output = nlohmann::ordered_json::array();
        for (const Line* line : lines) output.push_back(to_json(*line));
        print_json(output, 1);
    } else {
        print(lines);
    }
    const auto stale = std::ranges::count_if(lines, [](const Line* line) { return !line->stale.empty(); });
    to_stderr("{}, {} of them stale here\n", counted(lines.size(), "problem"), stale);
}

}  // namespace

void add_wisdom(CLI::App& program, ExitCode&) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App& command = *program.add_subcommand("wisdom", "Lists and merges what plans that measure have learned");
    command.add_option("files", arguments->files, "files of save_wisdom or ESPALIER_WISDOM; later entries count")
        ->required();
    command.add_option("--family", arguments->family, "only this family's")->check(one_of([] {
        std::vector<std::string> names;
        for (const std::string_view name : family_names()) names.emplace_back(name);
        return names;
    }()));
    command.add_option("--device", arguments->device, "only of this device key");
    command.add_flag("--used", arguments->used,
                     "only what is in use here: not measured with another driver or library");
    command.add_option("-o,--output", arguments->output, "write what is listed to this file, as a file of wisdom");
    command.add_flag("--json", arguments->json, "print JSON");
    command.callback([arguments] { run_wisdom(*arguments); });
}

}  // namespace espalier::bench::cli
