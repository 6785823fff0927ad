#include "harness/bench/tune/measure/bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "harness/base/clock.hpp"
#include "harness/base/failure.hpp"
#include "harness/base/statistics.hpp"
#include "harness/base/stop.hpp"
#include "harness/bench/sweep/worker/progress_page.hpp"
#include "harness/bench/tune/measure/oracle.hpp"
#include "harness/bench/tune/space/launch.hpp"
#include "harness/bench/tune/worker/inputs.hpp"
#include "kernels/core/utc_time.hpp"

namespace espalier::bench::tune {
namespace {

namespace fs = std::filesystem;

/// How a worker ended, and what it was doing then.
struct WorkerEnd {
    int code = 0;
    std::string how;
    bool stalled = false;
    Phase phase = Phase::idle;
    std::uint32_t candidate = ProgressPage::kNoCandidate;
};

/// Starts a worker on a job and watches it until it ends, makes no step for too long, or the program is to stop.
WorkerEnd run_worker_process(const fs::path& job, const fs::path& findings, const fs::path& log, double timeout) {
    const SharedPage page;
    Child child({"/proc/self/exe", "tune-worker", "--job", job.string(), "--findings", findings.string(), "--page",
                 std::to_string(Child::kPageFile), "--parent", std::to_string(getpid())},
                log, page.file());
    std::uint64_t beats = 0;
    double last_step = steady_seconds();
    WorkerEnd end;
    while (!child.ended()) {
        usleep(2000);
        if (const std::uint64_t now = page->beats.load(std::memory_order_acquire); now != beats) {
            beats = now;
            last_step = steady_seconds();
        }
        end.stalled = steady_seconds() - last_step > timeout;
        if (end.stalled || stop_requested()) child.kill();
    }
    end.code = child.code();
    end.how = child.how();
    end.phase = page->phase.load();
    end.candidate = page->candidate.load();
    return end;
}

std::vector<Finding> findings_in(const fs::path& file) {
    std::ifstream stream(file);
    std::vector<Finding> all;
    for (std::string line; std::getline(stream, line);)
        if (line.ends_with('}')) all.push_back(decode_finding(line));  // not the part of one that a crash left
    return all;
}

}  // namespace

/// Configurations on their way through a worker or several.
struct Bench::Batch {
    std::size_t problem = 0;
    Goal goal;
    bool reference = false;
    fs::path save;  ///< where the first one's outputs go
    std::vector<Outcome> outcomes;
    std::vector<Compiled> compiled;
    std::vector<char> verified, closed;     ///< of each; nothing more is to be found out of a closed one
    std::vector<std::size_t> candidates{};  ///< of the job: their places here

