#include "harness/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "harness/records/journal.hpp"
#include "harness/records/roofline.hpp"
#include "harness/sweep/clock.hpp"
#include "harness/sweep/forecast.hpp"
#include "harness/sweep/problem_run.hpp"
#include "harness/sweep/progress.hpp"
#include "harness/sweep/provenance.hpp"
#include "harness/sweep/statistics.hpp"
#include "harness/sweep/stop.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

/// Seconds of timing per problem, verification not counted: enough for 8 rounds of a dozen candidates
/// whose samples take a millisecond, and for the slow ones' three.
double timing_seconds(Effort effort) {
    switch (effort) {
        case Effort::quick: return 0.5;
        case Effort::standard: return 4;
        case Effort::full: return 20;
    }
    return 4;
}

/// One journal per device and shard: shards of a cluster append to files of their own.
fs::path journal_path(const SweepOptions& options, const std::string& device_key) {
    std::string name = device_key;
    if (options.shards > 1) name += fmt::format(".shard-{}-of-{}", options.shard, options.shards);
    return options.journal_folder / (name + ".jsonl");
}

constexpr double kLeastSeconds = 2;  // for one problem

/// The sweep of one device.
class Sweep {
public:
    explicit Sweep(const SweepOptions& options) : options_(options), pool_(options.device) {}

    SweepSummary run() {
        const double start = steady_seconds();
        const StopOnSignals stopping;
        prepare();
        require_counters();
        ProgressLine progress(options_.quiet, plan_.problems.size(), options_.max_seconds.value_or(0));
        measure_ceilings(progress);
        JournalWriter journal(path_);
        if (!order_.empty()) journal.append(device_);
        journal.append(plan_record());
        measure_problems(journal, progress, start);
        summary_.wall_seconds = steady_seconds() - start;
        return summary_;
    }

    DryRun foresee() {
        prepare();
        DryRun dry{.device_key = device_.key};
        for (const PlannedProblem& planned : plan_.problems) {
            ++dry.problems;
            dry.cases += planned.cases.size();
            dry.unsupported += planned.cases.size() - planned.runnable();
            for (const PlannedCase& planned_case : planned.cases)
                dry.keys.push_back(new_record(planned, planned_case).key());
        }
        dry.expected_seconds = expected_seconds();
        if (options_.max_seconds) dry.expected_seconds = std::min(dry.expected_seconds, *options_.max_seconds);
        return dry;
    }

private:
    double expected_seconds() const {
        const Forecast forecast(options_.results_folder / device_.key, path_);
        // Where nothing is known the goal may not be met before the budget ends, and verification costs about the
        // oracle's second.
        const double otherwise = timing_seconds(options_.effort) + 1;
        double seconds = 0;
        for (const std::size_t index : order_)
            if (const PlannedProblem& planned = plan_.problems[index]; planned.runnable() > 0)
                seconds += forecast.seconds(std::string(planned.family->name()), planned.problem, planned.runnable(),
                                            otherwise);
        return seconds;
    }

    void prepare() {
        pool_.worker();
        device_ = pool_.hello().device;
        plan_ = make_plan(options_, device_, pool_.hello().free);
        cold_ = options_.cache == CacheMode::cold ||
                (options_.cache == CacheMode::automatic && device_.kind == DeviceKind::cuda);
        path_ = journal_path(options_, device_.key);
        summary_.device_key = device_.key;
        summary_.session = new_session();
        summary_.journal = path_.string();
        summary_.problems = plan_.problems.size();
        summary_.cases = plan_.cases();
        order_.resize(plan_.problems.size());
        for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
        std::mt19937_64 random(options_.seed);
        std::shuffle(order_.begin(), order_.end(), random);
        if (options_.resume && fs::exists(path_)) skip_what_is_done();
    }

