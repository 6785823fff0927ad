#include "harness/bench/tune/worker/worker.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "harness/base/clock.hpp"
#include "harness/bench/profile/ceilings.hpp"
#include "harness/bench/sweep/worker/case_counters.hpp"
#include "harness/bench/sweep/worker/condition_watch.hpp"
#include "harness/bench/sweep/worker/progress_page.hpp"
#include "harness/bench/sweep/worker/provenance.hpp"
#include "harness/bench/sweep/worker/timing.hpp"
#include "harness/bench/tune/worker/arena.hpp"
#include "harness/bench/tune/worker/job.hpp"

namespace espalier::bench::tune {
namespace {

std::string content_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Errors of CUDA from the first on that a kernel itself can cause leave a context of no use, but for that of a launch
/// that asks for more registers than there are.
bool spoils_context(int error) { return error >= 700 && error != 701; }

class JobRun {
public:
    JobRun(const WorkerOptions& options, ProgressPage& page)
        : job_(decode_job(content_of(options.job))),
          page_(page),
          findings_(options.findings, std::ios::app),
          description_(read_description(job_.description)),
          device_(device::open(std::stoi(job_.device))) {
        say({.device = device_, .driver = driver_version(device_), .runtime = runtime_version(device_)});
    }

    /// False if the process must not be used any more.
    bool run() {
        if (job_.candidates.empty()) return true;
        page_.step(Phase::preparing);
        arena_ = std::make_unique<Arena>(description_, job_.problem);
        if (!job_.expected.empty()) {
            const std::string bytes = content_of(job_.expected);
            const auto* from = reinterpret_cast<const std::byte*>(bytes.data());
            expected_.assign(from, from + bytes.size());
        }
        for (std::size_t c = 0; c < job_.candidates.size(); ++c)
            if (!prepare(c)) return false;
        return !job_.timed || timed_.empty() || time_all();
    }

private:
    void say(const Finding& finding) { findings_ << encode(finding) << std::endl; }

    bool refuse(std::size_t candidate, Invalidity invalidity, const std::string& reason, int error = 0) {
        say({.candidate = candidate, .invalidity = invalidity, .reason = reason});
        // A fault of the host executor leaves its process as it was.
        return device_.emulated || !spoils_context(error);
    }

    /// Loads a candidate, runs it once and checks what it did. False if the process must not be used any more.
    bool prepare(std::size_t c) {
        const Job::Candidate& candidate = job_.candidates[c];
        page_.step(Phase::verifying, static_cast<std::uint32_t>(c));
        const LaunchRule& rule = candidate.reference ? description_.reference.launch : description_.launch;
        const LaunchShape shape = launch_shape(description_, rule, candidate.configuration, job_.problem);
        try {
            std::shared_ptr<Module> module = load_module(device_, candidate.module, candidate.kernel);
            const auto has = module->parameter_bytes(), given = arena_->parameter_bytes();
            if (!has.empty() && has != given) return refuse(c, Invalidity::runtime, wrong_parameters(has, given));
            arena_->fill_symbols(*module);
            const auto launch = [this, module, shape] { module->launch(shape, arena_->arguments()); };
            double seconds = 0;
            if (!candidate.verified && !verify(c, launch, seconds)) return true;
            // The first launch of a module takes a GPU longer than others.
            if (seconds == 0 || !device_.emulated) seconds = run_seconds(launch);
            timed_.push_back({std::to_string(c), static_cast<std::uint32_t>(c), launch, 1e9 * seconds});
        } catch (const device::DeviceError& error) {
            return refuse(c, Invalidity::runtime, error.what(), error.code());
        }
        return true;
    }

    static std::string wrong_parameters(const std::vector<std::size_t>& has, const std::vector<std::size_t>& given) {
        if (has.size() != given.size())
            return "the kernel has " + std::to_string(has.size()) + " parameters and the description " +
                   std::to_string(given.size()) + " arguments that are no symbols";
        std::size_t i = 0;
        while (has[i] == given[i]) ++i;
        return "parameter " + std::to_string(i) + " of the kernel has " + std::to_string(has[i]) +
               " bytes and the argument " + std::to_string(given[i]) + ": change its Type";
    }

    static double run_seconds(const std::function<void()>& launch) {
        const double start = steady_seconds();
        launch();
        device::synchronize();
        return steady_seconds() - start;
    }

    /// Whether a candidate does what it should; a launch of it takes `seconds`.
    bool verify(std::size_t c, const std::function<void()>& launch, double& seconds) {
        const double start = steady_seconds();
        arena_->restore_outputs();
        device::synchronize();
        seconds = run_seconds(launch);
        std::string wrong = arena_->damage();
        if (wrong.empty() && !job_.expected.empty()) wrong = arena_->difference_from(expected_);
        if (!wrong.empty()) {
            refuse(c, Invalidity::correctness, wrong);
            return false;
        }
        if (c == 0 && !job_.save.empty()) {
            const std::vector<std::byte> bytes = arena_->outputs();
            std::ofstream(job_.save, std::ios::binary)
                .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        }
        say({.candidate = c, .verified = true, .verify_seconds = steady_seconds() - start});
        return true;
    }

    bool time_all() {
        note_load();
        const auto sampler = make_sampler(device_, job_.caches);
        const auto conditions = watch_conditions(device_);
        const TimingGoal goal{.noise = job_.noise, .seconds = job_.seconds, .seed = job_.seed};
        try {
            time_in_rounds(timed_, *sampler, *conditions, goal, page_);
        } catch (const device::DeviceError& error) {
            refuse(page_.candidate.load(), Invalidity::runtime, error.what());
            return false;
        }
        say({.conditions = conditions->read()});
        for (const TimedCandidate& one : timed_)
            say({.candidate = one.index, .samples_ns = one.samples_ns, .resolution_ns = one.resolution_ns});
        return !job_.counters || count_all();
    }

    bool count_all() {
        std::vector<CaseToCount> cases;
        for (const TimedCandidate& one : timed_) cases.push_back({one.index, one.estimate_ns * 1e-9, one.run});
        CaseCounters counters(device_);
        return counters.count(std::move(cases), false, job_.caches, 1e18, page_, [&](const protocol::Event& event) {
            if (const auto* counted = std::get_if<protocol::Counted>(&event))
                say({.candidate = counted->candidate,
                     .counters = counted->counters,
                     .counters_reason = counted->reason});
        });
    }

    Job job_;
    ProgressPage& page_;
    std::ofstream findings_;
    Description description_;
    DeviceInfo device_;
    std::unique_ptr<Arena> arena_;
    std::vector<std::byte> expected_;
    std::vector<TimedCandidate> timed_;
};

}  // namespace

int run_worker(const WorkerOptions& options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != options.parent) return 0;  // it died before we could ask to die with it
    const SharedPage page(options.page);
    return JobRun(options, *page).run() ? 0 : 1;
}

}  // namespace espalier::bench::tune
