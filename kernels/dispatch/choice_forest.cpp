#include "kernels/dispatch/choice_forest.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {

double rounded_log2(double value) { return std::round(std::log2(std::max(value, 1e-6)) * 0x1p16) * 0x1p-16; }

double evenness(double value) {
    int times = 0;
    for (double half = value / 2; times < 6 && half >= 1 && half == std::floor(half); half /= 2) ++times;
    return times;
}

void ChoiceForest::read(const double* features, float* columns) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const double value = features[inputs[i].feature];
        switch (inputs[i].kind) {
            case ForestInput::Kind::logarithm: columns[i] = static_cast<float>(rounded_log2(value)); break;
            case ForestInput::Kind::evenness: columns[i] = static_cast<float>(evenness(value)); break;
            case ForestInput::Kind::is: columns[i] = value == inputs[i].category ? 1.0F : 0.0F; break;
        }
    }
    const std::int8_t* factor = factors.data();
    for (std::size_t s = 0; s < sums(); ++s) {
        float sum = 0;
        for (std::size_t i = 0; i < inputs.size(); ++i, ++factor)
            if (*factor != 0) sum += *factor > 0 ? columns[i] : -columns[i];
        columns[inputs.size() + s] = sum;
    }
}

void ChoiceForest::ask(const float* columns, std::uint32_t* totals) const {
    std::fill(totals, totals + choices, 0U);
    for (const Tree& tree : trees) {
        const Node* node = &nodes[tree.node];
        while (node->input != Node::kLeaf) node += columns[node->input] <= node->threshold ? 1 : node->next;
        const std::uint8_t* leaf = &leaves[(tree.leaf + node->next) * choices];
        for (std::size_t c = 0; c < choices; ++c) totals[c] += leaf[c];
    }
}

double ChoiceForest::slowdown(std::uint32_t total) const {
    return std::exp2(total / (kStepsPerOctave * static_cast<double>(trees.size())));
}

}  // namespace espalier
