#include "harness/bench/train/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "harness/base/files/read_file.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/sha256.hpp"
#include "harness/bench/emit/forest_of.hpp"
#include "harness/bench/emit/tree_text.hpp"
#include "harness/bench/learn/feasibility.hpp"
#include "harness/bench/learn/others.hpp"
#include "harness/bench/learn/tree_for.hpp"
#include "harness/bench/train/relatives.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"
#include "kernels/json/names.hpp"

namespace espalier::bench::learn {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

ordered_json figures(const HeldOut& held_out) {
    if (held_out.logs.empty()) return nullptr;
    ordered_json entry = figures(held_out.regret);
    entry["unmeasured"] = held_out.unmeasured;
    return entry;
}

/// Leaves against regret: trees of each size on problems that they had not seen.
ordered_json size_curve(const CrossValidation& sizes) {
    if (sizes.empty()) return nullptr;
    ordered_json curve = ordered_json::array();
    for (std::size_t i = 0; i < sizes.prunings.size(); ++i)
        curve.push_back({{"pruning", rounded(sizes.prunings[i])},
                         {"leaves", rounded(sizes.leaves[i])},
                         {"regret_geomean", rounded(sizes.held_out[i].regret.geomean)}});
    return curve;
}

/// By leaf what trees that had not seen its problems chose for them: how far its region can be trusted.
ordered_json held_out_by_leaf(const Trained& trained) {
    const std::vector<double>& logs = trained.evaluation.held_out.logs;
    if (logs.empty()) return nullptr;
    ordered_json leaves = ordered_json::array();
    for (const TreeLeaf& leaf : trained.tree.leaves) {
        std::vector<std::size_t> judged;
        std::ranges::copy_if(leaf.rows, std::back_inserter(judged), [&](auto r) { return !std::isnan(logs[r]); });
        leaves.push_back(nullptr);
        if (judged.empty()) continue;
        const std::size_t worst = *std::ranges::max_element(judged, {}, [&](auto r) { return logs[r]; });
        double sum = 0;
        for (const std::size_t r : judged) sum += logs[r];
        leaves.back() = {{"regret_geomean", rounded(std::exp(sum / static_cast<double>(judged.size())))},
                         {"regret_max", rounded(std::exp(logs[worst]))},
                         {"worst_problem", trained.evidence.matrix.problems[worst]}};
    }
    return leaves;
}

ordered_json kept(const ordered_json& before, const char* member, const std::string& data_sha256) {
    if (!before.is_object() || !before.contains(member) || before.value("data_sha256", "") != data_sha256)
        return nullptr;
    const ordered_json& value = before[member];
    return value.is_number() || value.is_object() ? value : ordered_json(nullptr);
}

TrainedFile compare(const fs::path& path, std::string contents, bool unwanted = false) {
    const auto now = read_file(path);
    TrainedFile file{path, std::move(contents), now.has_value(), now == file.contents, unwanted, 0};
    if (file.same) return file;
    file.first_difference = 1;
    if (!now) return file;
    const auto [a, b] = std::mismatch(now->begin(), now->end(), file.contents.begin(), file.contents.end());
    file.first_difference += static_cast<std::size_t>(std::count(now->begin(), a, '\n'));
    return file;
}

/// selector.json as it is: families that are not trained now and figures that others add are kept.
ordered_json read_summary(const fs::path& path) {
    const auto text = read_file(path);
    if (!text) return ordered_json::object();
    ordered_json summary;
    try {
        static_cast<void>(parse_checked(*text));
        summary = ordered_json::parse(*text);
    } catch (const BadData& error) {
        throw BadData(path.string() + ": " + error.what() + ": remove the file, training writes it anew");
    }
    if (!summary.is_object() || !summary.contains("families") || !summary["families"].is_object())
        throw BadData(path.string() + " has no families: remove the file, training writes it anew");
    return summary["families"];
}

void refuse_missing_cases(const DeviceResults& results, const std::string& family, const EvidenceOptions& options,
                          std::vector<std::string>& notices) {
    std::vector<const MissingCases*> missing;
    for (const MissingCases& each : results.missing)
        if (each.family == family || each.family.empty()) missing.push_back(&each);
    if (missing.empty()) return;
    const std::string what = family + " on " + results.device.key + " is incomplete: " + missing.front()->description +
                             (missing.size() > 1 ? ", and " + std::to_string(missing.size() - 1) + " more" : "");
    if (!options.allow_partial)
        throw BadEvidence(what +
                          "; merge the missing shards, resume the sweep, or train on the rest with "
                          "--allow-partial");
    notices.push_back(what);
}

/// The stale variants that a leaf of the tree ranks: its choice may rest on times that are not theirs any more.
std::vector<StaleVariant> ranked_stale(const Trained& trained, const std::vector<CaseRecord>& records) {
    std::set<std::string_view> ranked;
    for (const TreeLeaf& leaf : trained.tree.leaves)
        for (const std::size_t c : leaf.ranking)
            ranked.insert(trained.family->variants()[trained.evidence.matrix.candidates[c].variant].name);
    std::vector<StaleVariant> stale = find_stale(records);
    std::erase_if(stale, [&](const StaleVariant& s) { return !ranked.contains(s.variant); });
    return stale;
}

std::string selector_json(const std::string& device_key, const ordered_json& summaries) {
    // Families in the order of their names, whatever the order of training them.
    const nlohmann::json sorted = summaries;
    ordered_json all = ordered_json::object();
    for (const auto& [name, unused] : sorted.items()) all[name] = summaries[name];
    const ordered_json whole{{"schema", "espalier.selector/1"}, {"device_key", device_key}, {"families", all}};
    return whole.dump(2) + "\n";
}

/// Figures of unseen problems are of the tree that they were graded with; `tree` is the text of today's.
void keep_unseen(const ordered_json& before, const Trained& now, std::string_view tree, ordered_json& entry,
                 std::vector<std::string>& notices) {
    if (!before.is_object() || !before.contains("unseen") || !before["unseen"].is_object()) return;
    if (before["unseen"].value("tree_sha256", ordered_json()) == tree_sha256(tree))
        entry["unseen"] = before["unseen"];
    else
        notices.push_back(std::string(now.family->name()) +
                          ": the figures of unseen problems are of an earlier tree, and go: `espalier judge "
                          "--from-results` grades this one");
}

/// The same of those that a forest chose.
void keep_predicted(const ordered_json& before, const Trained& now, ordered_json& entry) {
    if (now.forest.empty() || !before.is_object() || !before.contains("unseen_predicted")) return;
    const ordered_json& figures = before["unseen_predicted"];
    if (figures.is_object() && figures.value("forest_sha256", "") == sha256(now.forest))
        entry["unseen_predicted"] = figures;
}

/// A device of which little was measured is not to choose worse than without a tree of its own: where the tree that the
/// library would ask then is better (relatives.hpp), that one is shipped, and this is what selector.json says of it;
/// else null.
ordered_json shipped_instead(const Trained& own, const DeviceInfo& device, const TrainingFolders& folders,
                             std::vector<std::string>& notices) {
    if (own.weighting) return nullptr;
    const std::string family(own.family->name());
    // Without its own one a device that has a committed tree is asked that: the one of more problems is kept.
    const fs::path& evidence = folders.evidence_trees;
    if (!evidence.empty() && fs::exists(evidence / family / (device.key + ".tree"))) return nullptr;
    const std::set<std::string> untried = untried_variants(own, device);
    const auto relative = nearest_relative(folders, family, device, untried);
    const auto cost = relative ? beside_relative(own, device, *relative, untried) : std::nullopt;
    if (!cost || !is_better(*relative, *cost, own)) return nullptr;
    const std::size_t problems = own.evidence.matrix.rows();
    notices.push_back(fmt::format(
        "{}: the tree of {} is used: it rests on {} problems, and costs {:.3f} on {} of this device; its own rests on "
        "{}, and costs {:.3f} on those that it had not seen{}",
        family, relative->device_key, relative->problems, cost->relative, cost->problems, problems, cost->own,
        untried.empty() ? "" : fmt::format("; {} were never tried here: sweep again", fmt::join(untried, ", "))));
    ordered_json shipped{{"device_key", relative->device_key},
                         {"problems", relative->problems},
                         {"regret_geomean", rounded(cost->relative)},
                         {"own_held_out", rounded(cost->own)}};
    if (cost->untried > 0) shipped["untried_choices"] = cost->untried;
    return shipped;
}

/// Whether selector.json says that another device's tree is shipped: without an evaluation that stays as it is.
bool is_left(const ordered_json& summaries, const std::string& family) {
    return summaries.contains(family) && summaries[family].is_object() && summaries[family].contains("shipped");
}

/// How a tree is learned best, by what trees learned so cost problems that were held out: how far it is pruned back,
/// how it is parted, and whether devices that are alike teach it, too. They do unless it is better alone beyond doubt:
/// of many problems of its own a device's choices are more its own than theirs.
void choose_how(Trained& trained, LearnOptions& learn) {
    Matrix& matrix = trained.evidence.matrix;
    trained.validation = cross_validate(matrix, learn);
    if (trained.validation.empty()) return;
    if (matrix.others && matrix.others->count() > 0) {
        Matrix own = alone(matrix);
        CrossValidation by_own = cross_validate(own, learn);
        if (costs_less(by_own.kept(), trained.validation.kept())) {
            learn.from_alike = false;
            trained.from_alike_geomean = trained.validation.kept().regret.geomean;
            matrix = std::move(own), trained.validation = std::move(by_own);
        }
    }
    learn.pruning = trained.validation.prunings[trained.validation.smallest];
    learn.part_relaxed = trained.validation.part_relaxed;
}

}  // namespace

