#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/bench_memory.hpp"
#include "harness/bench/families/guarded_output.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/core/as_asked.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/core/registry.hpp"
#include "kernels/device/cpu_limits.hpp"
#include "kernels/device/host_array.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/device/threads.hpp"

namespace espalier::bench {

/// `Bench` over the workload of one family.
template <class P>
class BenchOf final : public Bench {
public:
    BenchOf(std::span<const Registered<P>> registry, const P& problem, std::unique_ptr<Workload<P>> workload,
            const DeviceInfo& device)
        : registry_(registry), problem_(problem), workload_(std::move(workload)), device_(device) {
        for (const auto input : workload_->inputs()) inputs_.emplace_back(device.kind, input.size());
        for (const auto bytes : workload_->output_bytes()) outputs_.emplace_back(device.kind, bytes);
        upload();
        poison(0xFF);
    }

    void run(std::size_t variant, const Configuration& configuration) override {
        // It gets the bytes that it asked for and no more: pipelines cut their work into chunks that fit.
        const std::size_t bytes = reserve(variant, configuration);
        Context context{device_, nullptr, {workspace_.data(), bytes}};
        workload_->pin_stages(configuration);
        // A device is measured on all of its threads, whatever OMP_NUM_THREADS says. A GPU's description names none.
        const device::TeamSize team(device_.kind == DeviceKind::cpu ? device_.threads : device::process_threads());
        registry_[variant].variant.run(context, problem_, buffers_, configuration);
    }

    std::size_t reserve(std::size_t variant, const Configuration& configuration) override {
        const auto& workspace = registry_[variant].variant.workspace;
        const std::size_t bytes = workspace ? workspace(problem_, configuration, device_) : 0;
        if (bytes > workspace_.size()) {
            workspace_ = BenchMemory(device_.kind, 0);  // the old one first: both may not fit
            workspace_ = BenchMemory(device_.kind, bytes);
        }
        return bytes;
    }

    std::vector<std::string> take_stages_run() override { return workload_->take_stages_run(); }

    void poison(std::uint8_t pattern) override {
        for (auto& output : outputs_) output.poison(pattern);
        workspace_.fill(0, workspace_.size(), pattern);
    }

    Mismatch check(std::size_t variant) override {
        if (auto overrun = check_guards()) return overrun;
        return workload_->check(on_host(outputs_), registry_[variant].variant.tolerance);
    }

    Mismatch check_guards() override {
        for (const auto& output : outputs_)
            if (auto overrun = output.check_guards()) return overrun;
        return {};
    }

    void keep_outputs(const Tolerance& tolerance) override {
        std::size_t bytes = 0;
        for (const auto& output : outputs_) bytes += output.size();
        constexpr std::size_t kMost = 4, kShareOfMemory = 16;
        const std::size_t fit = device_.memory_bytes / kShareOfMemory / std::max<std::size_t>(bytes, 1);
        const std::size_t most = std::clamp<std::size_t>(fit, 1, kMost);
        if (kept_.size() == most) {
            if (most == 1) return;
            kept_.erase(kept_.begin() + 1);
        }
        Kept kept{{}, tolerance};
        for (const auto& output : outputs_) kept.outputs.push_back(output.copy());
        kept_.push_back(std::move(kept));
    }

    bool outputs_are_kept(const Tolerance& tolerance) override {
        return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& kept) {
            return kept.tolerance.absolute <= tolerance.absolute && kept.tolerance.relative <= tolerance.relative &&
                   kept.tolerance.any_order <= tolerance.any_order &&
                   std::equal(outputs_.begin(), outputs_.end(), kept.outputs.begin(),
                              [](const GuardedOutput& now, const BenchMemory& then) { return now.same_as(then); });
        });
    }

    bool adopt_first_kept() override { return workload_->adopt(on_host(kept_.front().outputs)); }

    void forget_outputs() override { kept_.clear(); }

    std::vector<std::vector<std::byte>> outputs() override {
        std::vector<std::vector<std::byte>> values;
        for (const auto& output : outputs_) output.load(0, values.emplace_back(output.size()));
        return values;
    }

    void refresh(std::uint64_t seed) override {
        workload_->refresh(seed);
        kept_.clear();
        upload();
    }

    void transfer() override {
        copy_inputs();
        (void)on_host(outputs_);
    }

    [[nodiscard]] bool host_memory_is_touched() const override { return !on_host_.empty(); }

