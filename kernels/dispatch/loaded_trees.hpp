#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/selectors.hpp"
#include "kernels/dispatch/loaded_tree.hpp"

namespace espalier {

/// A family's trees: the loaded ones, then those that are compiled in.
template <class P>
struct LoadedTableOf final : LoadedTable {
    std::vector<Selector<P>> selectors;
};

/// The table that dispatches take at this moment; null while nothing is loaded. What it points to is never changed and
/// never freed, so that whoever took it, dispatches and plans, may keep what they found there.
template <class P>
inline std::atomic<const LoadedTableOf<P>*> current_table{nullptr};

template <class P>
std::unique_ptr<LoadedTable> make_table(std::span<const LoadedTree* const> loaded,
                                        std::span<const Selector<P>> compiled) {
    auto table = std::make_unique<LoadedTableOf<P>>();
    for (const LoadedTree* tree : loaded) {
        table->selectors.push_back(static_cast<const LoadedTreeOf<P>*>(tree)->selector);
        table->selectors.back().file = tree->file;
    }
    table->selectors.insert(table->selectors.end(), compiled.begin(), compiled.end());
    return table;
}

template <class P>
void publish_table(const LoadedTable* table) noexcept {
    current_table<P>.store(static_cast<const LoadedTableOf<P>*>(table), std::memory_order_release);
}

namespace detail {
inline std::atomic<bool> environment_was_read{false};
void read_selectors_of_environment();
}  // namespace detail

/// Loads what ESPALIER_SELECTORS and ESPALIER_WISDOM name, at the first call. Throws std::bad_alloc.
inline void load_selectors_of_environment() {
    if (!detail::environment_was_read.load(std::memory_order_acquire)) detail::read_selectors_of_environment();
}

/// Says which part of ESPALIER_SELECTORS was not loaded, and why; empty if nothing is wrong.
const std::string& ignored_selectors();

/// The same of the part that was read so far, for a program's end: reads nothing.
const std::string& ignored_selectors_so_far();

/// See espalier/selectors.hpp. Throw BadData and std::bad_alloc, and change nothing then.
std::vector<LoadedSelector> load_trees(const std::string& path);
std::vector<LoadedSelector> trees_in_use();

}  // namespace espalier
