#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "espalier/c/types.h"
#include "espalier/espalier.hpp"
#include "kernels/api/checks.hpp"
#include "kernels/api/guarded.hpp"

/// The common base of the functions of C's interface. Inside of `call` they refuse by exceptions, because most of what
/// they check is in the middle of an expression.

struct espalier_device {
    espalier::Device device;
};

struct espalier_plan {
    espalier_plan() = default;
    espalier_plan(const espalier_plan&) = delete;
    espalier_plan& operator=(const espalier_plan&) = delete;
    virtual ~espalier_plan() = default;
    [[nodiscard]] virtual const espalier::Plan& plan() const noexcept = 0;
};

namespace espalier::c {

/// A call that this version does not know how to serve. Becomes ESPALIER_ERROR_UNSUPPORTED.
class Unsupported : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Keeps the message for `espalier_last_error`.
espalier_status failed(const Error& error) noexcept;

/// Runs a function that returns nothing, or a Result<void>; nothing is thrown out of it.
template <class Function>
espalier_status call(Function function) noexcept {
    const Result<void> done = guarded([&]() -> Result<void> {
        try {
            if constexpr (std::is_void_v<decltype(function())>)
                return function(), Result<void>();
            else
                return function();
        } catch (const Unsupported& error) {
            return Error{ErrorCode::unsupported, error.what()};
        }
    });
    return done.ok() ? ESPALIER_OK : failed(done.error());
}

template <class T>
T& present(T* pointer, const char* name) {
    if (pointer) return *pointer;
    throw InvalidCall(std::string(name) + " is null");
}

/// Bytes that each struct had in the first version that had it: a caller's is at least as large.
template <class Struct>
constexpr std::size_t kFirstSize = 0;
template <>
inline constexpr std::size_t kFirstSize<espalier_options> = 40;
template <>
inline constexpr std::size_t kFirstSize<espalier_image_shape> = 48;
template <>
inline constexpr std::size_t kFirstSize<espalier_coherent_sum_shape> = 72;
template <>
inline constexpr std::size_t kFirstSize<espalier_items> = 48;
template <>
inline constexpr std::size_t kFirstSize<espalier_distance_rule> = 32;
template <>
inline constexpr std::size_t kFirstSize<espalier_selection_shape> = 64;
template <>
inline constexpr std::size_t kFirstSize<espalier_neighbour_rule> = 48;
template <>
inline constexpr std::size_t kFirstSize<espalier_neighbours> = 40;
template <>
inline constexpr std::size_t kFirstSize<espalier_source_grid> = 80;
template <>
inline constexpr std::size_t kFirstSize<espalier_delay_rule> = 32;
template <>
inline constexpr std::size_t kFirstSize<espalier_interpolation_shape> = 40;
template <>
inline constexpr std::size_t kFirstSize<espalier_exact_items> = 48;
template <>
inline constexpr std::size_t kFirstSize<espalier_exact_distance> = 40;
template <>
inline constexpr std::size_t kFirstSize<espalier_exact_neighbours> = 40;

/// Throws unless a struct's size is one that a version of it may have, and members that this version lacks are 0.
void check_struct(const void* given, const char* name, std::size_t first_size, std::size_t known_size);

/// A caller's struct as this version knows it: members that the caller's version lacks are 0.
template <class Struct>
Struct known(const Struct* given, const char* name) {
    check_struct(given, name, kFirstSize<Struct>, sizeof(Struct));
    Struct copy{};
    std::memcpy(&copy, given, std::min(given->size, sizeof copy));
    if constexpr (requires { copy.reserved; })
        if (copy.reserved != 0) throw InvalidCall(std::string(name) + ".reserved is not 0: set all of it to 0 first");
    return copy;
}

/// The value of an enumeration that counts from 0 to `last`; C calls its values ESPALIER_, `values`, and a name.
template <class Enum>
Enum enumerator(std::int32_t value, Enum last, const char* name, const char* values) {
    if (value >= 0 && value <= static_cast<std::int32_t>(last)) return static_cast<Enum>(value);
    throw InvalidCall(std::string(name) + " is " + std::to_string(value) + ": none of the values ESPALIER_" + values +
                      "_");
}

/// Whether ESPALIER_ROW_MAJOR, not ESPALIER_COLUMN_MAJOR.
bool is_row_major(std::int32_t layout, const char* name);
MatrixLayout matrix_layout(std::int32_t layout, const char* name);

/// Throws unless a stride is 0 or what it is without padding: for arrays of which the library has no parts.
void check_stride(std::int64_t stride, std::int64_t dense, const char* name);

/// How many elements an array of such sizes has.
std::int64_t count_of(std::initializer_list<NamedSize> sizes);

template <class T>
std::span<T> span_of(T* data, std::initializer_list<NamedSize> sizes) {
    return {data, static_cast<std::size_t>(count_of(sizes))};
}

inline std::span<std::byte> workspace_of(void* workspace, std::size_t bytes) {
    return {static_cast<std::byte*>(workspace), bytes};
}
inline Stream stream_of(void* stream) { return static_cast<Stream>(stream); }

/// Null stands for the defaults. Refers to the caller's text.
Options options_of(const espalier_options* given);

/// The options that are for plans alone.
PlanOptions plan_options_of(const espalier_options* given);

inline const Device& device_of(const espalier_device* device) { return present(device, "device").device; }

Items items_of(const espalier_items* given, const char* name);

/// Null stands for no arrays.
NeighbourLists neighbour_lists(const espalier_neighbours* given);

/// Refers to the caller's types.
NeighbourRule neighbour_rule(const espalier_neighbour_rule* given);

/// Refers to the caller's types.
DistanceRule distance_rule(std::int32_t metric, std::int32_t missing, const std::uint8_t* types, std::int64_t count);

/// Gives a text away, to be freed by `espalier_free_text`. On an error `to` is null.
Result<void> give_text(const Result<Explanation>& why, char** to);

template <class P>
struct PlanOfC final : espalier_plan {
    explicit PlanOfC(P plan) : held(std::move(plan)) {}
    [[nodiscard]] const Plan& plan() const noexcept override { return held; }