    void require_counters() {
        if (options_.counters != CounterMode::require) return;
        const std::string refusal = counters_refusal(pool_);
        if (!refusal.empty()) throw NoUsableDevice("device " + options_.device + ": no hardware counters: " + refusal);
    }

    /// A problem is done when every case of it is in the journal, from the same sources, driver, runtime, build
    /// and cache mode, with an outcome other than `not_measured`. Ceilings that are there are kept: between the
    /// parts of one sweep they should not change.
    void skip_what_is_done() {
        std::set<std::string> done;
        const Journal journal = load_journal(path_);
        for (const DeviceInfo& known : journal.devices)
            if (known.name == device_.name && known.bytes_per_second > 0) device_ = known;
        for (const CaseRecord& record : journal.cases)
            if (record.status != Status::not_measured) done.insert(identity(record));
        std::erase_if(order_, [&](std::size_t index) {
            const PlannedProblem& planned = plan_.problems[index];
            const bool all = std::ranges::all_of(planned.cases, [&](const PlannedCase& planned_case) {
                return done.contains(identity(new_record(planned, planned_case)));
            });
            if (all) summary_.resumed_cases += planned.cases.size();
            return all;
        });
    }

    static std::string identity(const CaseRecord& record) {
        const Provenance& p = record.provenance;
        return fmt::format("{}|{}|{}|{}|{}|{}", record.key(), p.source_id, p.driver, p.runtime, p.build, p.cache);
    }

    void measure_ceilings(ProgressLine& progress) {
        if (order_.empty() || device_.bytes_per_second > 0) return;
        const Stopwatch watch(summary_.ceilings_seconds);
        const auto measured = with_ceilings(pool_, [&] { progress.update(0, "measuring the device's ceilings"); });
        summary_.interrupted = stop_requested();
        if (measured)
            device_ = *measured;
        else if (!summary_.interrupted)
            progress.say("espalier: the ceilings could not be measured: rooflines stay empty");
    }

    PlanRecord plan_record() const {
        PlanRecord record{.session = summary_.session,
                          .device_key = device_.key,
                          .plan = plan_.id,
                          .shard = options_.shard,
                          .shards = options_.shards,
                          .items = {}};
        for (const PlannedProblem& planned : plan_.problems)
            record.items.push_back({std::string(planned.family->name()), planned.problem,
                                    static_cast<std::int64_t>(planned.cases.size())});
        return record;
    }

    void measure_problems(JournalWriter& journal, ProgressLine& progress, double start) {
        for (std::size_t i = 0; i < order_.size() && !summary_.interrupted; ++i) {
            const PlannedProblem& planned = plan_.problems[order_[i]];
            const ProblemBudget budget = budget_for(order_[i], order_.size() - i, start);
            const double begun = steady_seconds();
            ProblemOutcome outcome = run_problem(pool_, planned, options_, budget,
                                                 [&](const std::string& what) { progress.update(i, what); });
            outcome.conditions.emplace_back(kProblemSeconds, steady_seconds() - begun);
            std::ranges::sort(outcome.conditions);
            if (outcome.stopped) {
                summary_.interrupted = true;
                return;
            }
            summary_.timing_seconds += outcome.timing_seconds;
            summary_.verification_seconds += outcome.verification_seconds;
            summary_.counting_seconds += outcome.counting_seconds;
            summary_.lost_seconds += outcome.lost_seconds;
            const auto records = records_of(planned, outcome);
            for (const CaseRecord& record : records) {
                ++summary_.statuses[record.status];
                if (is_failure(record.status))
                    progress.say(fmt::format("{} {} {}: {}: {}", record.family + "/" + record.variant, record.problem,
                                             record.configuration, to_string(record.status), record.reason));
            }
            journal.append(records);
        }
    }

