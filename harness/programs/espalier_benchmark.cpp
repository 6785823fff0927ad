// espalier_benchmark: the variants as benchmarks of Google Benchmark, with its own flags and reports. Samples are the
// sweep's (`take_sample`). Everything runs in this process: a variant that crashes takes the rest along, for which the
// sweep has workers.

#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/clock.hpp"
#include "harness/base/failure.hpp"
#include "harness/base/range.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/bench/profile/counters.hpp"
#include "harness/bench/records/conditions.hpp"
#include "harness/bench/sweep/plan/plan.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "harness/bench/sweep/worker/processors.hpp"
#include "harness/bench/sweep/worker/provenance.hpp"
#include "harness/bench/sweep/worker/sampler.hpp"
#include "harness/bench/sweep/worker/scaled_down.hpp"
#include "harness/bench/sweep/worker/verify.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/suites.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench::cli {
namespace {

struct Arguments {
    SweepOptions sweep;
    std::string suite, results, cache = "auto";
    std::vector<std::string> axes;
    int drawn = 0, threads = 0;
    bool quick = false, counters = false, no_verify = false;
};

void describe(CLI::App& app, Arguments& arguments) {
    SweepOptions& sweep = arguments.sweep;
    app.set_help_flag();  // Google Benchmark's prints this one's, too
    app.add_option("--device", sweep.device, "cpu, or a GPU as 0 or cuda:0")->capture_default_str();
    app.add_option("--family", sweep.families, "only these families")->delimiter(',');
    app.add_option("--variant", sweep.variants, "only these variants: name or family/name")->delimiter(',');
    CLI::Option* const axes =
        app.add_option("-p,--problem", arguments.axes, "axis=value,value: instead of the default problems' values");
    CLI::Option* const suite = app.add_option("--suite", arguments.suite, "published or recorded, as of espalier sweep")
                                   ->check(one_of({"published", "recorded"}))
                                   ->excludes(axes);
    add_number(app, "--drawn", arguments.drawn, "so many problems drawn from each family's domain")
        ->check(positive())
        ->excludes(axes)
        ->excludes(suite);
    app.add_flag("--quick", arguments.quick, "the default problems of espalier sweep --quick");
    app.add_option("--cache", arguments.cache, "before each run: cold, clean, warm; auto: cold on GPUs, else warm")
        ->check(one_of({"auto", "cold", "clean", "warm"}))
        ->capture_default_str();
    app.add_flag("--counters", arguments.counters, "hardware counters as user counters, on GPUs");
    app.add_flag("--no-verify", arguments.no_verify, "do not verify what a variant computes before it is timed");
    add_number(app, "--seed", sweep.seed, "of inputs and drawn problems")->capture_default_str();
    add_number(app, "--threads", arguments.threads, "use so many CPU threads")->check(positive());
    app.add_option("--results", arguments.results, kResultsHelp);
}

SweepOptions interpret(const Arguments& arguments) {
    SweepOptions options = arguments.sweep;
    options.results_folder = results_to_read(arguments.results);
    if (arguments.quick) options.effort = Effort::quick;
    options.caches = caches_named(arguments.cache);
    for (const auto& axis : arguments.axes) options.axes.push_back(parse_axis(axis));
    if (arguments.drawn > 0) draw_from_domains(options, static_cast<std::size_t>(arguments.drawn));
    if (arguments.suite == "published") choose_published(options);
    if (arguments.suite == "recorded") choose_recorded(options);
    return options;
}

DeviceInfo open_device(const std::string& name) {
    if (name == "cpu") return device::describe_cpu();
    const auto ordinal = gpu_ordinal(name);
    if (!ordinal) throw Failure(ExitCode::usage, "--device: '" + name + "' is neither cpu nor one GPU");
    const int count = device::count();
    if (count == 0) throw Failure(ExitCode::no_device, device::unavailable_reason());
    if (*ordinal >= count) throw Failure(ExitCode::no_device, "the last GPU is " + std::to_string(count - 1));
    DeviceInfo device = device::open(*ordinal);
    if (device.emulated) throw Failure(ExitCode::no_device, "this build has no CUDA: build with nvcc, preset cuda");
    return device;
}

struct Case {
    const Family* family = nullptr;
    std::string problem;
    std::size_t variant = 0;
    Configuration configuration;

