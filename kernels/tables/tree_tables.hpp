#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/feature.hpp"
#include "kernels/dispatch/tree_file.hpp"

/// From the trees of kernels/selectors/ to the tables that are compiled into the library: a step of the build.
namespace espalier::tables {

/// The part of a family's problems that the tables need.
struct FamilySource {
    struct Feature {
        std::string_view name, expression;  ///< the latter reads it from `problem`
        std::span<const std::string_view> categories;
    };

    std::string_view name;
    std::string problem;  ///< the header that has its problem
    std::vector<Feature> features;
};

template <class P>
FamilySource source_of(std::string_view family, std::string problem) {
    FamilySource source{family, std::move(problem), {}};
    for (const espalier::Feature<P>& feature : P::features())
        source.features.push_back({feature.name, feature.expression, feature.categories});
    return source;
}

/// The families of a program, as its build lists them.
std::vector<FamilySource> family_sources();

/// The C++ of a family's table of selectors, `selectors_in_this_program()`, in the order of `trees`. Of a variant that
/// there is not the compiler says so. Throws BadData for a feature or a category that there is not.
std::string tree_tables(const FamilySource& family, std::span<const TreeFile> trees);

}  // namespace espalier::tables
