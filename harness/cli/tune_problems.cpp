#include "harness/cli/tune_problems.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "espalier/explanation.hpp"
#include "harness/apps/io/memory.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/progress.hpp"
#include "harness/base/stop.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/records/disturbance.hpp"
#include "harness/bench/records/listed_problems.hpp"
#include "harness/bench/sweep/worker/processor_load.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/problem_plan.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/dispatch/wisdom.hpp"

namespace espalier::bench::cli {
namespace {

enum class Outcome { planned, learned, known, not_measured };
constexpr const char* kOutcomeNames[] = {"planned", "learned", "known", "not_measured"};

/// What became of a listed problem.
struct Tuned {
    ListedProblem listed;
    std::optional<Device> device{};  ///< none if it is not here
    Outcome outcome = Outcome::not_measured;
    std::string why{};                                 ///< it was not measured
    std::string tree_variant{}, tree_configuration{};  ///< what would run without wisdom
    const WisdomEntry* entry = nullptr;                ///< what was learned, now or before

    /// Nanoseconds that the recorded calls would take less.
    [[nodiscard]] double saved() const {
        return entry ? listed.of_all_calls() * (1 - 1 / std::max(entry->speedup, 1.0)) : 0;
    }
    [[nodiscard]] std::string device_key() const { return device ? device->key() : listed.device; }
};

/// The devices of this machine that problems may be measured on.
class DevicesHere {
public:
    explicit DevicesHere(const std::string& named) : named_(named) {
        all_.push_back(device_of(named));
        if (named != "auto") return;
        if (all_.front().is_cuda()) all_.push_back(Device::cpu());
        for (int ordinal = 1; all_.front().is_cuda(); ++ordinal) {
            const auto gpu = Device::cuda(ordinal);
            if (!gpu) break;
            all_.push_back(gpu.value());
        }
    }

    /// Nothing for a problem of another device; then `why` says so.
    [[nodiscard]] std::optional<Device> of(const ListedProblem& listed, std::string& why) const {
        if (listed.device.empty()) return all_.front();
        const auto found = std::ranges::find(all_, listed.device, &Device::key);
        if (found != all_.end()) return *found;
        why = named_ == "auto"
                  ? fmt::format("it was asked of {}, which is not here: tune there, or remove device=", listed.device)
                  : fmt::format("it was asked of {}, not of --device {}", listed.device, named_);
        return std::nullopt;
    }

private:
    std::string named_;
    std::vector<Device> all_;
};

espalier::Options options_for(const Tuned& tuned) {
    return {.deterministic = tuned.listed.deterministic, .threads = tuned.device->is_cuda() ? 0 : tuned.listed.threads};
}

/// Inputs and outputs, once as the device has them, and outputs twice more to be compared.
std::optional<std::string> too_large(const ListedProblem& listed) {
    constexpr double kCopies = 3;
    const double needed = kCopies * static_cast<double>(family_named(listed.family).data_bytes(listed.problem));
    const double there = static_cast<double>(io::available_memory());
    if (needed <= there) return std::nullopt;
    return fmt::format("it is too large: it may need {:.3g} GiB, {:.3g} GiB are free", needed / 0x1p30, there / 0x1p30);
}

class Tuner {
public:
    explicit Tuner(const TuneProblemsOptions& options)
        : options_(options),
          devices_(options.device),
          budget_seconds_(options.budget == "0" ? 0 : parse_duration(options.budget, "--budget")),
          max_seconds_(options.max_time.empty() ? 0 : parse_duration(options.max_time, "--max-time")),
          started_(steady_seconds()) {}

    /// Finds out what can be measured here, and what runs so far.
    [[nodiscard]] Tuned prepared(const ListedProblem& listed) const {
        Tuned tuned{.listed = listed};
        tuned.device = devices_.of(listed, tuned.why);
        if (!tuned.device) return tuned;
        if (auto none = without_plan(listed.family, listed.problem)) return refused(tuned, *none);
        if (auto large = too_large(listed)) return refused(tuned, *large);
        const auto why = espalier::explain(*tuned.device, listed.family, listed.problem, options_for(tuned));
        if (!why) return refused(tuned, why.error().message);
        if (!why.value().forced_by.empty())
            return refused(tuned, why.value().forced_by + " forces a variant: unset it");
        remember_tree(why.value(), tuned);
        tuned.outcome = Outcome::planned;
        find_entry(why.value().problem, tuned);
        if (tuned.entry && (tuned.entry->exhaustive || !options_.exhaustive)) tuned.outcome = Outcome::known;
        return tuned;
    }

