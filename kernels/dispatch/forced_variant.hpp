#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/error.hpp"

namespace espalier {

/// A choice that the user made instead of the selector.
struct ForcedVariant {
    std::string variant;
    std::string configuration;  ///< "block=256;items=4"; empty: the tree's for this variant, else the default
    std::string_view origin;    ///< what to name in messages
};

/// The value of ESPALIER_FORCE_VARIANT: "family/variant[:configuration]", several separated by commas.
class ForcedVariants {
public:
    /// Errors: unknown_variant for a text that has another form, or a family that the library lacks.
    /// Variants are looked up when their family is called.
    static Result<ForcedVariants> parse(std::string_view text);

    /// The process environment, read at the first call and kept.
    static const Result<ForcedVariants>& of_environment();

    /// Finds the variant that is forced for a family; null if none is.
    [[nodiscard]] const ForcedVariant* find(std::string_view family) const;

private:
    struct Entry {
        std::string family;
        ForcedVariant forced;
    };
    std::vector<Entry> entries_;
};

/// "variant[:configuration]", the form of `Options::variant`; nothing for an empty text.
std::optional<ForcedVariant> parse_forced_variant(std::string_view text, std::string_view origin);

/// The error in the environment variables that narrow the CPU, if there is one; read at the first call and kept.
const std::optional<Error>& wrong_environment();

/// Calls `function` with what is forced for a call of the family: by the call's own option if it has one,
/// else by the environment, else null. Returns its result, or the error in the environment. `origin` is
/// what messages call the option.
template <class Function>
auto with_forced_variant(std::string_view family, std::string_view option, Function function,
                         std::string_view origin = "the option variant") -> decltype(function(nullptr)) {
    if (const auto& wrong = wrong_environment()) return *wrong;
    if (const auto forced = parse_forced_variant(option, origin)) return function(&*forced);
    const auto& environment = ForcedVariants::of_environment();
    if (!environment) return environment.error();
    return function(environment.value().find(family));
}

}  // namespace espalier
