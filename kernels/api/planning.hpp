#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/api/measure.hpp"
#include "kernels/api/planned.hpp"
#include "kernels/api/trial_arrays.hpp"
#include "kernels/core/utc_time.hpp"
#include "kernels/dispatch/wisdom.hpp"

/// Plans of public functions, and how those that measure find what they run. A `Call` (see `Planned`) may say more for
/// the latter, and has defaults else:
///
/// - `bool fill(std::size_t array, std::span<std::byte> values) const`: fills an input for which random numbers will
///   not do;
/// - `double roundings() const`: see `Slack::of`; 1;
/// - `Call with_all_results() const`: the call whose results are compared; the call itself;
/// - `bool agree(const TrialArrays&, const Outputs& expected, const Outputs& actual, const Slack&) const`: whether
///   results are right; by `same_results`.
namespace espalier {

/// A choice that may be timed.
template <class P>
struct TrialChoice {
    const Registered<P>* variant;
    Configuration configuration;  ///< as it runs here
    double expected;              ///< its time relative to the tree's choice, as far as forest or leaf say; else 1
};

/// The choices to time for a problem, each once, the tree's first: those that the forest ranks first, if there is one,
/// those of the leaf's ranking in their order, then other configurations of their variants, then, if all are wanted or
/// no tree says any, everything else.
template <class P>
class TrialChoices {
public:
    TrialChoices(const Tables<P>& tables, const P& problem, const DeviceInfo& device, const Demands& demands)
        : tables_(tables), problem_(problem), device_(device), demands_(demands) {}

    std::vector<TrialChoice<P>> of(const DispatchResult<P>& tree, bool all_variants) && {
        add(*tree.entry, tree.configuration, 1);
        add_predicted(tree);
        const std::span<const espalier::Choice<P>> ranking =
            tree.leaf ? tree.leaf->ranking : std::span<const espalier::Choice<P>>{};
        for (const auto& choice : ranking) add(entry_of(choice), choice.configuration, expected(choice, tree, ranking));
        for (const auto& choice : ranking) add_all(entry_of(choice), expected(choice, tree, ranking));
        add_all(*tree.entry, 1);
        if (all_variants || ranking.empty())
            for (const Registered<P>& entry : tables_.registry) add_all(entry, 1);
        return std::move(choices_);
    }

private:
    [[nodiscard]] const Registered<P>& entry_of(const espalier::Choice<P>& choice) const {
        return tables_.registry[static_cast<std::size_t>(choice.variant)];
    }

    /// The tree's choice need not be its leaf's first.
    [[nodiscard]] double expected(const espalier::Choice<P>& choice, const DispatchResult<P>& tree,
                                  std::span<const espalier::Choice<P>> ranking) const {
        for (const auto& other : ranking)
            if (&entry_of(other) == tree.entry) return static_cast<double>(choice.slowdown / other.slowdown);
        return 1;
    }

    void add_predicted(const DispatchResult<P>& tree) {
        constexpr std::size_t kMostPredicted = 5;
        const LoadedForest<P>* const forest = tree.tree ? forest_beside(tables_, *tree.tree) : nullptr;
        if (!forest) return;
        const auto predicted = forest->predict(problem_);
        const auto is_tree = [&](const auto& choice) {
            return choice.variant == tree.entry && choice.configuration == tree.configuration;
        };
        const auto of_tree = std::ranges::find_if(predicted, is_tree);
        for (std::size_t i = 0; i < std::min(kMostPredicted, predicted.size()); ++i)
            add(*predicted[i].variant, predicted[i].configuration,
                of_tree == predicted.end() ? 1 : predicted[i].slowdown / of_tree->slowdown);
    }

    void add_all(const Registered<P>& entry, double slower) {
        if (!entry.linked() || entry.kind != device_.kind) return;
        for (const Configuration& configuration : entry.variant.space.enumerate()) add(entry, configuration, slower);
    }

    void add(const Registered<P>& entry, Configuration configuration, double slower) {
        if (!entry.linked() || entry.variant.role == Role::peer || !meets(entry, demands_)) return;
        if (!resolve(entry, problem_, configuration, device_)) return;
        const auto same = [&](const TrialChoice<P>& other) {
            return other.variant == &entry && other.configuration == configuration;
        };
        if (std::ranges::none_of(choices_, same)) choices_.push_back({&entry, configuration, slower});
    }

    const Tables<P>& tables_;
    const P& problem_;
    const DeviceInfo& device_;
    const Demands& demands_;
    std::vector<TrialChoice<P>> choices_;
};

/// Runs choices for a call over arrays like the caller's.
template <class Call>
class CallTrials final : public Trials {
public:
    using P = decltype(Call::problem);

    CallTrials(const Planned<Call>& planned, std::span<const TrialChoice<P>> choices)
        : planned_(planned),
          compared_(with_all_results(planned.call)),
          choices_(choices),
          specs_(compared_.arrays()),
          stream_(planned.transport),
          arrays_(planned.transport, specs_, stream_.get(),
                  [this](std::size_t array, std::span<std::byte> values) { return fill(array, values); }) {
        for (std::size_t i = 0; i < at_.size(); ++i) {
            all_[i] = arrays_.pointer(i);
            at_[i] = planned.arrays[i].count > 0 ? all_[i] : nullptr;
        }
    }

    std::optional<double> check(std::size_t choice) override {
        arrays_.poison();
        const double nanoseconds = time_over(choice, 1, compared_.bind(all_));
        Outputs outputs = arrays_.outputs();
        if (choice == 0 && expected_.empty())
            expected_ = std::move(outputs);
        else if (!agree(outputs, choice))
            return std::nullopt;
        return nanoseconds;
    }

