#include "harness/learn/train.hpp"

#include "harness/learn/drawn.hpp"
#include "harness/learn/emit.hpp"
#include "harness/learn/feasibility.hpp"
#include "harness/learn/other_devices.hpp"
#include "harness/learn/rounded.hpp"

namespace espalier::bench::learn {
namespace {

using nlohmann::ordered_json;

ordered_json figures(const HeldOut& held_out) {
    if (held_out.logs.empty()) return nullptr;
    ordered_json entry = figures(held_out.regret);
    entry["unmeasured"] = held_out.unmeasured;
    return entry;
}

ordered_json kept(const ordered_json& before, const char* member, const std::string& data_sha256) {
    if (!before.is_object() || !before.contains(member) || before.value("data_sha256", "") != data_sha256)
        return nullptr;
    const ordered_json& value = before[member];
    return value.is_number() || value.is_object() ? value : ordered_json(nullptr);
}

}  // namespace

Tree tree_for(const Family& family, const DeviceInfo& device, Matrix& matrix, const LearnOptions& options) {
    matrix.drawn = draw_for(family, device, matrix, options.draws);
    Tree tree = learn(matrix, matrix.all(), options);
    serve_other_devices(family, device, matrix, tree);
    return tree;
}

Trained train(const Family& family, const DeviceInfo& device, std::span<const CaseRecord> records,
              const TrainOptions& options) {
    Trained trained{.family = &family, .evidence = read_evidence(family, device, records, options.evidence)};
    Matrix& matrix = trained.evidence.matrix;
    trained.tree = tree_for(family, device, matrix, options.learn);
    constexpr int kDraws = 2000;
    if (const auto stranded = find_stranded_problem(family, device, matrix, trained.tree, kDraws, options.learn.seed))
        throw BadEvidence("the baseline of " + std::string(family.name()) + " declines a problem, " + *stranded +
                          "; mend its supports(): every ranking ends in it");
    if (options.evaluate) trained.evaluation = evaluate(matrix, trained.tree, options.learn);
    trained.source = emit(family, device, trained.evidence, trained.tree);
    return trained;
}

ordered_json summary(const Trained& trained, const ordered_json& before) {
    const Evaluation& e = trained.evaluation;
    const Matrix& matrix = trained.evidence.matrix;
    const Candidate& single = matrix.candidates[e.best_single_candidate];
    const VariantInfo& variant = trained.family->variants()[single.variant];
    ordered_json entry = figures(e.training);
    entry["held_out"] = figures(e.held_out);
    entry["best_single_geomean"] = rounded(e.best_single);
    entry["best_single_variant"] = variant.name;
    entry["best_single_configuration"] = variant.configurations[single.configuration].text();
    entry["sklearn_geomean"] = kept(before, "sklearn_geomean", trained.evidence.data_sha256);
    entry["held_out_best_single"] = figures(e.held_out_single);
    entry["held_out_nearest_neighbour"] = figures(e.held_out_nearest);
    entry["held_out_sklearn"] = kept(before, "held_out_sklearn", trained.evidence.data_sha256);
    entry["choices"] = matrix.candidates.size();
    entry["leaves"] = trained.tree.leaves.size();
    entry["depth"] = trained.tree.depth();
    if (const std::size_t guessed = matrix.count(CellState::guessed); guessed > 0) entry["guessed_times"] = guessed;
    entry["dispatch_ns"] = kept(before, "dispatch_ns", trained.evidence.data_sha256);
    entry["data_sha256"] = trained.evidence.data_sha256;
    return entry;
}

}  // namespace espalier::bench::learn