    [[nodiscard]] bool open() const { return std::ranges::count(closed, 0) > 0; }
    void close(std::size_t i, Invalidity invalidity, const std::string& reason) {
        closed[i] = 1;
        outcomes[i].invalidity = invalidity;
        outcomes[i].reason = reason;
    }
};

Bench::Bench(const Description& description, const TuneOptions& options)
    : description_(description), options_(options), start_(steady_seconds()) {
    Batch nothing;
    run_once(nothing);
    if (!hello_.device)
        throw Failure(ExitCode::no_device, "GPU " + options.device + " cannot be opened: " + hello_.reason);
    check_arguments(description, hello_.device->memory_bytes);
    compiler_.emplace(description, options, *hello_.device, folder_.path());
}

double Bench::elapsed() const { return steady_seconds() - start_; }

std::vector<Outcome> Bench::measure(std::size_t problem, const std::vector<Configuration>& configurations,
                                    const Goal& goal) {
    if (configurations.empty()) return {};
    expect(problem);
    Batch batch{.problem = problem, .goal = goal};
    for (const Configuration& one : configurations)
        batch.outcomes.push_back({.configuration = one, .problem = problem});
    compile(batch);
    while (batch.open() && !stop_requested() && run_once(batch)) {
    }
    std::vector<Outcome> known;
    for (std::size_t i = 0; i < batch.outcomes.size(); ++i)
        if (batch.closed[i]) known.push_back(std::move(batch.outcomes[i]));
    return known;
}

void Bench::expect(std::size_t problem) {
    if (expected_.contains(problem)) return;
    const fs::path file = folder_.path() / fmt::format("expected_{}.bin", problem);
    const Reference::Kind kind = description_.reference.kind;
    if (kind == Reference::Kind::python || kind == Reference::Kind::library)
        run_oracle(description_, problem, folder_.path(), options_.timeout_seconds, file);
    else
        expect_of_reference(problem, file);
    expected_[problem] = file;
}

/// Runs the reference kernel once and keeps its outputs as the right ones.
void Bench::expect_of_reference(std::size_t problem, const fs::path& file) {
    Batch batch{.problem = problem, .goal = {}, .reference = true, .save = file};
    batch.outcomes.push_back({.configuration = description_.reference.configuration, .problem = problem});
    compile(batch);
    while (batch.open() && !stop_requested() && run_once(batch)) {
    }
    if (stop_requested()) throw Failure(ExitCode::interrupted, "stopped before anything was measured");
    const Outcome& outcome = batch.outcomes.front();
    std::error_code ignored;
    if (outcome.invalidity == Invalidity::correct && fs::exists(file, ignored)) return;
    throw Failure(ExitCode::failed_variants,
                  fmt::format("the reference, {} with {}, does not run ({}): {}", description_.reference.launch.kernel,
                              description_.configuration_text(outcome.configuration), to_string(outcome.invalidity),
                              outcome.reason));
}

void Bench::compile(Batch& batch) {
    const std::size_t count = batch.outcomes.size();
    batch.compiled.resize(count);
    batch.verified.assign(count, 0);
    batch.closed.assign(count, 0);
    const LaunchRule& rule = batch.reference ? description_.reference.launch : description_.launch;
    std::vector<Configuration> possible;
    for (std::size_t i = 0; i < count; ++i) {
        const Configuration& one = batch.outcomes[i].configuration;
        const LaunchShape shape = launch_shape(description_, rule, one, batch.problem);
        if (shape.refusal.empty())
            possible.push_back(one);
        else
            batch.close(i, Invalidity::constraints, shape.refusal);
    }
    const std::vector<Compiled> compiled = compiler_->compile(possible, batch.reference);
    for (std::size_t i = 0, c = 0; i < count; ++i) {
        if (batch.closed[i]) continue;
        batch.compiled[i] = compiled[c++];
        batch.outcomes[i].compile_seconds = batch.compiled[i].seconds;
        if (batch.compiled[i].invalidity != Invalidity::correct)
            batch.close(i, batch.compiled[i].invalidity, batch.compiled[i].reason);
    }
}

/// One worker on all that is open. False if there is no sense in another one.
bool Bench::run_once(Batch& batch) {
    Job job{.description = fs::absolute(description_.path),
            .device = options_.device,
            .problem = batch.problem,
            .caches = hello_.device ? caches() : options_.caches,
            .save = batch.save,
            .timed = !batch.reference,
            .noise = batch.goal.noise,
            .seconds = batch.goal.seconds,
            .seed = options_.seed,
            .counters = batch.goal.counters};
    if (const auto expected = expected_.find(batch.problem); expected != expected_.end())
        job.expected = expected->second;
    batch.candidates.clear();
    for (std::size_t i = 0; i < batch.outcomes.size(); ++i) {
        if (batch.closed[i]) continue;
        batch.candidates.push_back(i);
        job.candidates.push_back({batch.outcomes[i].configuration, batch.compiled[i].module, batch.compiled[i].kernel,
                                  batch.verified[i] != 0, batch.reference});
    }
    const fs::path file = folder_.path() / fmt::format("job_{}.json", jobs_), findings = file.string() + ".findings";
    ++jobs_;
    write_work_file(file, encode(job));
    const WorkerEnd end = run_worker_process(file, findings, file.string() + ".log", options_.timeout_seconds);
    read(findings, batch);
    if (end.code == 0 || stop_requested()) {
        // A reference is run, not timed; a candidate that is still open got no sample in time.
        for (const std::size_t i : batch.candidates)
            if (end.code == 0 && batch.reference) batch.closed[i] = 1;
        return false;
    }
    if (end.candidate == ProgressPage::kNoCandidate || end.candidate >= batch.candidates.size()) {
        hello_.reason = end.how;
        if (!batch.outcomes.empty())
            throw Failure(ExitCode::no_device, "the worker ended before a kernel ran: " + end.how);
        return false;
    }
    const std::size_t culprit = batch.candidates[end.candidate];
    if (!batch.closed[culprit]) {
        if (end.phase == Phase::counting)
            batch.closed[culprit] = 1;  // it is timed; nothing is counted
        else if (end.stalled)
            batch.close(culprit, Invalidity::timeout, fmt::format("no step for {} s", options_.timeout_seconds));
        else
            batch.close(culprit, Invalidity::runtime, end.how);
    }
    return true;
}

/// Enters what a worker found.
void Bench::read(const fs::path& file, Batch& batch) {
    std::optional<Conditions> conditions;
    for (const Finding& finding : findings_in(file)) {
        if (finding.device) hello_ = finding;
        if (finding.conditions) conditions = finding.conditions;
        if (!finding.candidate || *finding.candidate >= batch.candidates.size()) continue;
        const std::size_t i = batch.candidates[*finding.candidate];
        Outcome& outcome = batch.outcomes[i];
        if (finding.invalidity != Invalidity::correct) batch.close(i, finding.invalidity, finding.reason);
        if (finding.verified) {
            batch.verified[i] = 1;
            outcome.verify_seconds = finding.verify_seconds;
        }
        if (!finding.counters.empty() || !finding.counters_reason.empty()) {
            outcome.counters = finding.counters;
            outcome.counters_reason = finding.counters_reason;
        }
        if (finding.samples_ns.empty()) continue;
        const MedianInterval interval = median_interval(finding.samples_ns);
        outcome.samples_ns = finding.samples_ns;
        outcome.time_ns = interval.median, outcome.low_ns = interval.lo, outcome.high_ns = interval.hi;
        outcome.resolution_ns = finding.resolution_ns;
        outcome.conditions = conditions;
        outcome.at_seconds = elapsed();
        outcome.timestamp = utc_now();
        outcome.final = batch.goal.final;
        batch.closed[i] = 1;
    }
}

}  // namespace espalier::bench::tune
