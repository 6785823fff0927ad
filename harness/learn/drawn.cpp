#include "harness/learn/drawn.hpp"

#include "harness/families/domain.hpp"
#include "harness/learn/pairs.hpp"

namespace espalier::bench::learn {

std::shared_ptr<const DrawnProblems> draw_for(const Family& family, const DeviceInfo& device, const Matrix& matrix,
                                              std::size_t count) {
    constexpr std::uint64_t kSeed = 1;
    auto drawn = std::make_shared<DrawnProblems>();
    const auto defaults = family.feature_values("");
    for (std::string key : draw_problems(family, device.kind, kSeed, espalier::bench::Stream::sweep, count)) {
        std::vector<double> features = family.feature_values(key);
        bool changed = false;
        for (std::size_t f = 0; f < features.size(); ++f)
            if (matrix.columns[f].absent && features[f] != defaults[f]) features[f] = defaults[f], changed = true;
        if (changed) {
            key = family.key_of(features);
            features = family.feature_values(key);
        }
        const auto values = values_of(matrix.columns, std::move(features));
        drawn->values.insert(drawn->values.end(), values.begin(), values.end());
        for (const auto& [variant, configuration] : matrix.candidates)
            drawn->supported.push_back(
                bool(family.supports(variant, key, family.variants()[variant].configurations[configuration], device)));
        ++drawn->count;
    }
    return drawn;
}

}  // namespace espalier::bench::learn
