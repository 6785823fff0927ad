#pragma once

#include <string>
#include <utility>
#include <variant>

namespace espalier::inline v1 {

/// The kind of failure that an `Error` reports. The library never prints, aborts or throws across its
/// boundary: every failure is one of these, with a message that names the fix.
enum class ErrorCode {
    invalid_argument,  ///< the arguments contradict each other or a documented limit
    unsupported,       ///< no variant can run this problem on this device
    unknown_variant,   ///< ESPALIER_FORCE_VARIANT names a variant that is not in this library
    no_device,         ///< the device asked for is not there, or not usable
    out_of_memory,     ///< device or host memory did not suffice
    device_failure,    ///< the device or its driver reported an error
    bad_file,          ///< a file cannot be read, is damaged, or says what cannot be
    internal,          ///< a fault of the library itself; please report it with its message
    cancelled,         ///< `Options::progress` ended the call
};

/// Why a call failed.
struct Error {
    ErrorCode code;       ///< the kind of failure
    std::string message;  ///< names the fix
};

/// A value, or the error that prevented it. `Result<void>` holds success or the error.
/// Calling `value()` on an error, or `error()` on a value, throws `std::bad_variant_access`.
template <class T>
class [[nodiscard]] Result {
public:
    /// Success with `value`.
    Result(T value) : state_(std::move(value)) {}
    /// The failure `error`.
    Result(Error error) : state_(std::move(error)) {}
    /// A value that is made of `arguments` where it is to be.
    template <class... Arguments>
    explicit Result(std::in_place_t, Arguments&&... arguments)
        : state_(std::in_place_index<0>, std::forward<Arguments>(arguments)...) {}

    /// Whether it holds a value.
    [[nodiscard]] bool ok() const { return state_.index() == 0; }
    /// Whether it holds a value.
    explicit operator bool() const { return ok(); }

    /// The value.
    [[nodiscard]] T& value() & { return std::get<0>(state_); }
    /// The value.
    [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
    /// The value, to move from.
    [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
    /// The error.
    [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

private:
    std::variant<T, Error> state_;
};

/// Success, or the error that prevented it.
template <>
class [[nodiscard]] Result<void> : public Result<std::monostate> {
public:
    /// Success.
    Result() : Result<std::monostate>(std::monostate{}) {}
    /// The failure `error`.
    Result(Error error) : Result<std::monostate>(std::move(error)) {}
};

}  // namespace espalier::inline v1