    /// Measures a problem that is planned.
    void measure(Tuned& tuned) const try {
        if (max_seconds_ > 0 && 3e-9 * tuned.listed.of_a_call() > left()) {
            tuned = refused(tuned, "the time of --max-time is over, or too short for it: tune again, or give more");
            return;
        }
        const espalier::PlanOptions planning{
            .effort = options_.exhaustive ? espalier::Effort::exhaustive : espalier::Effort::measure,
            .budget = std::chrono::nanoseconds(std::llround(1e9 * budget_of(tuned.listed)))};
        const std::vector<std::string> before = ignored_wisdom();
        const Result<void> plan =
            make_plan(tuned.listed.family, tuned.listed.problem, *tuned.device, options_for(tuned), planning);
        if (const auto after = ignored_wisdom(); after != before && !after.empty())
            throw Failure(ExitCode::bad_data, after.back());
        if (!plan) {
            tuned = refused(tuned, plan.error().message);
            return;
        }
        const auto why = value_or_fail(
            espalier::explain(*tuned.device, tuned.listed.family, tuned.listed.problem, options_for(tuned)));
        find_entry(why.problem, tuned);
        tuned.outcome = tuned.entry ? Outcome::learned : Outcome::not_measured;
        if (!tuned.entry)
            tuned.why = fmt::format("nothing else than {} can run, or fits the budget of {:.3g} s: give --budget more",
                                    tuned.tree_variant, budget_of(tuned.listed));
    } catch (const std::bad_alloc&) {
        tuned = refused(tuned, "there is not enough memory");
    }

private:
    static Tuned refused(Tuned tuned, std::string why) {
        tuned.outcome = Outcome::not_measured;
        tuned.why = std::move(why);
        return tuned;
    }

    static void remember_tree(const Explanation& why, Tuned& tuned) {
        tuned.tree_variant = why.variant, tuned.tree_configuration = why.configuration;
        if (why.measured_at.empty()) return;
        const auto first = std::ranges::find_if(why.ranking, [](const auto& one) { return one.infeasible.empty(); });
        if (first == why.ranking.end()) return;
        tuned.tree_variant = first->variant, tuned.tree_configuration = first->configuration;
    }

    static void find_entry(const std::string& problem, Tuned& tuned) {
        const DeviceState& state = state_of(*tuned.device);
        WisdomEntry like;
        like.family = tuned.listed.family, like.problem = problem, like.device = state.info.key;
        like.threads = tuned.device->is_cuda() ? 0 : threads_for(state, options_for(tuned));
        like.deterministic = tuned.listed.deterministic;
        tuned.entry = find_wisdom(like);
    }

    [[nodiscard]] double left() const { return max_seconds_ - (steady_seconds() - started_); }

    /// By default enough for a problem that takes long, too: rounds of some choices.
    [[nodiscard]] double budget_of(const ListedProblem& listed) const {
        constexpr double kLeastSeconds = 1, kCalls = 50;
        double budget = budget_seconds_;
        if (budget <= 0) budget = std::max(kLeastSeconds, kCalls * 1e-9 * listed.of_a_call());
        return max_seconds_ > 0 ? std::max(1e-3, std::min(budget, left())) : budget;
    }