Trained train(const Family& family, const DeviceInfo& device, std::span<const CaseRecord> records,
              const TrainOptions& options, std::span<const OtherResults> others) {
    Trained trained{.family = &family, .evidence = read_evidence(family, device, records, options.evidence)};
    learn_from(others, family, device, options.evidence, trained.evidence);
    Matrix& matrix = trained.evidence.matrix;
    LearnOptions learn = options.learn;
    matrix.drawn = draw_problems_for(family, device, matrix, learn.drawn);
    if (options.mix)
        trained.weighting = weigh(family, device.key, *options.mix,
                                  (matrix.drawn->count - matrix.drawn->alike) / weight_of(matrix, learn), matrix,
                                  trained.evidence.notices);
    if (!learn.from_alike) matrix = alone(std::move(matrix));
    if (options.evaluate) choose_how(trained, learn);
    trained.pruning = learn.pruning, trained.part_relaxed = learn.part_relaxed, trained.from_alike = learn.from_alike;
    trained.tree = tree_for(family, device, matrix, learn);
    constexpr int kDraws = 2000;
    if (const auto uncovered = find_uncovered_problem(family, device, matrix, trained.tree, kDraws, learn.seed))
        throw BadEvidence("the baseline of " + std::string(family.name()) + " declines a problem, " + *uncovered +
                          "; mend its supports(): every ranking ends in it");
    if (auto& weighting = trained.weighting) {
        weighting->regret = weighed_regret(matrix, trained.tree);
        trained.evidence.notices.push_back(fmt::format(
            "{} weighs {} by {}; on them the tree takes {:.3f}x the best times", printable(options.mix->file),
            counted(weighting->problems, "problem"), weighting->by_time ? "time" : "calls", weighting->regret));
    }
    if (options.evaluate) trained.evaluation = evaluate(matrix, trained.tree, learn, trained.validation);
    if (options.forests) trained.forest = forest_of(trained, device, learn);
    return trained;
}

