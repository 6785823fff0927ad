// What tests of trees that are read at run time share: files of trees, and what the library makes of them.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "kernels/core/feature.hpp"
#include "tests/kernels/api/api_helpers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier {

namespace fs = std::filesystem;

inline const std::string kHere = Device::cpu().key();

/// What the library runs for an inner product on this CPU.
inline Explanation dot_here(std::int64_t elements = 1000) {
    return value_of(explain_dot_product(Device::cpu(), elements));
}

/// Trees that were loaded so far: by other tests, too, where all of them are one process.
inline std::size_t in_use() { return value_of(loaded_selectors()).selectors.size(); }

/// Every tree of every device that is committed.
inline std::vector<fs::path> committed_trees() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(ESPALIER_COMMITTED_SELECTORS))
        if (entry.path().extension() == ".tree") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

/// Random problems: sizes of every magnitude.
template <class P>
P random_problem(std::mt19937_64& random) {
    P problem{};
    for (const Feature<P>& feature : P::features()) {
        if (feature.derived()) continue;
        const auto size = static_cast<double>(random() >> (44 + random() % 20));
        feature.assign(problem,
                       feature.categories.empty() ? size : static_cast<double>(random() % feature.categories.size()));
    }
    return problem;
}

class LoadingTrees : public testing::Test {
protected:
    /// The path of a tree of this CPU in a folder of its own.
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        fs::create_directories(folder_.path() / name);
        return folder_.file(name + "/dot.tree", text);
    }

    TemporaryFolder folder_;
};

}  // namespace espalier
