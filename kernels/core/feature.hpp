#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernels/core/similar_name.hpp"

namespace espalier {

/// One named column of a problem: what its key is spelled with, the sweep varies and the tree splits on.
/// A family lists the features of its `Problem` in `Problem::features()`.
template <class P>
struct Feature {
    std::string_view name;
    std::string_view expression;                   ///< C++ that reads it from `problem`, for the emitter
    std::string_view enum_type;                    ///< its C++ type if it is a category, else empty
    std::span<const std::string_view> categories;  ///< enumerators in order; empty for a number
    double (*value)(const P&);
    void (*assign)(P&, double);  ///< null for a derived feature, which is no part of the key
    bool known = true;  ///< to whoever chooses a variant; what sweeps vary and nobody knows beforehand, no tree asks
    bool optional = false;  ///< keys leave it out at its default; only variants that list it handle others, if known
    bool relaxing = false;  ///< its other values ask for less than the default does: whatever runs that serves them

    [[nodiscard]] bool derived() const { return assign == nullptr; }
};

namespace detail {
template <class M>
struct MemberOf;
template <class P, class T>
struct MemberOf<T P::*> {
    using Class = P;
    using Type = T;
};
template <class P, class T>
struct MemberOf<T (P::*)() const> {
    using Class = P;
    using Type = T;
};
}  // namespace detail

/// A numeric field of the problem. `expression` is "problem.<name>".
template <auto Member, class P = typename detail::MemberOf<decltype(Member)>::Class>
constexpr Feature<P> number(std::string_view name, std::string_view expression) {
    using T = typename detail::MemberOf<decltype(Member)>::Type;
    return {name,
            expression,
            {},
            {},
            [](const P& p) { return static_cast<double>(p.*Member); },
            [](P& p, double v) { p.*Member = static_cast<T>(v); }};
}

/// An enumerated field; `names[i]` must be the enumerator of value i.
template <auto Member, class P = typename detail::MemberOf<decltype(Member)>::Class>
constexpr Feature<P> category(std::string_view name, std::string_view expression, std::string_view enum_type,
                              std::span<const std::string_view> names) {
    using T = typename detail::MemberOf<decltype(Member)>::Type;
    static_assert(std::is_enum_v<T>);
    return {name,
            expression,
            enum_type,
            names,
            [](const P& p) { return static_cast<double>(static_cast<int>(p.*Member)); },
            [](P& p, double v) { p.*Member = static_cast<T>(static_cast<int>(v)); }};
}

/// Makes a feature one that sweeps vary but that a caller of the library does not know.
template <class P>
constexpr Feature<P> unknown(Feature<P> feature) {
    feature.known = false;
    return feature;
}

/// Makes a feature one that a family got after it had been measured. Keys without it, records and variants of
/// before then go on to mean what they did: the value of `P{}`.
template <class P>
constexpr Feature<P> optional(Feature<P> feature) {
    feature.optional = true;
    return feature;
}

/// Makes an optional feature one whose other values ask for less than its default: variants that do not list it
/// serve them by doing more than they have to.
template <class P>
constexpr Feature<P> relaxing(Feature<P> feature) {
    feature.relaxing = true;
    return feature;
}

/// Whether the problem has the feature's default.
template <class P>
bool at_default(const Feature<P>& feature, const P& problem) {
    return feature.value(problem) == feature.value(P{});
}

/// A number computed from the fields by a const member function; not part of the key.
template <auto Member, class P = typename detail::MemberOf<decltype(Member)>::Class>
constexpr Feature<P> derived(std::string_view name, std::string_view expression) {
    return {name, expression, {}, {}, [](const P& p) { return static_cast<double>((p.*Member)()); }, nullptr};
}

/// A feature's part of the key, such as "width=640" or "border=zero".
template <class P>
std::string feature_text(const Feature<P>& feature, const P& problem) {
    const auto value = feature.value(problem);
    std::string text(feature.name);
    text += '=';
    if (feature.categories.empty())
        text += std::to_string(static_cast<std::int64_t>(value));
    else
        text += feature.categories[static_cast<std::size_t>(value)];
    return text;
}

/// The stable readable key of a problem, such as "width=640;height=480;channels=3;border=zero"; or only what of it is
/// known to whoever chooses a variant. Optional features are left out where they have their default.
template <class P>
std::string problem_key(const P& problem, bool only_known = false) {
    std::string key;
    for (const Feature<P>& feature : P::features()) {
        if (feature.derived() || (only_known && !feature.known)) continue;
        if (feature.optional && at_default(feature, problem)) continue;
        if (!key.empty()) key += ';';
        key += feature_text(feature, problem);
    }
    return key;
}

template <class P>
std::string unknown_category(const Feature<P>& feature, std::string_view text) {
    std::string known;
    SimilarName meant(text);
    for (const std::string_view category : feature.categories) {
        known.append(known.empty() ? "" : ", ").append(category);
        meant.offer(category);
    }
    return "unknown " + std::string(feature.name) + " '" + std::string(text) + "'; known: " + known + meant.question();
}

template <class P>
std::string unknown_axis(std::string_view name) {
    std::string known;
    SimilarName meant(name);
    for (const Feature<P>& feature : P::features()) {
        if (feature.derived()) continue;
        known.append(known.empty() ? "" : ", ").append(feature.name);
        meant.offer(feature.name);
    }
    return "unknown axis '" + std::string(name) + "'; known: " + known + meant.question();
}

/// Sets one key feature from text. Returns what is wrong with it, or nothing.
template <class P>
std::optional<std::string> assign_feature(P& problem, std::string_view name, std::string_view text) {
    for (const Feature<P>& feature : P::features()) {
        if (feature.name != name || feature.derived()) continue;
        if (feature.categories.empty()) {
            std::int64_t number = 0;
            if (text.empty() || text.size() > 15) return "not a whole number: " + std::string(text);
            for (char c : text) {
                if (c < '0' || c > '9') return "not a whole number: " + std::string(text);
                number = number * 10 + (c - '0');
            }
            feature.assign(problem, static_cast<double>(number));
            return std::nullopt;
        }
        const auto category = std::ranges::find(feature.categories, text);
        if (category == feature.categories.end()) return unknown_category(feature, text);
        feature.assign(problem, static_cast<double>(category - feature.categories.begin()));
        return std::nullopt;
    }
    return unknown_axis<P>(name);
}

/// The inverse of `problem_key`. Axes that the key leaves out keep the default of `P{}`.
/// On failure `error` says what is wrong and the result is empty.
template <class P>
std::optional<P> parse_problem(std::string_view key, std::string& error) {
    P problem{};
    while (!key.empty()) {
        const auto item = key.substr(0, key.find(';'));
        key.remove_prefix(std::min(key.size(), item.size() + 1));
        const auto equals = item.find('=');
        if (equals == std::string_view::npos) {
            error = "expected axis=value, got '" + std::string(item) + "'";
            return std::nullopt;
        }
        if (auto wrong = assign_feature(problem, item.substr(0, equals), item.substr(equals + 1))) {
            error = *wrong;
            return std::nullopt;
        }
    }
    return problem;
}

}  // namespace espalier