    [[nodiscard]] std::string name() const {
        return std::string(family->name()) + "/" + std::string(family->variants()[variant].name) + "/" +
               configuration.text() + "/" + problem;
    }
};

/// Runs cases, one problem's data at a time: benchmarks come problem by problem.
class Runner {
public:
    Runner(const Arguments& arguments, const DeviceInfo& device, Caches caches)
        : device_(device),
          sampler_(make_sampler(device, caches)),
          seed_(arguments.sweep.seed),
          verify_(!arguments.no_verify) {
        if (caches != Caches::warm) flusher_.emplace(device, caches);
        if (!arguments.counters) return;
        std::string reason = "hardware counters are collected on GPUs only";
        if (device.kind == DeviceKind::cuda) counting_ = device::open_counters(device::full_counters(), reason);
        if (!counting_) throw Failure(ExitCode::no_device, "--counters: " + reason);
    }

    /// One benchmark. Google Benchmark calls it several times, until it has run for long enough.
    void run(const Case& one, benchmark::State& state) {
        try {
            time(one, state);
        } catch (const std::exception& error) {
            state.SkipWithError(error.what());
        }
    }

private:
    void time(const Case& one, benchmark::State& state) {
        prepare(one);
        Bench& bench = data_->bench();
        bench.reserve(one.variant, one.configuration);
        const auto launch = [&] { bench.run(one.variant, one.configuration); };
        const std::string name = one.name();
        const auto known = verified_.find(name);
        const double estimate = known != verified_.end() ? known->second : first_run(one, name, launch);
        const int batch = sampler_->batch_for(estimate * 1e9);
        const device::Range range(name);
        double runs = 0;
        while (state.KeepRunningBatch(batch)) {
            state.SetIterationTime(take_sample(*sampler_, launch, batch).ns * 1e-9 * batch);
            runs += batch;
        }
        const Cost cost = one.family->cost(one.problem);
        state.counters["bytes_per_second"] =
            benchmark::Counter(runs * cost.bytes, benchmark::Counter::kIsRate, benchmark::Counter::kIs1024);
        state.counters["items_per_second"] = benchmark::Counter(runs * cost.ops(), benchmark::Counter::kIsRate);
        state.SetLabel(std::string(to_string(one.family->variants()[one.variant].role)));
        for (const auto& [counter, value] : counters(name, launch)) state.counters[counter] = value;
    }

    void prepare(const Case& one) {
        if (data_ && family_ == one.family && problem_ == one.problem) return;
        data_.reset();
        family_ = one.family;
        problem_ = one.problem;
        const device::Range range("prepare " + problem_);
        data_.emplace(*family_, problem_, device_, seed_, kOracleOperations);
        if (verify_ && data_->needs_baseline()) data_->run_baseline();
    }

    /// Seconds of a run, of a variant that was found right.
    template <class Launch>
    double first_run(const Case& one, const std::string& name, const Launch& launch) {
        if (verify_) {
            const device::Range range("verify " + name);
            const Verdict verdict = data_->verify(one.variant, one.configuration, {.least = 1, .seconds = 0});
            if (verdict.wrong) throw std::runtime_error("wrong: " + verdict.wrong.description);
        }
        launch();  // the first one pays for what later ones find
        finish(device_);
        const double start = steady_seconds();
        launch();
        finish(device_);
        return verified_[name] = steady_seconds() - start;
    }

