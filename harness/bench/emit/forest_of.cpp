#include "harness/bench/emit/forest_of.hpp"

#include "harness/bench/learn/choice_forest.hpp"
#include "kernels/dispatch/forest_file.hpp"

namespace espalier::bench::learn {

std::string forest_of(const Trained& trained, const DeviceInfo& device, const LearnOptions& options) {
    const Matrix& matrix = trained.evidence.matrix;
    const auto choices = choices_beside(matrix, trained.tree);
    ForestFile file{
        .family = std::string(trained.family->name()),
        .device_key = device.key,
        .data_sha256 = trained.evidence.data_sha256,
        .forest = distil_forest(whole_lesson(matrix, matrix.all(), options), choices, options.combinations)};
    const auto features = trained.family->features();
    for (const FeatureInfo& feature : features) file.features.emplace_back(feature.name);
    for (const ForestInput& input : file.forest.inputs)
        file.categories.emplace_back(
            input.kind == ForestInput::Kind::is ? features[input.feature].categories[input.category] : "");
    for (const std::size_t c : choices) {
        const VariantInfo& variant = trained.family->variants()[matrix.candidates[c].variant];
        file.choices.push_back(
            {std::string(variant.name), variant.configurations[matrix.candidates[c].configuration].text()});
    }
    return forest_bytes(file);
}

}  // namespace espalier::bench::learn