    const TuneProblemsOptions& options_;
    DevicesHere devices_;
    double budget_seconds_, max_seconds_, started_;
};

std::string choice_text(const std::string& variant, const std::string& configuration) {
    return configuration == "default" ? variant : variant + " (" + configuration + ")";
}

std::string asked_text(const ListedProblem& listed) {
    std::string text = listed.threads > 0 ? ", " + counted(listed.threads, "thread") : "";
    if (listed.deterministic) text += ", deterministic";
    if (listed.calls > 0) text += fmt::format(": {:.6g} call{}", listed.calls, listed.calls == 1 ? "" : "s");
    if (listed.nanoseconds > 0)
        text += fmt::format("{} {:.4g} ms", listed.calls > 0 ? "," : ":", 1e-6 * listed.of_all_calls());
    return text;
}

std::string outcome_text(const Tuned& tuned) {
    const std::string tree = choice_text(tuned.tree_variant, tuned.tree_configuration);
    if (tuned.outcome == Outcome::not_measured) return "not measured: " + tuned.why;
    if (tuned.outcome == Outcome::planned) return "to be measured; so far " + tree;
    const WisdomEntry& entry = *tuned.entry;
    const std::string when = tuned.outcome == Outcome::known ? ", known since " + entry.date : "";
    const std::string of = fmt::format(", best of {}{}", entry.choices, when);
    const std::string winner = choice_text(entry.variant, entry.configuration);
    if (entry.speedup <= 1) return fmt::format("{}: {:.4g} us{}", winner, entry.nanoseconds * 1e-3, of);
    const std::string saves = tuned.saved() > 0 ? fmt::format(", {:.4g} ms less", 1e-6 * tuned.saved()) : "";
    return fmt::format("{} -> {}: {:.2f}x, {:.4g} us{}{}", tree, winner, entry.speedup, entry.nanoseconds * 1e-3, saves,
                       of);
}

nlohmann::ordered_json to_json(const Tuned& tuned) {
    const ListedProblem& listed = tuned.listed;
    nlohmann::ordered_json json{{"family", listed.family},
                                {"problem", listed.problem},
                                {"device", tuned.device_key()},
                                {"threads", listed.threads},
                                {"deterministic", listed.deterministic},
                                {"calls", listed.calls},
                                {"recorded_ns", listed.of_all_calls()},
                                {"outcome", kOutcomeNames[static_cast<std::size_t>(tuned.outcome)]},
                                {"why", tuned.why},
                                {"tree_variant", tuned.tree_variant},
                                {"tree_configuration", tuned.tree_configuration}};
    if (!tuned.entry) return json;
    json["variant"] = tuned.entry->variant;
    json["configuration"] = tuned.entry->configuration;
    json["speedup"] = tuned.entry->speedup;
    json["time_ns"] = tuned.entry->nanoseconds;
    json["choices"] = tuned.entry->choices;
    json["date"] = tuned.entry->date;
    json["saved_ns"] = tuned.saved();
    return json;
}

struct Totals {
    std::size_t count[4]{};
    double recorded = 0, saved = 0;  ///< ns

