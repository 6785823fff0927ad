#pragma once

#include <stdexcept>

#include "espalier/error.hpp"

namespace espalier {

/// A call that cannot be made; `what()` says why. Becomes `ErrorCode::invalid_argument`.
class InvalidCall : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// `Options::progress` ended the call; `what()` says how. Becomes `ErrorCode::cancelled`.
class Cancelled : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The error that a caller is told of the exception being handled. Throws nothing, also when there is no memory for the
/// message: `out_of_memory` is then said in as few letters as a string holds by itself.
Error error_of_exception() noexcept;

/// Runs `function`, which returns a Result, and turns what it throws into an Error: nothing is thrown
/// out of the library.
template <class Function>
auto guarded(Function function) noexcept -> decltype(function()) {
    try {
        return function();
    } catch (...) {
        return error_of_exception();
    }
}

/// Runs `function`, and returns `otherwise` if it throws: for the few public functions that return no Result.
template <class Function, class Value>
Value guarded_or(Value otherwise, Function function) noexcept {
    try {
        return function();
    } catch (...) {
        return otherwise;
    }
}

}  // namespace espalier