    double time(std::size_t choice, int repeats) override {
        return time_over(choice, repeats, planned_.call.bind(at_));
    }

    [[nodiscard]] double spent() const override { return spent_; }

private:
    using Arrays = typename Planned<Call>::Arrays;

    static Call with_all_results(const Call& call) {
        if constexpr (requires { call.with_all_results(); })
            return call.with_all_results();
        else
            return call;
    }

    double time_over(std::size_t choice, int repeats, const typename P::Buffers& buffers) {
        const TrialChoice<P>& tried = choices_[choice];
        const auto& variant = tried.variant->variant;
        const std::size_t bytes =
            variant.workspace ? variant.workspace(planned_.call.problem, tried.configuration, planned_.info()) : 0;
        const std::span<std::byte> workspace = arrays_.workspace(bytes);
        const TrialTime time = time_of(stream_.get(), planned_.transport.on_gpu(), [&] {
            for (int run = 0; run < repeats; ++run) {
                Context context{planned_.info(), stream_.get(), workspace};
                variant.run(context, planned_.call.problem, buffers, tried.configuration);
            }
        });
        spent_ += time.used;
        return time.taken;
    }

    bool fill(std::size_t array, std::span<std::byte> values) const {
        if constexpr (requires { compared_.fill(array, values); })
            return compared_.fill(array, values);
        else
            return false;
    }

    [[nodiscard]] bool agree(const Outputs& outputs, std::size_t choice) const {
        double roundings = 1;
        if constexpr (requires { compared_.roundings(); }) roundings = compared_.roundings();
        const Slack slack =
            Slack::of(choices_[0].variant->variant.tolerance, choices_[choice].variant->variant.tolerance, roundings);
        if constexpr (requires { compared_.agree(arrays_, expected_, outputs, slack); })
            return compared_.agree(arrays_, expected_, outputs, slack);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (!same_results(specs_[i], expected_[i], outputs[i], slack)) return false;
        return true;
    }

    const Planned<Call>& planned_;
    const Call compared_;  ///< the call with all results that there are
    std::span<const TrialChoice<P>> choices_;
    const Arrays specs_;
    TrialStream stream_;
    TrialArrays arrays_;
    Pointers<std::tuple_size_v<Arrays>> at_{}, all_{};  ///< of the call, and of the one with all results
    Outputs expected_;
    double spent_ = 0;
};

/// The budget that the options give.
std::chrono::nanoseconds budget_of(const PlanOptions& planning);

/// Times the choices for a call that is decided, and keeps what won as wisdom.
template <class Call>
void learn_of(const Planned<Call>& planned, const PlanOptions& planning) {
    using P = decltype(Call::problem);
    const P& problem = planned.call.problem;
    Tables<P> trees = tables<P>();
    trees.wisdom = nullptr;
    const auto tree = decide(trees, problem, planned.info(), nullptr, planned.demands);
    if (!tree) return;  // wisdom has a choice where no tree has
    const bool exhaustive = planning.effort == Effort::exhaustive;
    const auto choices = TrialChoices<P>(trees, problem, planned.info(), planned.demands).of(tree.value(), exhaustive);
    if (choices.size() < 2) return;
    std::vector<double> expected;
    for (const TrialChoice<P>& choice : choices) expected.push_back(choice.expected);
    const CurrentDevice current(*planned.transport.device);
    const device::TeamSize team(planned.threads);
    CallTrials<Call> trials(planned, choices);
    const auto measured = measure(trials, expected, budget_of(planning));
    if (!measured) return;
    const TrialChoice<P>& winner = choices[measured->winner];
    WisdomEntry entry{.family = std::string(trees.family),
                      .problem = problem_key(problem, true),
                      .device = planned.info().key,
                      .threads = planned.transport.on_gpu() ? 0 : planned.threads,
                      .deterministic = planned.demands.deterministic,
                      .driver = {},
                      .library = {},
                      .source = {},
                      .variant = std::string(winner.variant->variant.name),
                      .configuration = winner.configuration.text(),
                      .exhaustive = exhaustive,
                      .date = utc_now(),
                      .speedup = measured->speedup,
                      .nanoseconds = measured->nanoseconds,
                      .choices = measured->choices};
    sign_wisdom(entry, winner.variant->kind, winner.variant->source_id);
    keep_wisdom(entry);
}

/// Whether a decision leaves something to measure.
template <class P>
bool is_to_be_measured(const DispatchResult<P>& decision, const PlanOptions& planning) {
    const bool measures = planning.effort == Effort::measure || planning.effort == Effort::exhaustive;
    if (!measures || !decision.forced_by.empty()) return false;
    return !decision.wisdom || (planning.effort == Effort::exhaustive && !decision.wisdom->exhaustive);
}

/// A public plan of a valid call, which holds a `State`.
template <class PublicPlan, class State, class Call>
Result<PublicPlan> plan_call_as(const Device& device, Call call, const Options& options, const PlanOptions& planning) {
    const DeviceState& state = state_of(device);
    if (auto error = invalid_plan_options(state, options, planning)) return *error;
    const Demands demands{.deterministic = options.deterministic, .only_enqueues = true};
    auto planned = decide_call(state, std::move(call), options, demands, planning.effort);
    if (planned && is_to_be_measured(planned.value().decision, planning)) {
        learn_of(planned.value(), planning);
        planned = decide_call(state, Call(planned.value().call), options, demands);
    }
    if (!planned) return planned.error();
    return PublicPlan(std::make_shared<const State>(device, std::move(planned).value()));
}
template <class PublicPlan, class Call>
Result<PublicPlan> plan_call(const Device& device, Call call, const Options& options, const PlanOptions& planning) {
    return plan_call_as<PublicPlan, PlanOf<Call>>(device, std::move(call), options, planning);
}

}  // namespace espalier
