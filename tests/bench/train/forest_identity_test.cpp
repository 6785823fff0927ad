// The library predicts what the learner's forest does: every committed forest, over random problems.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "harness/base/files/read_file.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "kernels/dispatch/forests.hpp"
#include "tests/each_family.hpp"

namespace espalier::bench::learn {
namespace {

/// The forest as training has it: its categories by their places among the family's.
ChoiceForest as_trained(const Family& family, ForestFile file) {
    for (std::size_t i = 0; i < file.forest.inputs.size(); ++i) {
        ForestInput& input = file.forest.inputs[i];
        const auto names = family.features()[input.feature].categories;
        input.category = static_cast<std::uint8_t>(std::ranges::find(names, file.categories[i]) - names.begin());
    }
    return file.forest;
}

template <class P>
P random_problem(std::mt19937_64& random) {
    P problem{};
    for (const Feature<P>& feature : P::features()) {
        if (feature.derived()) continue;
        const auto size = static_cast<double>(1 + (random() >> (44 + random() % 20)));
        feature.assign(problem,
                       feature.categories.empty() ? size : static_cast<double>(random() % feature.categories.size()));
    }
    return problem;
}

TEST(Forests, PredictWhatWasLearned) {
    constexpr int kProblems = 3000;
    for_each_family([&]<class P>(const P*, std::string_view name) {
        const Family& family = *find_family(name);
        const auto columns = columns_of(family);
        const auto folder = std::filesystem::path(ESPALIER_COMMITTED_SELECTORS) / name;
        if (!std::filesystem::is_directory(folder)) return;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().extension() != ".forest") continue;
            SCOPED_TRACE(entry.path().string());
            const ForestFile file = read_forest(read_file(entry.path()).value());
            const LoadedForest<P> loaded(file, tables<P>().registry);
            const ChoiceForest learned = as_trained(family, file);
            std::mt19937_64 random(1);
            for (int i = 0; i < kProblems; ++i) {
                const P problem = random_problem<P>(random);
                const auto values = asked_values(family, columns, problem_key(problem));
                std::vector<float> read(learned.columns());
                std::vector<std::uint32_t> totals(learned.choices);
                learned.read(values.data(), read.data());
                learned.ask(read.data(), totals.data());
                ASSERT_EQ(loaded.totals(problem), totals) << problem_key(problem);
            }
            EXPECT_EQ(loaded.predict(P{}).size(), learned.choices);  // nothing of it is unknown here
        }
    });
}

}  // namespace
}  // namespace espalier::bench::learn