    P held;
};

/// Gives a plan away. On an error `to` is null.
template <class P>
Result<void> give_plan(Result<P> plan, espalier_plan** to) {
    if (!plan) return plan.error();
    *to = new PlanOfC<P>(std::move(plan).value());
    return {};
}

/// Gives a model away, in a handle that holds a variant of them. On an error `to` is null.
template <class Handle, class Model>
Result<void> give_model(Result<Model> model, Handle** to) {
    if (!model) return model.error();
    *to = new Handle{std::move(model).value()};
    return {};
}

/// What the models that a handle may hold have in common.
template <class Base, class Handle>
const Base& base_of(const Handle* model) {
    return std::visit([](const auto& own) -> const Base& { return own; }, present(model, "model").model);
}

/// Copies predictions to the caller's array, which is there.
template <class T>
Result<void> copied(const Result<std::vector<T>>& predictions, T* to) {
    if (!predictions) return predictions.error();
    std::ranges::copy(predictions.value(), to);
    return {};
}

/// Throws for an array that is null, but not empty.
inline void check_array(const void* data, const char* name, std::int64_t count) {
    if (const auto error = null_array(data, name, count)) throw InvalidCall(error->message);
}

/// Null until there is something to give.
template <class T>
void take_place(T** to, const char* name) {
    present(to, name) = nullptr;
}

/// The plan, which `maker` is to have made.
template <class P>
const P& plan_of(const espalier_plan* plan, const char* maker) {
    if (const auto* own = dynamic_cast<const PlanOfC<P>*>(&present(plan, "plan"))) return own->held;
    throw InvalidCall("the plan is another function's: this one takes a plan of " + std::string(maker));
}

}  // namespace espalier::c
