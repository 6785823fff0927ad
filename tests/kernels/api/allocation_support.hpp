// Making calls whose allocations may fail: outcomes without memory of their own, arrays, plans, lists of calls.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/api/allocation_calls.hpp"

namespace espalier {

inline std::uint64_t hashed(std::span<const std::byte> bytes, std::uint64_t hash = 0xCBF29CE484222325U) {
    for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3U;
    return hash;
}

template <class T>
std::uint64_t hash_of(const std::vector<T>& values) {
    return hashed(std::as_bytes(std::span(values)));
}
inline std::uint64_t hash_of(const std::string& text) { return hashed(std::as_bytes(std::span(text))); }
inline std::uint64_t hash_of(const Explanation& why) {
    return hash_of(why.reason) ^ hash_of(why.variant) ^ hash_of(why.path);
}
inline std::uint64_t hash_of(const Neighbours& lists) { return hash_of(lists.distances) ^ hash_of(lists.indices); }
inline std::uint64_t hash_of(const RadiusNeighbours& lists) {
    return hash_of(lists.distances) ^ hash_of(lists.offsets);
}
inline std::uint64_t hash_of(const ExactNeighbours& lists) { return hash_of(lists.distances) ^ hash_of(lists.indices); }
inline std::uint64_t hash_of(const std::vector<LoadedSelector>& list) {
    return list.empty() ? 1 : hash_of(list[0].file);
}
inline std::uint64_t hash_of(const LoadedSelectors& all) { return hash_of(all.selectors); }

/// Of a call that returns what it made.
template <class T>
Outcome made(const Result<T>& result) {
    Outcome outcome = outcome_of(result);
    if constexpr (requires { hash_of(result.value()); })
        if (outcome.ok()) outcome.hash = hash_of(result.value());
    return outcome;
}

/// Of a call that wrote to arrays.
template <class... T>
Outcome written(const Result<void>& result, const std::vector<T>&... arrays) {
    Outcome outcome = outcome_of(result);
    if (outcome.ok()) ((outcome.hash ^= hash_of(arrays)), ...);
    return outcome;
}

/// Whole numbers below 17, so that sums are the same in every order.
template <class T>
std::vector<T> numbers(std::int64_t count, unsigned seed = 1) {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (T& value : values) value = static_cast<T>((seed = seed * 1664525U + 1013904223U) >> 24) / 16;
    return values;
}

/// Not a variable: nothing may be called before the tests that call something first.
inline Device cpu() { return Device::cpu(); }

/// For variants that are named: all others are the library's choice.
using Names = std::vector<const char*>;

class Calls {
public:
    std::vector<NamedCall> all;

    void add(std::string name, std::function<Call()> prepare, bool succeeds = true) {
        all.push_back({std::move(name), std::move(prepare), succeeds});
    }

    /// The call once for each variant; `prepare` takes the options that name it. "" is the library's choice.
    template <class Prepare>
    void add_each(const std::string& name, const Names& variants, Prepare prepare) {
        for (const char* variant : variants)
            add(name + (*variant ? std::string("_") + variant : ""),
                [prepare, variant] { return prepare(Options{.variant = variant}); });
    }
};

/// A plan is made and run within a call, in memory from before.
struct Room {
    std::vector<std::byte> bytes = std::vector<std::byte>(std::size_t{1} << 22);

    [[nodiscard]] std::span<std::byte> of(const Plan& plan) {
        void* data = bytes.data();
        std::size_t space = bytes.size();
        return {static_cast<std::byte*>(std::align(64, plan.workspace_bytes(), data, space)), plan.workspace_bytes()};
    }
};

/// Plans, runs and explains; `run` takes the plan and its workspace.
template <class MakePlan, class Run>
Call planned(MakePlan make, Run run) {
    return [make, run, room = std::make_shared<Room>()] {
        const auto plan = make();
        if (!plan) return made(plan);
        const Result<Explanation> why = plan.value().explain();
        if (!why) return made(why);
        return run(plan.value(), room->of(plan.value()));
    };
}

template <class T>
std::shared_ptr<std::vector<T>> results(std::int64_t count) {
    return std::make_shared<std::vector<T>>(static_cast<std::size_t>(count));
}

/// Models of float and of double.
void add_neighbours(Calls& calls);
void add_exact_neighbours(Calls& calls);

}  // namespace espalier
