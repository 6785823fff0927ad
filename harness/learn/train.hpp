#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "harness/families/family.hpp"
#include "harness/learn/evaluation.hpp"
#include "harness/learn/evidence.hpp"
#include "harness/learn/learn.hpp"
#include "harness/records/case_record.hpp"

namespace espalier::bench::learn {

struct TrainOptions {
    LearnOptions learn;
    EvidenceOptions evidence;
    bool evaluate =
        true;  ///< how good the trees are, for which ten more are grown; else `Trained::evaluation` is empty
};

/// A selector of one family for one device: from what, how good, and its C++.
struct Trained {
    const Family* family;
    Evidence evidence;
    Tree tree;
    Evaluation evaluation;
    std::string source;
};

/// The tree of a family for a device: learnt from all rows and the problems drawn for the matrix, which it gets, with
/// rankings that serve other devices, too.
Tree tree_for(const Family& family, const DeviceInfo& device, Matrix& matrix, const LearnOptions& options = {});

/// From records to C++. The same records give the same bytes, whatever their order. Throws `BadEvidence`
/// for results that must not be trained on, and if some problem would be left without a supported choice.
Trained train(const Family& family, const DeviceInfo& device, std::span<const CaseRecord> records,
              const TrainOptions& options = {});

/// The family's entry in results/<device-key>/selector.json. `before` is the entry so far, or null: what
/// others have measured for the same data (dispatch_ns, sklearn_geomean, held_out_sklearn) is kept.
nlohmann::ordered_json summary(const Trained& trained, const nlohmann::ordered_json& before);

}  // namespace espalier::bench::learn
