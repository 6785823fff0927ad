#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/device.hpp"
#include "espalier/error.hpp"
#include "espalier/export.hpp"
#include "espalier/options.hpp"

namespace espalier::inline v1 {

/// Why the library runs what it runs for one problem on one device.
struct ESPALIER_API Explanation {
    /// How the tree that was asked relates to the device.
    enum class Tree {
        none,     ///< nothing was ever trained on this kind of device: the baseline runs
        exact,    ///< trained on devices of this very key
        related,  ///< trained on another one: the most similar whose tree has a choice that can run
    };

    /// One choice of the leaf's ranking.
    struct RankedChoice {
        std::string variant;        ///< its name
        std::string configuration;  ///< "block=256", or "default"
        double slowdown;            ///< geometric mean over the leaf's problems of its time / the best time
        std::string infeasible;     ///< why it cannot run this problem here; empty if it can
        std::string same_as{};      ///< the configuration that it is the same as here and runs as; else empty
    };

    std::string family;   ///< such as "dot"
    std::string problem;  ///< the problem's key, e.g. "width=640;height=480;..."
    std::string device;   ///< key of the device asked for

    std::string variant;              ///< what runs
    std::string configuration;        ///< and with which settings
    int threads = 0;                  ///< on a CPU: how many a call may run on now
    int all_threads = 0;              ///< and how many there are for this process
    std::size_t workspace_bytes = 0;  ///< of device memory that it needs beside its arrays
    std::string nondeterminism;  ///< why equal calls may differ within the tolerance; empty if they give equal bits
    std::string forced_by;       ///< "ESPALIER_FORCE_VARIANT" or "the option variant"; empty if the selector chose

    Tree tree = Tree::none;   ///< which tree said so
    std::string tree_device;  ///< device key that the tree was trained on; empty without a tree
    std::string tree_file;    ///< that the tree was loaded from; empty for one that is compiled in
    std::string difference;   ///< of the device from the tree's: "16 threads instead of 2"; empty if none is known
    std::string tree_data;    ///< SHA-256 of the measurements that it was trained from
    int leaf = -1;            ///< number of the leaf, from the left; -1 without a tree
    bool other_leaf = false;  ///< no tree's own leaf for the problem has a choice that runs here; this one has
    std::string path;         ///< the leaf's conditions from the root
    int problems = 0;         ///< measured problems in the leaf
    double margin = 0;        ///< slowdown of the best other variant over the leaf's first choice
    double regret = 0;        ///< first choice's time / the best measured, geometric mean over the leaf
    double regret_low = 0;    ///< its bootstrap 95% interval
    double regret_high = 0;   ///< its end
    std::vector<RankedChoice> ranking;  ///< best first

    /// What of ESPALIER_SELECTORS and of wisdom is not used, and why: a line each; empty if all is well.
    std::string ignored;

    std::string reason;  ///< one sentence that sums it up

    std::string measured_at{};  ///< when a plan measured the choice, "2026-11-26T17:00:00Z"; empty if no wisdom made it
    double measured_speedup = 0;  ///< how many times as fast as the tree's choice it was then
    int measured_choices = 0;     ///< among how many that were timed it won

    std::vector<RankedChoice> predicted;  ///< the first choices of a forest, if one made the choice; else empty
    double predicted_slowdown = 0;        ///< the time of the choice / the fastest choice's, as the forest predicts it

    /// Whether equal calls on one device give equal bits.
    [[nodiscard]] bool deterministic() const noexcept { return nondeterminism.empty(); }

    /// Several lines for people; "out of memory" if there is none for them.
    [[nodiscard]] std::string text() const noexcept;
};

/// Explains the choice for any `family` ("convolution_2d", ...) and `problem` key ("width=640;height=480";
/// axes left out keep the family's defaults), without running anything. Options: `variant`, `deterministic`, `threads`.
/// Errors: invalid_argument for an unknown family or key, and whatever running the problem would give.
ESPALIER_API Result<Explanation> explain(const Device& device, std::string_view family, std::string_view problem,
                                         const Options& options = {});

}  // namespace espalier::inline v1
