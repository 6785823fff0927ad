#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/emit/trained.hpp"
#include "harness/bench/evidence/evidence.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/learn/learn.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/records/stale.hpp"
#include "harness/bench/train/beside.hpp"
#include "harness/bench/train/decisions.hpp"
#include "harness/bench/train/weights.hpp"

namespace espalier::bench::learn {

struct TrainOptions {
    LearnOptions learn;
    EvidenceOptions evidence;
    bool evaluate =
        true;  ///< how good the trees are, for which ten more are grown; else `Trained::evaluation` is empty
    std::shared_ptr<const ProblemMix> mix{};  ///< what the trees are for more than for other problems; null: nothing
    bool forests = false;  ///< also forests that plans ask; those that are on file are made anew in any case
};

/// From records to a tree. The same records give the same tree, whatever their order. Throws `BadEvidence`
/// for results that must not be trained on, and if some problem would be left without a supported choice. Of `others`
/// what must not be is passed over with a notice.
Trained train(const Family& family, const DeviceInfo& device, std::span<const CaseRecord> records,
              const TrainOptions& options = {}, std::span<const OtherResults> others = {});

/// The family's entry in results/<device-key>/selector.json. `before` is the entry so far, or null: what
/// others have measured for the same data (dispatch_ns, sklearn_geomean, held_out_sklearn) is kept.
nlohmann::ordered_json summary(const Trained& trained, const nlohmann::ordered_json& before);

/// A file that training makes: what it should hold and whether it does.
struct TrainedFile {
    std::filesystem::path path;
    std::string contents;
    bool exists = false;
    bool same = false;             ///< the file holds exactly `contents`
    bool unwanted = false;         ///< there should be none: another device's tree is shipped
    std::size_t first_difference;  ///< number of the first line that differs, from 1; 0 if the same

    [[nodiscard]] bool is_as_wanted() const { return unwanted ? !exists : same; }
};

struct TrainedDevice {
    DeviceInfo device;
    std::vector<Trained> families;   ///< in the order of their names
    std::vector<TrainedFile> files;  ///< the tree of every family, then forests; if evaluated, selector.json
    std::vector<std::optional<DecisionDiff>> diffs;  ///< per family: from the tree that its file holds
    std::vector<std::string> notices;
    std::vector<StaleVariant> stale;  ///< those that a tree ranks somewhere
    KnownStaleList known_stale;
};

struct TrainingFolders {
    std::filesystem::path results = "results";
    std::filesystem::path output = "kernels/selectors";
    std::filesystem::path evidence{};        ///< more results to learn from, of devices that are alike; empty: none
    std::filesystem::path evidence_trees{};  ///< the trees of these, which may be shipped for a device; empty: none
};

/// Learns as the tree with this text was learned: how was chosen when it was evaluated.
void learn_as(std::string_view tree, LearnOptions& options);

/// SHA-256 of the file that weighed the problems of the tree with this text; empty if none did, and if it is no tree.
std::string weights_of(std::string_view tree);

/// The device keys under `results`: folders with a device.json, sorted.
std::vector<std::string> devices_with_results(const std::filesystem::path& results);

/// Selectors under `output` that no results account for: their devices or families were removed.
std::vector<std::filesystem::path> orphans(const TrainingFolders& folders);

/// selector.json of a device with these figures by family instead of those that it has, as `unseen`, or with a plan's
/// effort as `unseen_predicted`: null removes them, and a family without an entry has none. Throws `BadData` for a file
/// that is no selector.json.
using UnseenFigures = std::map<std::string, nlohmann::ordered_json>;
TrainedFile with_unseen(const std::filesystem::path& device_folder, const UnseenFigures& unseen,
                        const UnseenFigures& unseen_predicted = {});

/// Trains the selectors of one device in memory; `families` limits which. Figures of unseen problems stay in
/// selector.json as long as the tree decides the same. Nothing is written: see
/// `write_file_atomically`. Throws `BadData`, `BadEvidence`.
TrainedDevice train_device(const std::string& device_key, const TrainingFolders& folders,
                           const std::vector<std::string>& families, const TrainOptions& options);

}  // namespace espalier::bench::learn
