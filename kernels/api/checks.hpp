#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "espalier/error.hpp"

/// What is wrong with a call's arguments, each check in words that name the argument; nothing if it passes.
namespace espalier {

inline Error invalid(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

struct NamedSize {
    std::string_view name;
    std::int64_t value;
};

/// Sizes must not be negative, and their product must leave room for index arithmetic.
std::optional<Error> invalid_sizes(std::initializer_list<NamedSize> sizes);

}  // namespace espalier
