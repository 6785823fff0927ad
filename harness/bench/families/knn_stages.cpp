#include "harness/bench/families/knn_stages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/base/range.hpp"
#include "harness/bench/families/published.hpp"
#include "kernels/dispatch/choose.hpp"
#include "kernels/dispatch/tables.hpp"

namespace espalier::bench::knn {
namespace {

constexpr std::size_t kMostVariants = 64;
constexpr std::size_t kChosen = kMostVariants;  ///< in place of a pinned variant

/// The stage of one family, in one thread: variants by their index in the family's registry.
struct Watched {
    std::uint64_t ran = 0;
    std::size_t pinned = kChosen;
};

template <class P>
Watched& watched() {
    thread_local Watched stage;
    return stage;
}

/// Variants are told apart by their functions alone, so that each has one of its own.
template <class P, std::size_t index>
void run_noted(Context& context, const P& problem, const typename P::Buffers& buffers,
               const Configuration& configuration) {
    watched<P>().ran |= std::uint64_t{1} << index;
    const Variant<P>& variant = tables<P>().registry[index].variant;
    device::mark(variant.name.data());  // where the stage begins in a profiler's timeline
    variant.run(context, problem, buffers, configuration);
}

template <class P, std::size_t... indices>
std::vector<Variant<P>> noting(std::index_sequence<indices...>) {
    const auto registry = tables<P>().registry;
    if (registry.size() > kMostVariants) throw std::logic_error("more variants of a stage than are told apart");
    constexpr std::array functions{&run_noted<P, indices>...};
    std::vector<Variant<P>> variants;
    for (std::size_t i = 0; i < registry.size(); ++i) {
        variants.push_back(registry[i].variant);
        variants.back().run = functions[i];
    }
    return variants;
}

template <class P>
const Variant<P>& noting_variant(std::size_t index) {
    static const auto variants = noting<P>(std::make_index_sequence<kMostVariants>());
    return variants[index];
}

template <class P>
Chosen<P> stage_of(const P& problem, const DeviceInfo& device) {
    const auto registry = tables<P>().registry;
    if (const std::size_t pinned = watched<P>().pinned; pinned != kChosen) {
        const Configuration configuration = registry[pinned].variant.space.enumerate().front();
        if (const Support can = supports(registry[pinned], problem, configuration, device); !can)
            throw NoChoice(std::string(registry[pinned].variant.name) + ": " + can.reason);
        return {&noting_variant<P>(pinned), configuration};
    }
    Chosen<P> chosen = choose(problem, device);
    for (std::size_t i = 0; i < registry.size(); ++i)
        if (&registry[i].variant == chosen.variant) chosen.variant = &noting_variant<P>(i);
    return chosen;
}

template <class P>
void pin(const Configuration& configuration) {
    const auto all = tables<P>();
    watched<P>().pinned = kChosen;
    for (const Setting& setting : configuration) {
        if (!pins_a_stage(setting) || stage_family(setting) != all.family) continue;
        for (std::size_t i = 0; i < all.registry.size(); ++i)
            if (all.registry[i].variant.name == stage_variant(setting)) watched<P>().pinned = i;
    }
}

template <class P>
void take(std::vector<std::string>& names) {
    const auto all = tables<P>();
    for (std::size_t i = 0; i < all.registry.size(); ++i)
        if (watched<P>().ran >> i & 1)
            names.push_back(std::string(all.family) + "/" + std::string(all.registry[i].variant.name));
    watched<P>().ran = 0;
}

}  // namespace

espalier::knn::Stages watched_stages() { return {stage_of<distance::Problem>, stage_of<smallest_k::Problem>}; }

void pin_stages(const Configuration& configuration) {
    pin<distance::Problem>(configuration);
    pin<smallest_k::Problem>(configuration);
}

std::vector<std::string> take_stages_run() {
    std::vector<std::string> names;
    take<distance::Problem>(names);
    take<smallest_k::Problem>(names);
    return names;
}

}  // namespace espalier::bench::knn
