#include "kernels/dispatch/forced_variant.hpp"

#include <algorithm>
#include <cstdlib>

#include "kernels/core/printable.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/dispatch/families.hpp"

namespace espalier {
namespace {

constexpr std::string_view kVariable = "ESPALIER_FORCE_VARIANT";

Error malformed(std::string_view item) {
    return {ErrorCode::unknown_variant, std::string(kVariable) + ": expected family/variant[:configuration], got '" +
                                            printable(item) + "'; correct or unset the variable"};
}

}  // namespace

std::optional<ForcedVariant> parse_forced_variant(std::string_view text, std::string_view origin) {
    if (text.empty()) return std::nullopt;
    const auto colon = text.find(':');
    ForcedVariant forced{std::string(text.substr(0, colon)), {}, origin};
    if (colon != std::string_view::npos) forced.configuration = text.substr(colon + 1);
    return forced;
}

Result<ForcedVariants> ForcedVariants::parse(std::string_view text) {
    ForcedVariants all;
    while (!text.empty()) {
        const auto item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const auto slash = item.find('/');
        if (slash == std::string_view::npos) return malformed(item);
        const auto family = item.substr(0, slash);
        auto forced = parse_forced_variant(item.substr(slash + 1), kVariable);
        if (!forced || forced->variant.empty()) return malformed(item);
        if (!is_family(family))
            return Error{ErrorCode::unknown_variant, std::string(kVariable) + ": unknown family '" + printable(family) +
                                                         "'; known: " + family_list()};
        if (all.find(family))
            return Error{ErrorCode::unknown_variant,
                         std::string(kVariable) + ": family '" + printable(family) + "' is named twice"};
        all.entries_.push_back({std::string(family), std::move(*forced)});
    }
    return all;
}

const Result<ForcedVariants>& ForcedVariants::of_environment() {
    static const Result<ForcedVariants> forced = [] {
        const char* text = std::getenv(kVariable.data());
        return parse(text ? text : "");
    }();
    return forced;
}

const std::optional<Error>& wrong_environment() {
    static const std::optional<Error> wrong = []() -> std::optional<Error> {
        if (auto message = device::wrong_cpu_isa())
            return Error{ErrorCode::invalid_argument, printable_lines(*message)};
        return std::nullopt;
    }();
    return wrong;
}

const ForcedVariant* ForcedVariants::find(std::string_view family) const {
    for (const Entry& entry : entries_)
        if (entry.family == family) return &entry.forced;
    return nullptr;
}

}  // namespace espalier
