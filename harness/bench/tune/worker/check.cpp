#include "harness/bench/tune/worker/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace espalier::bench::tune {
namespace {

template <class Real>
std::string real_difference(const Argument& argument, std::span<const Real> found, std::span<const Real> expected) {
    using Method = Argument::Method;
    const double share = sizeof(Real) == 4 ? 1e-4 : 1e-10;
    double squares = 0, sum = 0;
    if (argument.method == Method::by_default)
        for (const Real value : expected) squares += static_cast<double>(value) * static_cast<double>(value);
    const double mean = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(expected.size(), 1)));
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double is = found[i], should = expected[i];
        if (is == should || (std::isnan(is) && std::isnan(should))) continue;
        const double apart = std::abs(is - should);
        double most = argument.threshold;
        if (argument.method == Method::by_default) most = share * std::max(std::abs(should), mean);
        if (argument.method == Method::relative) most *= std::abs(should);
        sum += apart;
        if (argument.method == Method::absolute_sum ? sum <= most : apart <= most) continue;
        return fmt::format("{}[{}] is {:.9g} and should be {:.9g}", argument.name, i, is, should);
    }
    return {};
}

}  // namespace

std::string difference(const Argument& argument, std::span<const std::byte> found,
                       std::span<const std::byte> expected) {
    if (argument.type == ElementType::real32)
        return real_difference<float>(
            argument, {reinterpret_cast<const float*>(found.data()), found.size() / sizeof(float)},
            {reinterpret_cast<const float*>(expected.data()), expected.size() / sizeof(float)});
    if (argument.type == ElementType::real64)
        return real_difference<double>(
            argument, {reinterpret_cast<const double*>(found.data()), found.size() / sizeof(double)},
            {reinterpret_cast<const double*>(expected.data()), expected.size() / sizeof(double)});
    const auto place = std::ranges::mismatch(found, expected).in1 - found.begin();
    if (place == static_cast<std::ptrdiff_t>(found.size())) return {};
    const std::size_t width = bytes_of(argument.type), i = static_cast<std::size_t>(place) / width;
    const auto at = [&](std::span<const std::byte> bytes) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes.data() + i * width, width);
        return bits;
    };
    return fmt::format("{}[{}] has the bits {:#x} and should have {:#x}", argument.name, i, at(found), at(expected));
}

}  // namespace espalier::bench::tune