    explicit Totals(const std::vector<Tuned>& all) {
        for (const Tuned& tuned : all) {
            ++count[static_cast<std::size_t>(tuned.outcome)];
            recorded += tuned.listed.of_all_calls(), saved += tuned.saved();
        }
    }
    [[nodiscard]] std::size_t of(Outcome outcome) const { return count[static_cast<std::size_t>(outcome)]; }
};

void print(const std::vector<Tuned>& all) {
    for (const Tuned& tuned : all)
        to_stdout("{} {} on {}{}\n    {}\n", tuned.listed.family, tuned.listed.problem, tuned.device_key(),
                  asked_text(tuned.listed), outcome_text(tuned));
}

void report(const TuneProblemsOptions& options, const std::string& wisdom, const std::vector<Tuned>& all) {
    const Totals totals(all);
    if (options.json) {
        nlohmann::ordered_json json{{"wisdom", wisdom}, {"problems", nlohmann::ordered_json::array()}};
        for (const Tuned& tuned : all) json["problems"].push_back(to_json(tuned));
        json["recorded_ns"] = totals.recorded;
        json["saved_ns"] = totals.saved;
        print_json(json, 1);
    } else {
        print(all);
    }
    if (options.quiet) return;
    if (options.dry_run)
        return to_stderr("{} to be measured, {} known, {} cannot be measured\n", totals.of(Outcome::planned),
                         totals.of(Outcome::known), totals.of(Outcome::not_measured));
    to_stderr("{} measured into {}, {} known, {} not measured\n", counted(totals.of(Outcome::learned), "problem"),
              printable(wisdom), totals.of(Outcome::known), totals.of(Outcome::not_measured));
    if (totals.recorded > 0)
        to_stderr("expected: {:.4g} ms of the recorded {:.4g} ms less, {:.2f}x\n", 1e-6 * totals.saved,
                  1e-6 * totals.recorded, totals.recorded / (totals.recorded - totals.saved));
    if (totals.of(Outcome::learned) + totals.of(Outcome::known) > 0)
        to_stderr("programs go by it with ESPALIER_WISDOM='{}'\n", printable(wisdom));
}

/// Watches what else ran while problems were measured: times of all threads bear nothing beside them.
class Watch {
public:
    /// "other programs used 48% of the processors"; empty if all was quiet, or too short to tell.
    [[nodiscard]] std::string disturbance() const {
        constexpr double kLeastSeconds = 0.5;
        const auto load = load_between(begin_, read_load(getpid()));
        if (!load || load->seconds < kLeastSeconds) return {};
        const auto taken = taken_by_others(load->foreign_share, load->steal_share, load->processors);
        return taken ? describe(*taken) : "";
    }

private:
    LoadReading begin_ = read_load(getpid());
};

/// The file that wisdom is written to; empty if a dry run names none.
std::string wisdom_file(const TuneProblemsOptions& options) {
    if (!options.output.empty()) return options.output;
    const char* const named = std::getenv("ESPALIER_WISDOM");
    if (named && *named) return named;
    if (options.dry_run) return {};
    throw Failure(ExitCode::usage, "no file of wisdom is named: give --output FILE, or set ESPALIER_WISDOM=FILE");
}

void use_wisdom(const std::string& file) {
    if (file.empty()) return;
    const LoadedWisdom loaded = use_wisdom_file(file);
    if (!loaded.ignored.empty()) to_stderr("warning: {}\n", loaded.ignored);
}

/// What is learned is appended when it is known: whether it can be shows now, not after minutes of measuring.
void refuse_without_access(const std::string& file) {
    const bool exists = access(file.c_str(), F_OK) == 0;
    const std::string folder = std::filesystem::path(file).parent_path().string();
    const char* const changed = exists ? file.c_str() : folder.empty() ? "." : folder.c_str();
    if (access(changed, exists ? W_OK : W_OK | X_OK) == 0) return;
    throw Failure(ExitCode::bad_data,
                  fmt::format("{}: nothing can be appended to it: {}: name a file in a folder that is there and can be "
                              "written",
                              printable(file), std::strerror(errno)));
}

}  // namespace

void tune_problems(const TuneProblemsOptions& options, ExitCode& code) {
    const std::string wisdom = wisdom_file(options);
    refuse_same_files({{options.output.empty() ? "ESPALIER_WISDOM" : "--output", wisdom}},
                      {{"--problems", options.problems}});
    const std::vector<ListedProblem> listed = read_listed_problems(options.problems);
    use_wisdom(wisdom);
    if (!options.dry_run) refuse_without_access(wisdom);
    const Tuner tuner(options);
    const StopOnSignals stopping;
    const Watch watch;
    std::vector<Tuned> all;
    {
        RunProgress progress(options.quiet);
        for (const ListedProblem& one : listed) {
            if (stop_requested()) break;
            progress.show(fmt::format("problem {} of {}, {}", all.size() + 1, listed.size(), one.family),
                          static_cast<double>(all.size()) / static_cast<double>(listed.size()));
            Tuned& tuned = all.emplace_back(tuner.prepared(one));
            if (tuned.outcome == Outcome::planned && !options.dry_run) tuner.measure(tuned);
        }
    }
    const std::string disturbance = options.dry_run ? "" : watch.disturbance();
    report(options, wisdom, all);
    if (Totals(all).of(Outcome::learned) > 0 && !disturbance.empty())
        to_stderr("warning: {} meanwhile: on a quiet machine, into a new file, other choices may win\n", disturbance);
    if (Totals(all).of(Outcome::not_measured) == all.size()) code = ExitCode::failed_variants;
    if (stop_requested()) code = static_cast<ExitCode>(128 + stop_signal());
}

}  // namespace espalier::bench::cli