    /// Collected once, in passes of their own.
    NamedValues counters(const std::string& name, const std::function<void()>& launch) {
        if (!counting_) return {};
        const auto [entry, first] = counted_.try_emplace(name);
        if (!first) return entry->second;
        const device::Range range("count " + name);
        auto readings = counting_
                            ->measure(
                                [this] {
                                    if (flusher_) flusher_->flush();
                                },
                                std::span(&launch, 1))
                            .at(0);
        std::ranges::move(device::describe_launches(launch), std::back_inserter(readings));
        for (const device::CounterReading& reading : readings)
            if (reading.value) entry->second.emplace_back(reading.name, *reading.value);
        return entry->second;
    }

    DeviceInfo device_;
    std::unique_ptr<Sampler> sampler_;
    std::uint64_t seed_;
    bool verify_;
    std::optional<CacheFlusher> flusher_;
    std::unique_ptr<device::CounterSession> counting_;
    const Family* family_ = nullptr;
    std::string problem_;
    std::optional<Verifier> data_;
    std::map<std::string, double> verified_;  ///< seconds of a run by benchmark
    std::map<std::string, NamedValues> counted_;
};

/// What can run; and how many cannot.
std::vector<Case> cases_of(const SweepPlan& plan, std::size_t& unsupported) {
    std::vector<Case> cases;
    for (const PlannedProblem& planned : plan.problems)
        for (const PlannedCase& each : planned.cases)
            if (each.unsupported.empty())
                cases.push_back({planned.family, planned.problem, each.variant, each.configuration});
            else
                ++unsupported;
    return cases;
}

ExitCode run(const Arguments& arguments) {
    restrict_threads(arguments.threads);
    const SweepOptions options = interpret(arguments);
    const DeviceInfo device = open_device(options.device);
    const Caches caches = options.caches.value_or(device.kind == DeviceKind::cuda ? Caches::cold : Caches::warm);
    std::size_t unsupported = 0;
    const auto cases = cases_of(make_plan(options, device, free_memory(device)), unsupported);
    if (unsupported > 0)
        to_stderr("espalier_benchmark: left out, because they cannot run here: {}\n", counted(unsupported, "case"));
    if (cases.empty()) throw Failure(ExitCode::usage, "nothing that was asked for can run on " + device.key);
    benchmark::AddCustomContext("device", device.name);
    benchmark::AddCustomContext("device_key", device.key);
    benchmark::AddCustomContext("driver", driver_version(device));
    benchmark::AddCustomContext("build", build_identity());
    benchmark::AddCustomContext("cache", std::string(to_string(caches)));
    Runner runner(arguments, device, caches);
    for (const Case& one : cases)
        benchmark::RegisterBenchmark(one.name().c_str(), [&runner, &one](benchmark::State& state) {
            runner.run(one, state);
        })->UseManualTime();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::ClearRegisteredBenchmarks();
    return ExitCode::ok;
}

/// Google Benchmark calls it for --help, and ends the program.
void print_help() {
    Arguments arguments;
    CLI::App app(
        "Measures Espalier's variants with Google Benchmark; each is named\n"
        "family/variant/configuration/problem.",
        "espalier_benchmark");
    describe(app, arguments);
    std::puts(app.help().c_str());
    benchmark::PrintDefaultHelp();
}

int benchmark_main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv, print_help);
    Arguments arguments;
    CLI::App app;
    describe(app, arguments);
    try {
        app.parse(argc, argv);
        return static_cast<int>(run(arguments));
    } catch (const CLI::ParseError& error) {
        to_stderr("espalier_benchmark: {}; --help lists the options\n", error.what());
        return static_cast<int>(ExitCode::usage);
    } catch (const Failure& failure) {
        to_stderr("espalier_benchmark: {}\n", failure.what());
        return static_cast<int>(failure.code());
    } catch (const BadProblem& error) {
        to_stderr("espalier_benchmark: {}\n", error.what());
        return static_cast<int>(ExitCode::usage);
    } catch (const std::exception& error) {
        to_stderr("espalier_benchmark: {}\n", error.what());
        return static_cast<int>(ExitCode::bad_data);
    }
}

}  // namespace
}  // namespace espalier::bench::cli

int main(int argc, char** argv) { return espalier::bench::cli::benchmark_main(argc, argv); }
