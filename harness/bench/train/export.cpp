#include "harness/bench/train/export.hpp"

#include "harness/bench/learn/in_family.hpp"

namespace espalier::bench::learn {

using nlohmann::ordered_json;

namespace {

const char* name_of(CellState state) {
    switch (state) {
        case CellState::measured: return "measured";
        case CellState::imputed: return "imputed";
        case CellState::unsupported: return "unsupported";
        case CellState::missing: break;
    }
    return "missing";
}

}  // namespace

ordered_json export_matrix(const DeviceInfo& device, const Trained& trained, const LearnOptions& options) {
    const Matrix& matrix = trained.evidence.matrix;
    auto features = ordered_json::array(), categories = ordered_json::array(), choices = ordered_json::array();
    std::vector<std::size_t> known;  // what a choice may depend on
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
        const Column& column = matrix.columns[c];
        if (column.is_interaction() || !column.testable()) continue;
        known.push_back(c);
        features.push_back(column.name);
        categories.push_back(column.categories);
    }
    for (const Choice& candidate : matrix.candidates) choices.push_back(name_of(*trained.family, candidate));
    auto values = ordered_json::array(), slowdown = ordered_json::array(), measured = ordered_json::array(),
         cells = ordered_json::array();
    for (std::size_t p = 0; p < matrix.rows(); ++p) {
        auto& row = values.emplace_back(ordered_json::array());
        for (const std::size_t c : known) row.push_back(matrix.value(p, c));
        auto& slowdowns = slowdown.emplace_back(ordered_json::array());
        auto& timed = measured.emplace_back(ordered_json::array());
        auto& states = cells.emplace_back(ordered_json::array());
        for (std::size_t c = 0; c < matrix.candidates.size(); ++c) {
            slowdowns.push_back(matrix.log_slowdown(p, c));
            timed.push_back(matrix.measured(p, c));
            states.push_back(name_of(matrix.state(p, c)));
        }
    }
    auto folds = ordered_json::array();
    for (const Fold& fold : evaluation_folds(matrix, options)) folds.push_back(fold.held_out);
    return {{"device_key", device.key},
            {"family", trained.family->name()},
            {"data_sha256", trained.evidence.data_sha256},
            {"features", features},
            {"categories", categories},
            {"choices", choices},
            {"problems", matrix.problems},
            {"values", values},
            {"log_slowdown", slowdown},
            {"measured", measured},
            {"states", cells},
            {"folds", folds},
            {"held_out_choices", trained.evaluation.held_out.choices}};
}

}  // namespace espalier::bench::learn
