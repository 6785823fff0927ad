#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "espalier/plan.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/families/first_cases.hpp"
#include "harness/bench/learn/regret.hpp"
#include "harness/bench/records/case_record.hpp"

namespace espalier::bench::learn {

/// The choice that a selector picks for one problem, or the reason why it picks nothing.
struct Pick {
    std::string variant, configuration;
    std::string refused{};
};

/// The outcome of a pick.
struct Verdict {
    std::string problem;
    Pick pick;
    std::string best_variant{}, best_configuration{};  ///< empty if nothing was measured
    double best_ns = 0;
    double time_ns = 0;                  ///< of the pick; of the slowest measured one if the pick failed
    const CaseRecord* record = nullptr;  ///< the pick's, among those that were graded; null if it has none
    std::string failed{};    ///< how the pick failed: wrong, crashed, timeout, out_of_memory, with the reason
    std::string unjudged{};  ///< why there is no regret, of which the figures then know nothing; empty if there is one

    [[nodiscard]] double regret() const { return time_ns / best_ns; }
    [[nodiscard]] bool exact() const {
        return pick.variant == best_variant && pick.configuration == best_configuration;
    }
};

/// Grades what `pick` says of every problem among the records of one family on one device, in the order of the
/// problems. The best is the fastest `ok` record but for variants that were wrong or crashed among the records, which
/// no tree may choose. A pick that failed counts as the slowest one measured there. Not graded: a problem whose pick
/// has no record or was not measured, of which less than half of the choices that could run were, whose best time says
/// little, or that others disturbed (unless `disturbed_too`).
std::vector<Verdict> grade(std::span<const CaseRecord> records, const std::function<Pick(const std::string&)>& pick,
                           bool disturbed_too = false);

/// The figures of graded problems. `worst` is an index among the verdicts; npos if none was graded.
struct Grades {
    Regret regret;
    double p99 = 1;            ///< nearest rank
    double time_weighted = 1;  ///< time of all picks / time of all best ones
    double exact_share = 0;    ///< of the picks that are the very best choice
    std::size_t failed = 0, unjudged = 0;
    std::size_t worst = static_cast<std::size_t>(-1);
};

/// Deterministic: the bootstrap is seeded and does not depend on the order.
Grades grades_of(const std::vector<Verdict>& verdicts);

/// A family's selector on problems that no tree has seen.
struct Judgement {
    const Family* family;
    std::vector<Verdict> verdicts;
    Grades grades;
    std::set<std::string> tree_devices;  ///< whose trees chose: others' where its own has nothing that runs
    std::string tree_sha256;             ///< of that on file, if it is the one that chose; else empty
    std::string other_tree;              ///< why it is not
    std::string forest_sha256{};         ///< of the forest that chose instead of the tree; empty if none did
};

/// Grades the picks of this program's dispatch, or of its plans with that effort, with the trees that it has at this
/// moment, by one family's records: for figures that are kept, those of `over_data`.
/// `selectors` is the folder of trees, where that of the device should be: <family>/<device-key>.tree.
Judgement judge(const Family& family, const DeviceInfo& device, std::span<const CaseRecord> records,
                const std::filesystem::path& selectors, bool disturbed_too = false,
                espalier::Effort effort = espalier::Effort::tree);

/// What has to be measured of a problem before it can be graded, in case time runs out: what the tree and a plan that
/// predicts choose, both needed, and then their rivals, the leaf's ranking.
FirstCases picks_and_rivals(const Family& family, const std::string& problem, const DeviceInfo& device);

/// The `unseen` object of a family in selector.json; null if nothing was graded.
nlohmann::ordered_json unseen_figures(const Judgement& judgement);

}  // namespace espalier::bench::learn
