#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "kernels/core/registry.hpp"
#include "kernels/dispatch/forced_variant.hpp"

namespace espalier {

struct LoadedTable;
struct LoadedTree;
struct TreeFile;

/// A family with its problem type erased.
struct KernelFamily {
    std::string_view name;
    Result<Explanation> (*explain)(std::string_view problem, const DeviceInfo&, const ForcedVariant*, const Demands&);

    // Makes a tree of a file, see loaded_trees.hpp.
    std::unique_ptr<LoadedTree> (*tree)(const TreeFile&);  ///< throws BadData
    std::unique_ptr<LoadedTable> (*table)(std::span<const LoadedTree* const>);
    void (*publish)(const LoadedTable*) noexcept;
};

/// Every family, in the order of its folder's name. Generated.
std::span<const KernelFamily> kernel_families();

/// Null if there is none of that name.
const KernelFamily* find_kernel_family(std::string_view name);

/// "coherent_sum, convolution_2d, ..."
std::string kernel_family_names();

/// What `SimilarName` asks about a name that no family has.
std::string similar_family(std::string_view name);

/// What any device, also one that is not here, would run for a problem key, and why. `forced` may be null.
Result<Explanation> explain(std::string_view family, std::string_view problem, const DeviceInfo& device,
                            const ForcedVariant* forced, const Demands& demands = {});

}  // namespace espalier