    /// An equal share of what is left, so that early problems that finish early leave more to the rest; but no
    /// less than makes sense, so that too little time measures some problems well instead of none.
    ProblemBudget budget_for(std::size_t index, std::size_t problems_left, double start) const {
        ProblemBudget budget{.timing_seconds = timing_seconds(options_.effort),
                             .seed = options_.seed * 1'000'003 + index,
                             .cold = cold_};
        if (options_.max_seconds) {
            const double left = *options_.max_seconds - (steady_seconds() - start);
            budget.total_seconds = std::clamp(left / static_cast<double>(problems_left),
                                              std::min(kLeastSeconds, std::max(left, 0.0)), std::max(left, 0.0));
            // Judging again after timing takes about as long as before it.
            budget.timing_seconds = std::min(budget.timing_seconds, 0.6 * budget.total_seconds);
        }
        return budget;
    }

    CaseRecord new_record(const PlannedProblem& planned, const PlannedCase& planned_case) const {
        const VariantInfo& variant = planned.family->variants()[planned_case.variant];
        CaseRecord record;
        record.family = planned.family->name();
        record.variant = variant.name;
        record.role = to_string(variant.role);
        record.problem = planned.problem;
        record.configuration = planned_case.configuration.text();
        record.provenance = {.device_key = device_.key,
                             .driver = pool_.hello().driver,
                             .runtime = pool_.hello().runtime,
                             .build = pool_.hello().build,
                             .source_id = std::string(variant.source_id),
                             .cache = cold_ ? "cold" : "warm",
                             .session = summary_.session};
        return record;
    }

    std::vector<CaseRecord> records_of(const PlannedProblem& planned, const ProblemOutcome& outcome) const {
        const Cost cost = planned.family->cost(planned.problem);
        const auto values = planned.family->feature_values(planned.problem);
        std::vector<CaseRecord> records;
        for (std::size_t i = 0; i < planned.cases.size(); ++i) {
            const auto& ended = outcome.cases[i];
            CaseRecord record = new_record(planned, planned.cases[i]);
            record.status = ended.status;
            record.reason = ended.reason;
            record.bytes = cost.bytes;
            record.ops = cost.ops();
            record.floor_ns = floor_ns(cost, device_, !cold_);
            for (std::size_t f = 0; f < values.size(); ++f)
                record.features.emplace_back(planned.family->features()[f].name, values[f]);
            if (ended.status == Status::ok) {
                const auto interval = median_interval(ended.samples_ns);
                record.time_ns = interval.median;
                record.time_lo_ns = interval.lo;
                record.time_hi_ns = interval.hi;
                record.samples_ns = ended.samples_ns;
                record.verification = ended.verification;
                record.conditions = outcome.conditions;
            }
            record.counters = ended.counters;
            std::sort(record.counters.begin(), record.counters.end());
            record.counters_reason = options_.counters == CounterMode::off ? "not asked for" : ended.counters_reason;
            if (record.counters.empty() && record.counters_reason.empty()) record.counters_reason = "not timed";
            records.push_back(std::move(record));
        }
        return records;
    }

    const SweepOptions& options_;
    WorkerPool pool_;
    DeviceInfo device_;
    Plan plan_;
    std::vector<std::size_t> order_;  ///< of the problems still to measure
    bool cold_ = false;
    fs::path path_;
    SweepSummary summary_;
};

}  // namespace

double SweepSummary::overhead_share() const {
    if (!(wall_seconds > 0)) return 0;
    const double accounted = timing_seconds + verification_seconds + counting_seconds + ceilings_seconds + lost_seconds;
    return std::max(0.0, 1 - accounted / wall_seconds);
}

std::size_t SweepSummary::failed() const {
    std::size_t total = 0;
    for (const Status status : {Status::wrong, Status::crashed, Status::timeout, Status::out_of_memory})
        if (const auto found = statuses.find(status); found != statuses.end()) total += found->second;
    return total;
}

SweepSummary sweep(const SweepOptions& options) { return Sweep(options).run(); }

DryRun dry_run(const SweepOptions& options) { return Sweep(options).foresee(); }

}  // namespace espalier