private:
    struct Kept {
        std::vector<BenchMemory> outputs;
        Tolerance tolerance;
    };

    void copy_inputs() {
        const auto host = workload_->inputs();
        for (std::size_t i = 0; i < host.size(); ++i) inputs_[i].store(0, host[i]);
    }

    void upload() {
        copy_inputs();
        buffers_ = bind();  // here and not in `run`, which is timed
    }

    /// Copies that hold until the next ones. Their memory is kept: what is new to the process is slow to write.
    template <class Output>
    std::vector<std::span<const std::byte>> on_host(const std::vector<Output>& outputs) {
        on_host_.resize(outputs.size());
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            on_host_[i].resize(outputs[i].size());
            outputs[i].load(0, on_host_[i]);
        }
        return {on_host_.begin(), on_host_.end()};
    }

    typename P::Buffers bind() const {
        std::vector<const std::byte*> in;
        std::vector<std::byte*> out;
        for (const auto& input : inputs_) in.push_back(input.data());
        for (const auto& output : outputs_) out.push_back(output.size() ? output.data() : nullptr);
        return workload_->bind(in, out);
    }

    std::span<const Registered<P>> registry_;
    P problem_;
    std::unique_ptr<Workload<P>> workload_;
    DeviceInfo device_;
    std::vector<BenchMemory> inputs_;
    std::vector<GuardedOutput> outputs_;
    std::vector<Kept> kept_;
    std::vector<device::HostArray<std::byte>> on_host_;
    BenchMemory workspace_{device_.kind, 0};
    typename P::Buffers buffers_{};
};

/// `Family` over a problem type, its registry and its suite.
template <class P>
class FamilyOf final : public Family {
public:
    FamilyOf(std::string_view name, std::span<const Registered<P>> registry, Suite<P> suite)
        : name_(name), registry_(registry), suite_(suite) {
        for (const auto& f : P::features())
            features_.push_back({f.name, f.expression, f.enum_type, f.categories, f.derived(), f.known, f.optional,
                                 f.relaxing, std::ranges::find(suite_.inert, f.name) != suite_.inert.end()});
        for (const auto& r : registry_)
            variants_.push_back({r.variant.name, r.variant.role, r.kind, r.gpu_only, r.min_sm, r.variant.summary,
                                 r.variant.source, r.variant.limits, r.path, r.source_id, r.variant.tolerance,
                                 r.foreign.empty() ? r.variant.space.enumerate() : std::vector<Configuration>{},
                                 r.variant.nondeterminism, r.variant.assumes, r.foreign,
                                 suite_.pinned ? suite_.pinned(r.variant) : std::vector<Configuration>{}});
    }

    std::string_view name() const override { return name_; }
    std::span<const FeatureInfo> features() const override { return features_; }
    std::span<const VariantInfo> variants() const override { return variants_; }

    std::string canonical(std::string_view key) const override { return problem_key(parse(key)); }

    std::string as_asked(std::string_view key) const override { return problem_key(espalier::as_asked(parse(key))); }

    std::vector<double> feature_values(std::string_view key) const override {
        const P problem = parse(key);
        std::vector<double> values;
        for (const auto& f : P::features()) values.push_back(f.value(problem));
        return values;
    }

    std::string key_of(std::span<const double> values) const override {
        P problem{};
        for (std::size_t i = 0; const auto& f : P::features()) {
            if (!f.derived()) f.assign(problem, values[i]);
            ++i;
        }
        return problem_key(problem);
    }

    Cost cost(std::string_view key) const override { return parse(key).cost(); }

    std::vector<std::string> default_problems(DeviceKind kind, Effort effort) const override {
        std::vector<std::string> keys;
        for (const P& problem : suite_.default_problems(kind, effort)) keys.push_back(problem_key(problem));
        return keys;
    }

    std::vector<EdgeCase> edge_cases() const override {
        std::vector<EdgeCase> cases;
        for (const auto& edge : suite_.edge_cases()) cases.push_back({problem_key(edge.problem), edge.pattern});
        return cases;
    }

    Domain domain(DeviceKind kind) const override { return suite_.domain ? suite_.domain(kind) : Domain{}; }

    std::vector<PublishedProblem> published() const override {
        std::vector<PublishedProblem> all;
        if (!suite_.published) return all;
        for (const PublishedTable<P>& table : suite_.published())
            for (const P& problem : table.problems)
                all.push_back({std::string(table.tables), problem_key(problem), table.choices});
        return all;
    }

    Support supports(std::size_t variant, std::string_view key, const Configuration& configuration,
                     const DeviceInfo& device) const override {
        return espalier::supports(registry_[variant], parse(key), configuration, device);
    }

    std::size_t workspace(std::size_t variant, std::string_view key, const Configuration& configuration,
                          const DeviceInfo& device) const override {
        const auto& function = registry_[variant].variant.workspace;
        return function ? function(parse(key), configuration, device) : 0;
    }

    std::size_t data_bytes(std::string_view key) const override { return suite_.data_bytes(parse(key)); }

    std::unique_ptr<Bench> bench(std::string_view key, std::uint64_t seed, Pattern pattern,
                                 const DeviceInfo& device) const override {
        const P problem = parse(key);
        return std::make_unique<BenchOf<P>>(registry_, problem, suite_.workload(problem, seed, pattern), device);
    }

private:
    P parse(std::string_view key) const {
        std::string error;
        const auto problem = parse_problem<P>(key, error);
        if (!problem) throw BadProblem(std::string(name_) + ": " + error);
        return *problem;
    }

    std::string_view name_;
    std::span<const Registered<P>> registry_;
    Suite<P> suite_;
    std::vector<FeatureInfo> features_;
    std::vector<VariantInfo> variants_;
};

}  // namespace espalier::bench
