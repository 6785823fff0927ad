#include "harness/bench/tune/worker/inputs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <system_error>

#include "harness/base/files/read_file.hpp"
#include "harness/base/random.hpp"
#include "harness/bench/tune/describe/place.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::tune {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 34;

[[noreturn]] void refuse(const Description& description, const Argument& argument, const std::string& why) {
    throw BadData(fmt::format("{}: {}: {}", description.path.string(), argument.pointer, why));
}

/// Calls `body` with a value of the element's C++ type.
template <class Body>
auto with_type(ElementType type, const Body& body) {
    switch (type) {
        case ElementType::boolean: return body(bool{});
        case ElementType::int8: return body(std::int8_t{});
        case ElementType::uint8: return body(std::uint8_t{});
        case ElementType::int16: return body(std::int16_t{});
        case ElementType::uint16: return body(std::uint16_t{});
        case ElementType::int32: return body(std::int32_t{});
        case ElementType::uint32: return body(std::uint32_t{});
        case ElementType::int64: return body(std::int64_t{});
        case ElementType::uint64: return body(std::uint64_t{});
        case ElementType::real64: return body(double{});
        case ElementType::real32: break;
    }
    return body(float{});
}

template <class T>
T converted(const Value& value, const Description& description, const Argument& argument) {
    const double number = value.number();
    if (!value.is_number()) refuse(description, argument, fmt::format("'{}' is no number", spelled(value)));
    if constexpr (std::is_integral_v<T>) {
        if (const auto* whole = std::get_if<std::int64_t>(&value.data);
            whole && std::in_range<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>(*whole))
            return static_cast<T>(*whole);
        // The largest value of 64 bits is no double, the one behind it is.
        if (number != std::floor(number) || number < static_cast<double>(std::numeric_limits<T>::min()) ||
            number >= std::ldexp(1.0, std::numeric_limits<T>::digits))
            refuse(description, argument,
                   fmt::format("{} does not fit into {}", spelled(value), c_name(argument.type)));
    }
    return static_cast<T>(number);
}

/// Random real numbers lie between 0 and the bound; whole ones may reach it.
template <class T>
T random_value(std::uint64_t bits, double bound) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(static_cast<double>(bits >> 11) * 0x1p-53 * bound);
    return static_cast<T>(std::floor(static_cast<double>(bits >> 11) * 0x1p-53 * (bound + 1)));
}

template <class T>
void fill(std::span<T> values, const Description& description, const Argument& argument, std::uint64_t stream,
          std::size_t problem) {
    Names names = description.names_of(problem);
    const auto value = [&] { return value_of(*argument.value, names, description.path); };
    if (argument.fill == Argument::Fill::random) {
        const double bound = argument.value                                           ? value().number()
                             : std::is_floating_point_v<T> || std::is_same_v<T, bool> ? 1
                                                                                      : 100;
        generate(values, [&](std::size_t i) { return random_value<T>(random_bits(stream, i), bound); });
    } else if (argument.fill == Argument::Fill::generator) {
        names.emplace_back("i", Value(0));
        for (std::size_t i = 0; i < values.size(); ++i) {
            names.back().second = Value(static_cast<std::int64_t>(i));
            values[i] = converted<T>(value(), description, argument);
        }
    } else {
        const T constant = argument.value ? converted<T>(value(), description, argument) : T{};
        std::ranges::fill(values, constant);
    }
}

std::size_t elements_of(const Description& description, const Argument& argument, std::size_t problem) {
    if (argument.memory == Argument::Memory::scalar) return 1;
    const std::int64_t size =
        whole_of(*argument.size, description.names_of(problem), description.path, 1, kMostElements);
    return static_cast<std::size_t>(size) * argument.components;
}

}  // namespace

std::size_t bytes_of(const Description& description, const Argument& argument, std::size_t problem) {
    return elements_of(description, argument, problem) * bytes_of(argument.type);
}

HostArgument make_argument(const Description& description, std::size_t index, std::size_t problem) {
    const Argument& argument = description.arguments[index];
    HostArgument made{{}, elements_of(description, argument, problem)};
    const std::size_t bytes = made.elements * bytes_of(argument.type);
    if (argument.fill == Argument::Fill::file) {
        const auto content = read_file(argument.file, bytes);
        if (!content || content->size() != bytes)
            refuse(description, argument,
                   fmt::format("{} has {} bytes and not {}: give the file as many, or change Size",
                               argument.file.string(), content ? content->size() : 0, bytes));
        made.bytes.resize(bytes);
        std::memcpy(made.bytes.data(), content->data(), bytes);
        return made;
    }
    made.bytes.resize(bytes);
    with_type(argument.type, [&](auto zero) {
        using T = decltype(zero);
        fill(std::span(reinterpret_cast<T*>(made.bytes.data()), made.elements), description, argument,
             argument.seed * 1000 + index, problem);
        return 0;
    });
    return made;
}

void check_arguments(const Description& description, std::size_t most_bytes) {
    for (std::size_t problem = 0; problem < description.sizes.size(); ++problem) {
        std::size_t total = 0;
        for (std::size_t a = 0; a < description.arguments.size(); ++a) {
            const Argument& argument = description.arguments[a];
            const std::size_t bytes = bytes_of(description, argument, problem);
            total += bytes;
            if (bytes > most_bytes || total > most_bytes)
                refuse(description, argument,
                       fmt::format("the arguments of {} have more than {} bytes: lower a Size",
                                   description.problem_key(problem), most_bytes));
            if (argument.memory == Argument::Memory::scalar) static_cast<void>(make_argument(description, a, problem));
            std::error_code ignored;
            if (argument.fill == Argument::Fill::file && std::filesystem::file_size(argument.file, ignored) != bytes)
                refuse(description, argument,
                       fmt::format("{} has {} bytes and not {}: give the file as many, or change Size",
                                   argument.file.string(), std::filesystem::file_size(argument.file, ignored), bytes));
        }
    }
}

}  // namespace espalier::bench::tune
