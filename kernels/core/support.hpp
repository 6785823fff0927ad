#pragma once

#include <string>
#include <utility>

namespace espalier {

/// Whether a variant can run a problem. An empty reason means that it can; a refusal always says why.
struct Support {
    std::string reason;

    explicit operator bool() const { return reason.empty(); }

    static Support yes() { return {}; }
    static Support no(std::string why) { return {std::move(why)}; }
};

}  // namespace espalier
