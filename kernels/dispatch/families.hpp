#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/plan.hpp"
#include "kernels/core/registry.hpp"
#include "kernels/dispatch/forced_variant.hpp"

namespace espalier {

struct LoadedTable;
struct LoadedTree;
struct TreeFile;
struct WisdomEntry;

/// A family with its problem type erased.
struct KernelFamily {
    std::string_view name{};
    Result<Explanation> (*explain)(std::string_view problem, const DeviceInfo&, const ForcedVariant*, const Demands&,
                                   Effort) = nullptr;

    // Makes a tree of a file, see loaded_trees.hpp.
    std::unique_ptr<LoadedTree> (*tree)(const TreeFile&) = nullptr;  ///< throws BadData
    std::unique_ptr<LoadedTable> (*table)(std::span<const LoadedTree* const>) = nullptr;
    void (*publish)(const LoadedTable*) noexcept = nullptr;

    // Puts wisdom to use, or takes all of it away, see wisdom.hpp. `learn` says why an entry is of no use here.
    std::optional<std::string> (*learn)(const WisdomEntry&) = nullptr;
    void (*forget)() noexcept = nullptr;
};

/// The names of every family of this version, in alphabetical order. Generated.
std::span<const std::string_view> family_names();

/// The families that are linked into this program, in the order of their names: of a static library those that the
/// program uses, or all (cmake/EspalierKernels.cmake). Generated.
std::span<const KernelFamily> kernel_families();

/// Null if there is none of that name in this program.
const KernelFamily* find_kernel_family(std::string_view name);

/// Whether a family is called so, linked into this program or not.
bool is_family(std::string_view name);

/// "coherent_sum, convolution_2d, ...": the names of all.
std::string family_list();

/// The question of `SimilarName` about a name that no family has.
std::string similar_family(std::string_view name);

/// Says how to link a family that this program lacks.
std::string how_to_link(std::string_view family);

/// Explains what any device, also one that is not here, would run for a problem key, or a plan with that effort, which
/// measures nothing. `forced` may be null.
Result<Explanation> explain(std::string_view family, std::string_view problem, const DeviceInfo& device,
                            const ForcedVariant* forced, const Demands& demands = {}, Effort effort = Effort::tree);

}  // namespace espalier
