#pragma once

// The generated tables of a family instantiate the templates of this header.

#include "kernels/core/printable.hpp"
#include "kernels/dispatch/choose.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/loaded_trees.hpp"
#include "kernels/dispatch/refusal.hpp"
#include "kernels/dispatch/wisdom_table.hpp"

namespace espalier {

template <class P>
Tables<P> compiled_tables() {
    return tables_of(static_cast<const P*>(nullptr));  // generated, in the family's namespace
}

template <class P>
Tables<P> tables() {
    Tables<P> all = compiled_tables<P>();
    load_selectors_of_environment();
    if (const auto* loaded = current_table<P>.load(std::memory_order_acquire)) all.selectors = loaded->selectors;
    all.lasting = true;
    all.wisdom = current_wisdom<P>.load(std::memory_order_acquire);
    return all;
}

template <class P>
std::unique_ptr<LoadedTree> loaded_tree(const TreeFile& file) {
    return tree_of<P>(file, compiled_tables<P>().registry);
}

template <class P>
std::unique_ptr<LoadedTable> loaded_table(std::span<const LoadedTree* const> trees) {
    return make_table<P>(trees, compiled_tables<P>().selectors);
}

template <class P>
std::optional<std::string> learn(const WisdomEntry& entry) {
    return wisdom_store<P>().learn(entry, compiled_tables<P>().registry);
}

template <class P>
Chosen<P> choose(const P& problem, const DeviceInfo& device) {
    // A stage must not break ties of its input, which the whole settles by index.
    const auto decision = decide(problem, device, {}, {.exact = true});
    if (!decision) throw NoChoice(decision.error().message);
    return {&decision.value().entry->variant, decision.value().configuration};
}

/// The first axis that a key, "a=1;b=2", names twice; empty if there is none. Of two values a caller means one, and
/// nobody knows which.
inline std::string_view named_twice(std::string_view key) {
    const auto behind_first = [](std::string_view items) {
        return items.substr(std::min(items.size(), std::min(items.find(';'), items.size() - 1) + 1));
    };
    for (std::string_view rest = key; !rest.empty();) {
        const std::string_view name = rest.substr(0, std::min(rest.find('='), rest.find(';')));
        rest = behind_first(rest);
        for (std::string_view other = rest; !other.empty(); other = behind_first(other))
            if (other.substr(0, std::min(other.find('='), other.find(';'))) == name) return name;
    }
    return {};
}

template <class P>
Result<Explanation> explain_key(std::string_view key, const DeviceInfo& device, const ForcedVariant* forced,
                                const Demands& demands, Effort effort) {
    if (const auto twice = named_twice(key); !twice.empty())
        return Error{ErrorCode::invalid_argument, std::string(tables<P>().family) + ": " +
                                                      printable_lines(std::string(twice)) +
                                                      " is given twice: leave one of the two out"};
    std::string wrong;
    const auto problem = parse_problem<P>(key, wrong);
    if (!problem)
        return Error{ErrorCode::invalid_argument, std::string(tables<P>().family) + ": " + printable_lines(wrong)};
    if (auto refused = refusal_of(*problem))
        return Error{ErrorCode::invalid_argument, std::string(tables<P>().family) + ": " + *refused};
    return explain(tables<P>(), *problem, device, forced, demands, effort);
}

template <class P>
KernelFamily kernel_family_of(std::string_view name) {
    return {name, explain_key<P>, loaded_tree<P>, loaded_table<P>, publish_table<P>, learn<P>, forget_table<P>};
}

}  // namespace espalier