ordered_json summary(const Trained& trained, const ordered_json& before) {
    const Evaluation& e = trained.evaluation;
    const Matrix& matrix = trained.evidence.matrix;
    const Choice& single = matrix.candidates[e.best_single_candidate];
    const VariantInfo& variant = trained.family->variants()[single.variant];
    ordered_json entry = figures(e.training);
    entry["held_out"] = figures(e.held_out);
    if (!trained.from_alike) entry["from_alike_geomean"] = rounded(trained.from_alike_geomean);
    entry["best_single_geomean"] = rounded(e.best_single);
    entry["best_single_variant"] = variant.name;
    entry["best_single_configuration"] = variant.configurations[single.configuration].text();
    entry["sklearn_geomean"] = kept(before, "sklearn_geomean", trained.evidence.data_sha256);
    entry["held_out_by_size"] = size_curve(trained.validation);
    entry["held_out_by_leaf"] = held_out_by_leaf(trained);
    entry["held_out_best_single"] = figures(e.held_out_single);
    entry["held_out_nearest_neighbour"] = figures(e.held_out_nearest);
    entry["held_out_sklearn"] = kept(before, "held_out_sklearn", trained.evidence.data_sha256);
    entry["choices"] = matrix.candidates.size();
    entry["leaves"] = trained.tree.leaves.size();
    entry["depth"] = trained.tree.depth();
    if (const std::size_t imputed = matrix.count(CellState::imputed); imputed > 0) entry["imputed_times"] = imputed;
    if (const auto& weighting = trained.weighting)
        entry["weights"] = {{"file_sha256", weighting->file_sha256},
                            {"by", weighting->by_time ? "time" : "calls"},
                            {"problems", weighting->problems},
                            {"regret_geomean", rounded(weighting->regret)}};
    entry["dispatch_ns"] = kept(before, "dispatch_ns", trained.evidence.data_sha256);
    entry["data_sha256"] = trained.evidence.data_sha256;
    return entry;
}

void learn_as(std::string_view tree, LearnOptions& options) try {
    const TreeFile earlier = read_tree(tree);
    options.pruning = earlier.pruning, options.part_relaxed = earlier.part_relaxed;
    options.from_alike = earlier.from_alike;
} catch (const BadData&) {
    options.pruning = 1;
}

std::string weights_of(std::string_view tree) try { return read_tree(tree).weights_sha256; } catch (const BadData&) {
    return {};
}

