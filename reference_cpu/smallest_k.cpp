#include "reference_cpu/smallest_k.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::reference {
namespace {

/// A floating-point format of 16 bits: a sign, an exponent, and `fraction` bits.
struct Format {
    int fraction, bias;

    [[nodiscard]] int exponent_bits() const { return 15 - fraction; }
    [[nodiscard]] int special() const { return (1 << exponent_bits()) - 1; }
};
constexpr Format kBinary16{10, 15}, kBfloat16{7, 127};

double number_of(std::uint16_t bits, const Format& format) {
    const int exponent = bits >> format.fraction & format.special(), fraction = bits & ((1 << format.fraction) - 1);
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == format.special())
        return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    const int whole = exponent == 0 ? fraction : fraction + (1 << format.fraction);
    return sign * std::ldexp(whole, std::max(exponent, 1) - format.bias - format.fraction);
}

std::uint16_t pattern_of(double number, const Format& format) {
    const int sign = std::signbit(number) ? 1 << 15 : 0, infinity = format.special() << format.fraction;
    if (std::isnan(number)) return static_cast<std::uint16_t>(sign | infinity | 1 << (format.fraction - 1));
    if (std::isinf(number)) return static_cast<std::uint16_t>(sign | infinity);
    int exponent = 1 - format.bias;  // of denormals
    if (number != 0) exponent = std::max(exponent, std::ilogb(number));
    const double units = std::nearbyint(std::ldexp(std::abs(number), format.fraction - exponent));
    // Units of a normal number have the leading one, which counts the exponent up by one.
    const auto pattern =
        (std::int64_t{exponent + format.bias - 1} << format.fraction) + static_cast<std::int64_t>(units);
    return static_cast<std::uint16_t>(sign | std::min<std::int64_t>(pattern, infinity));
}

}  // namespace

bool comes_before(const Neighbour& a, const Neighbour& b) {
    if (std::isnan(a.value) != std::isnan(b.value)) return std::isnan(b.value);
    if (a.value < b.value || b.value < a.value) return a.value < b.value;
    return a.index < b.index;
}

std::vector<Neighbour> smallest_k(const std::vector<double>& row, std::int64_t k, double padding) {
    std::vector<Neighbour> all;
    all.reserve(row.size());
    for (const double value : row) all.push_back({value, static_cast<std::int32_t>(all.size())});
    const auto wanted = std::min(static_cast<std::size_t>(k), all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(wanted), all.end(), comes_before);
    all.resize(wanted);
    all.resize(static_cast<std::size_t>(k), {padding, -1});
    return all;
}

double number_of_binary16(std::uint16_t bits) { return number_of(bits, kBinary16); }
double number_of_bfloat16(std::uint16_t bits) { return number_of(bits, kBfloat16); }
std::uint16_t binary16_of(double number) { return pattern_of(number, kBinary16); }
std::uint16_t bfloat16_of(double number) { return pattern_of(number, kBfloat16); }

}  // namespace espalier::reference
