#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace espalier {

/// Whether a variant can run a problem. An empty reason means that it can; a refusal always says why.
struct Support {
    std::string reason;

    explicit operator bool() const { return reason.empty(); }

    static Support yes() { return {}; }
    static Support no(std::string why) { return {std::move(why)}; }

    /// The setting, "parallel=0", with which the variant does here exactly what was asked about: a refusal says so by
    /// ending in "the same as parallel=0". Such a choice is measured once, under that setting, and where it is chosen
    /// that one runs. Empty for every other answer.
    [[nodiscard]] std::string_view same_as() const {
        constexpr std::string_view kMark = "the same as ";
        const auto at = reason.rfind(kMark);
        return at == std::string::npos ? std::string_view{} : std::string_view(reason).substr(at + kMark.size());
    }
};

}  // namespace espalier