std::vector<std::string> devices_with_results(const fs::path& results) {
    std::vector<std::string> keys;
    if (!fs::is_directory(results))
        throw BadData(
            "no results in " + results.string() +
            ": run `espalier sweep` first, start from the repository's root, or name the folder with --results");
    for (const auto& entry : fs::directory_iterator(results))
        if (fs::exists(entry.path() / "device.json")) keys.push_back(entry.path().filename().string());
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::vector<fs::path> orphans(const TrainingFolders& folders) {
    std::vector<fs::path> found;
    if (!fs::is_directory(folders.output)) return found;
    for (const auto& entry : fs::recursive_directory_iterator(folders.output)) {
        if (entry.path().extension() != ".tree" && entry.path().extension() != ".forest") continue;
        const std::string family = entry.path().parent_path().filename().string();
        if (!fs::exists(cases_file(folders.results / entry.path().stem(), family))) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

TrainedFile with_unseen(const fs::path& device_folder, const UnseenFigures& unseen,
                        const UnseenFigures& unseen_predicted) {
    const fs::path path = device_folder / "selector.json";
    ordered_json summaries = read_summary(path);
    for (const auto& [member, all] : {std::pair("unseen", &unseen), std::pair("unseen_predicted", &unseen_predicted)})
        for (const auto& [family, figures] : *all) {
            if (!summaries.contains(family) || !summaries[family].is_object()) continue;
            summaries[family].erase(member);
            if (!figures.is_null()) summaries[family][member] = figures;
        }
    return compare(path, selector_json(device_folder.filename().string(), summaries));
}

TrainedDevice train_device(const std::string& device_key, const TrainingFolders& folders,
                           const std::vector<std::string>& families, const TrainOptions& options) {
    if (!valid_device_key(device_key))
        throw BadData(
            "a folder of results is named by no device key (lower-case letters, digits, '-' and '_'): rename it");
    const fs::path folder = folders.results / device_key;
    if (!fs::exists(folder / "device.json"))
        throw BadData("no results for " + device_key + " in " + folders.results.string() +
                      ": run `espalier sweep` there");
    const DeviceResults results = load_results(folder, families);
    if (results.device.key != device_key)
        throw BadData((folder / "device.json").string() + " describes another device: merge its journals again");
    if (results.device.emulated)
        throw BadEvidence(device_key + " is emulated: its times say nothing about a device; remove " + folder.string());

    RecordsByFamily records;
    for (const CaseRecord& record : results.cases) records[record.family].push_back(record);
    const std::vector<DeviceResults> others = results_beside(results.device, records, folders);
    TrainedDevice trained{.device = results.device, .known_stale = load_known_stale(folder)};
    ordered_json summaries = read_summary(folder / "selector.json");
    std::vector<TrainedFile> forests;
    for (const auto& [name, cases] : records) {
        const Family* family = find_family(name);
        if (!family) {
            trained.notices.push_back("skipped " + name + ".jsonl: this build has no such family");
            continue;
        }
        refuse_missing_cases(results, name, options.evidence, trained.notices);
        const fs::path path = folders.output / name / (device_key + ".tree");
        const auto earlier = read_file(path);
        TrainOptions own = options;
        own.evidence.known_stale = trained.known_stale;
        if (!options.evaluate && earlier) learn_as(*earlier, own.learn);
        const fs::path forest = fs::path(path).replace_extension(".forest");
        own.forests |= fs::exists(forest);
        trained.families.push_back(train(*family, results.device, cases, own, of_family(others, name)));
        const Trained& now = trained.families.back();
        const std::string tree = tree_text(now, results.device);
        for (const auto& notice : now.evidence.notices) trained.notices.push_back(name + ": " + notice);
        for (auto& stale : ranked_stale(now, cases)) trained.stale.push_back(std::move(stale));
        if (options.evaluate) {
            const ordered_json before = summaries.contains(name) ? summaries[name] : ordered_json();
            summaries[name] = summary(now, before);
            if (auto relative = shipped_instead(now, results.device, folders, trained.notices); !relative.is_null()) {
                summaries[name]["shipped"] = std::move(relative);
            } else {  // figures of unseen problems are of the own tree
                keep_unseen(before, now, tree, summaries[name], trained.notices);
                keep_predicted(before, now, summaries[name]);
            }
        }
        const bool left = is_left(summaries, name);
        if (!now.forest.empty()) forests.push_back(compare(forest, now.forest, left));
        trained.diffs.push_back(earlier ? compare(*earlier, now, results.device) : std::nullopt);
        trained.files.push_back(compare(path, tree, left));
    }
    std::ranges::move(forests, std::back_inserter(trained.files));
    if (trained.families.empty() || !options.evaluate) return trained;
    trained.files.push_back(compare(folder / "selector.json", selector_json(device_key, summaries)));
    return trained;
}

}  // namespace espalier::bench::learn
