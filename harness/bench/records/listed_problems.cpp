#include "harness/bench/records/listed_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>

#include "harness/base/files/read_file.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/bench/families/family.hpp"
#include "kernels/core/similar_name.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/names.hpp"
#include "kernels/json/text_lines.hpp"

namespace espalier::bench {
namespace {

constexpr std::array<std::string_view, 9> kFields{"schema",        "family", "problem", "device",     "threads",
                                                  "deterministic", "calls",  "timed",   "nanoseconds"};
constexpr std::string_view kListSchema = "1";
constexpr double kMostThreads = 1 << 20, kMostCalls = 1e15, kMostNanoseconds = 1e18;  // thirty years

[[noreturn]] void refuse_field(std::string_view name) {
    SimilarName meant(name);
    std::string known;
    for (const std::string_view field : kFields) {
        meant.offer(field);
        known.append(known.empty() ? "" : ", ").append(field);
    }
    const std::string question = meant.question();
    throw BadData(fmt::format("there is no field '{}'{}", name.substr(0, 60),
                              question.empty() ? "; there are " + known : question));
}

/// "family=dot problem=elements=5 calls=3 ..." as its fields.
class ListedLine {
public:
    explicit ListedLine(std::string_view line) {
        while (!line.empty()) {
            const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
            line.remove_prefix(std::min(line.size(), word.size() + 1));
            if (!word.empty()) add(word);
        }
        if (const std::string_view schema = text("schema"); !schema.empty() && schema != kListSchema)
            throw BadData(fmt::format("another version of espalier wrote it, schema={}; this one reads schema={}",
                                      schema.substr(0, 20), kListSchema));
        for (const char* name : {"family", "problem"})
            if (text(name).empty()) throw BadData(fmt::format("it lacks {}=", name));
        if (text("schema").empty()) return;
        for (const char* name : {"device", "threads", "calls", "timed", "nanoseconds"})
            if (text(name).empty())
                throw BadData(fmt::format("it was cut off: as it was recorded it has {}=, too", name));
    }

    /// Empty if it is not there.
    [[nodiscard]] std::string_view text(std::string_view name) const {
        const auto field = fields_.find(name);
        return field == fields_.end() ? std::string_view{} : field->second;
    }

    /// 0 if it is not there.
    [[nodiscard]] double number(std::string_view name, double most) const {
        if (!fields_.contains(name)) return 0;
        const std::string_view value = text(name);
        double number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc{} || end != value.data() + value.size() || !(number >= 0 && number <= most))
            throw BadData(fmt::format("{}={} is no number from 0 to {:g}", name, value.substr(0, 60), most));
        return number;
    }

    [[nodiscard]] int whole(std::string_view name, double most) const {
        const double value = number(name, most);
        if (value != std::floor(value)) throw BadData(fmt::format("{}={} is no whole number", name, text(name)));
        return static_cast<int>(value);
    }

private:
    void add(std::string_view word) {
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos) throw BadData(fmt::format("'{}' is no name=value", word.substr(0, 60)));
        const std::string_view name = word.substr(0, equals);
        if (std::ranges::find(kFields, name) == kFields.end()) refuse_field(name);
        if (!fields_.try_emplace(name, word.substr(equals + 1)).second)
            throw BadData(fmt::format("it says {}= twice", name));
    }

    std::map<std::string_view, std::string_view> fields_;
};

/// Bytes and steps are products of at most four sizes: beyond this nothing could count them.
void refuse_beyond_counting(std::string_view problem) {
    constexpr double kMost = 1e18;
    constexpr std::size_t kFactors = 4;
    std::vector<double> sizes;
    for (std::size_t at = problem.find('='); at != std::string_view::npos; at = problem.find('=', at + 1)) {
        double size = 0;
        std::from_chars(problem.data() + at + 1, problem.data() + problem.size(), size);
        sizes.push_back(std::max(size, 1.0));
    }
    std::ranges::sort(sizes, std::greater{});
    double product = 1;
    for (std::size_t i = 0; i < std::min(kFactors, sizes.size()); ++i) product *= sizes[i];
    if (!(product <= kMost)) throw BadData("its sizes are beyond any device");
}

ListedProblem read_line(std::string_view text) {
    const ListedLine line(text);
    const std::string name(line.text("family"));
    const Family* const family = find_family(name);
    if (!family) {
        SimilarName meant(name);
        for (const Family* other : families()) meant.offer(other->name());
        throw BadData("no family is called " + name.substr(0, 60) + meant.question());
    }
    const std::string device(line.text("device"));
    if (!device.empty() && !valid_device_key(device))
        throw BadData("device=" + device.substr(0, 80) + " is no device key");
    const std::string problem = family->canonical(line.text("problem"));
    refuse_beyond_counting(problem);
    return {.family = name,
            .problem = problem,
            .device = device,
            .threads = line.whole("threads", kMostThreads),
            .deterministic = line.whole("deterministic", 1) == 1,
            .calls = line.number("calls", kMostCalls),
            .timed = line.number("timed", kMostCalls),
            .nanoseconds = line.number("nanoseconds", kMostNanoseconds)};
}

[[noreturn]] void refuse_listed(const std::string& file, std::size_t number, const std::string& why) {
    throw BadData(fmt::format("{}: line {}: {}: mend the line, or remove it", printable(file), number, printable(why)));
}

}  // namespace

double ListedProblem::of_a_call() const { return timed > 0 ? nanoseconds / timed : nanoseconds / std::max(calls, 1.0); }

double ListedProblem::of_all_calls() const { return of_a_call() * std::max({calls, timed, 1.0}); }

std::vector<ListedProblem> read_listed_problems(const std::string& file) {
    return listed_problems_in(read_named_file(file), file);
}

std::vector<ListedProblem> listed_problems_in(std::string_view text, const std::string& file) {
    using Place = std::tuple<std::string, std::string, std::string, int, bool>;
    std::map<Place, ListedProblem> all;
    espalier::for_each_line(text, [&](std::string_view line, std::size_t number) {
        try {
            ListedProblem read = read_line(line);
            const Place place{read.family, read.problem, read.device, read.threads, read.deterministic};
            const auto [known, added] = all.try_emplace(place, read);
            if (added) return;
            known->second.calls += read.calls;
            known->second.timed += read.timed;
            known->second.nanoseconds += read.nanoseconds;
        } catch (const BadData& error) {
            refuse_listed(file, number, error.what());
        } catch (const BadProblem& error) {
            refuse_listed(file, number, error.what());
        }
    });
    if (all.empty())
        throw BadData(printable(file) + " lists no problem: run a program with ESPALIER_RECORD=" + printable(file));
    std::vector<ListedProblem> list;
    for (auto& [place, problem] : all) list.push_back(std::move(problem));
    std::ranges::stable_sort(list, [](const ListedProblem& a, const ListedProblem& b) {
        return std::tuple(-a.of_all_calls(), -a.calls) < std::tuple(-b.of_all_calls(), -b.calls);
    });
    return list;
}

}  // namespace espalier::bench
