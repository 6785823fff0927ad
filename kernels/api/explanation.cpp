#include "espalier/explanation.hpp"

#include <algorithm>
#include <cstdio>

#include "kernels/api/device_state.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/core/printable.hpp"
#include "kernels/core/similar_name.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/dispatch/families.hpp"

namespace espalier {
namespace {

constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kDay = 10;  // of "2026-11-26T17:00:00Z"

std::string two_decimals(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}

std::string choice(const std::string& variant, const std::string& configuration) {
    return configuration == "default" ? variant : variant + " (" + configuration + ")";
}

/// Of the candidates that can run, the first one that is the explanation's variant and configuration here, or -1.
std::ptrdiff_t place(const Explanation& explanation, const std::vector<Explanation::RankedChoice>& ranking) {
    for (std::size_t i = 0; i < ranking.size(); ++i)
        if (ranking[i].variant == explanation.variant && ranking[i].infeasible.empty() &&
            (ranking[i].same_as.empty() ? ranking[i].configuration : ranking[i].same_as) == explanation.configuration)
            return static_cast<std::ptrdiff_t>(i);
    return -1;
}

std::string tree_in_words(const Explanation& explanation) {
    const std::string loaded =
        explanation.tree_file.empty() ? "" : ", loaded from " + printable(explanation.tree_file, kLongestPath);
    if (explanation.tree == Explanation::Tree::exact)
        return "the tree trained on this very device, " + explanation.device + loaded;
    const std::string& difference = explanation.difference;
    return "the tree of a similar device, " + explanation.tree_device +
           " (here: " + (difference.empty() ? "nothing that is known differs" : difference) + ")" + loaded;
}

std::string ranking_text(const Explanation& explanation, const std::vector<Explanation::RankedChoice>& ranking,
                         const char* title) {
    std::string text = title;
    const auto chosen = place(explanation, ranking);
    for (std::size_t i = 0; i < ranking.size(); ++i) {
        const auto& candidate = ranking[i];
        text += static_cast<std::ptrdiff_t>(i) == chosen ? "  > " : "    ";
        text += two_decimals(candidate.slowdown) + "x  " + choice(candidate.variant, candidate.configuration);
        if (!candidate.infeasible.empty()) text += "  [cannot run: " + candidate.infeasible + "]";
        if (!candidate.same_as.empty()) text += "  [here the same as " + candidate.same_as + "]";
        text += '\n';
    }
    return text;
}

std::string timed(int choices) {
    return choices == 1 ? "one choice was timed" : std::to_string(choices) + " choices were timed";
}

}  // namespace

std::string detail::summary(const Explanation& explanation) {
    if (!explanation.forced_by.empty()) return explanation.forced_by + " asks for it";
    if (!explanation.measured_at.empty())
        return "measured here on " + explanation.measured_at.substr(0, kDay) + ", " +
               two_decimals(explanation.measured_speedup) + "x the tree's choice";
    if (explanation.tree == Explanation::Tree::none)
        return "nothing was trained on any device of the kind of " + explanation.device + ", so the baseline runs";
    if (!explanation.predicted.empty())
        return "predicted by the forest of " + explanation.tree_device + ": " +
               two_decimals(explanation.predicted_slowdown) + "x the fastest choice's time";
    const auto rank = place(explanation, explanation.ranking);
    if (rank < 0) return "nothing that any tree ranks can run this problem here, so the baseline runs";
    const std::string tree = tree_in_words(explanation);
    if (explanation.other_leaf)
        return "no tree's leaf for this problem has a choice that can run here; it is ranked in another leaf of " +
               tree;
    if (rank == 0) return "first choice of " + tree;
    return "choice " + std::to_string(rank + 1) + " of " + tree + "; the " +
           (rank == 1 ? "one" : std::to_string(rank)) + " before it cannot run this problem here";
}

std::string Explanation::text() const noexcept {
    return guarded_or(std::string("out of memory"), [this] {
        std::string text = family + " " + problem + " on " + device + "\n";
        text += "runs: " + choice(variant, configuration) + "\n";
        text += "why: " + reason + "\n";
        if (!measured_at.empty()) text += "measured: " + measured_at + ", " + timed(measured_choices) + "\n";
        if (threads < all_threads)
            text += "threads: " + std::to_string(threads) + " of " + std::to_string(all_threads) + "\n";
        if (workspace_bytes > 0) text += "workspace: " + std::to_string(workspace_bytes) + " bytes\n";
        if (!deterministic()) text += "equal calls may differ: " + nondeterminism + "\n";
        for (std::string_view lines = ignored; !lines.empty();) {
            const auto line = lines.substr(0, lines.find('\n'));
            lines.remove_prefix(std::min(lines.size(), line.size() + 1));
            text.append("ignored: ").append(line).append("\n");
        }
        if (!predicted.empty()) text += ranking_text(*this, predicted, "predicted:\n");
        if (tree == Tree::none) return text;
        if (!tree_file.empty()) text += "tree: loaded from " + printable(tree_file, kLongestPath) + "\n";
        text +=
            "leaf: " + std::to_string(leaf) + " of " + tree_device + ", " + std::to_string(problems) + " problems\n";
        text += "path: " + (path.empty() ? "(the only leaf)" : path) + "\n";
        text += "margin: " + two_decimals(margin) + "x to the best other variant\n";
        text += "regret: " + two_decimals(regret) + "x, 95% interval " + two_decimals(regret_low) + " to " +
                two_decimals(regret_high) + "\n";
        return text + ranking_text(*this, ranking, "ranking:\n");
    });
}

Result<Explanation> explain(std::string_view family, std::string_view problem, const DeviceInfo& device,
                            const ForcedVariant* forced, const Demands& demands, Effort effort) {
    if (const KernelFamily* entry = find_kernel_family(family))
        return entry->explain(problem, device, forced, demands, effort);
    if (is_family(family))
        return Error{ErrorCode::unsupported, "the family '" + std::string(family) +
                                                 "' is not linked into this program: " + how_to_link(family)};
    return Error{ErrorCode::invalid_argument,
                 "unknown family '" + printable(family) + "'; known: " + family_list() + similar_family(family)};
}

inline namespace v1 {

Result<Explanation> explain(const Device& device, std::string_view family, std::string_view problem,
                            const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_memory(options.memory)) return *error;
        if (auto error = invalid_threads(options)) return *error;
        const DeviceState& state = state_of(device);
        const DeviceInfo& here = state.on_threads(threads_for(state, options));
        return with_forced_variant(family, options.variant, [&](const ForcedVariant* forced) {
            return explain(family, problem, here, forced, {.deterministic = options.deterministic});
        });
    });
}

}  // namespace v1
}  // namespace espalier
