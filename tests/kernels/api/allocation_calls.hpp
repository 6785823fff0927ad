#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "espalier/espalier.hpp"

namespace espalier {

/// What a call came to, without memory of its own.
struct Outcome {
    std::optional<ErrorCode> error{};
    bool told = false;       ///< the error has a message
    std::uint64_t hash = 0;  ///< of the results

    [[nodiscard]] bool ok() const { return !error; }
    [[nodiscard]] std::string in_words() const {
        return ok() ? "results of other bits" : "error " + std::to_string(static_cast<int>(*error));
    }
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

template <class T>
Outcome outcome_of(const Result<T>& result) {
    if (result) return {};
    return {.error = result.error().code, .told = !result.error().message.empty()};
}

/// Takes no memory beside what the library takes.
using Call = std::function<Outcome()>;

struct NamedCall {
    std::string name;
    std::function<Call()> prepare;  ///< makes the call's arguments
    bool succeeds = true;           ///< with memory
};

/// Every public function, with arguments that lead through each of its parts: every variant of the CPU that keeps
/// memory of its own, every form of results, and what is refused.
std::vector<NamedCall> public_calls();

/// Functions of espalier.h.
std::vector<NamedCall> calls_of_c();

}  // namespace espalier
