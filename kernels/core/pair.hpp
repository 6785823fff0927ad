#pragma once

#include <type_traits>

namespace espalier {

/// Selectors ask about two sizes at once by these functions. The learner computes with the very same ones, in double
/// precision, so that the compiled tree decides as the trained one: neither a product beyond 63 bits nor a size of 0
/// is a special case.

/// a * b, rounded above 2^53.
template <class A, class B>
constexpr double product(A a, B b) {
    static_assert(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>);
    return static_cast<double>(a) * static_cast<double>(b);
}

/// a / b for sizes; a for b = 0, so that it is a number for every problem.
template <class A, class B>
constexpr double ratio(A a, B b) {
    static_assert(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>);
    return static_cast<double>(a) / (b == B{0} ? 1.0 : static_cast<double>(b));
}

}  // namespace espalier
