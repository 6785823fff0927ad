// A digital Butterworth band-pass by the bilinear transform (Oppenheim and Schafer, Discrete-Time Signal Processing,
// chapter 7): the poles of the analog low-pass, moved to a band and then into the unit circle. Second-order sections,
// because one polynomial of the eighth order loses its digits at low corners.

#include "harness/apps/seismic/butterworth.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace espalier::bench::seismic {
namespace {

constexpr double kForgotten = 1e-10;

using Complex = std::complex<double>;

}  // namespace

ZeroPhaseBandpass::ZeroPhaseBandpass(double low, double high, double rate) {
    constexpr double kPi = std::numbers::pi;
    constexpr int kOrder = 4;
    // Analog frequencies in units of twice the rate, bent so that the digital corners are where they should be.
    const double from = std::tan(kPi * low / rate), until = std::tan(kPi * high / rate);
    const double width = until - from, centre_squared = from * until;
    const Complex centre = std::polar(1.0, 2 * std::atan(std::sqrt(centre_squared)));
    double largest = 0;
    std::size_t next = 0;
    for (int k = 0; k < kOrder / 2; ++k) {
        // One of a conjugate pair of poles of the low-pass, which becomes two poles of the band-pass.
        const Complex half = std::polar(width / 2, kPi * (2 * k + kOrder + 1) / (2.0 * kOrder));
        const Complex root = std::sqrt(half * half - centre_squared);
        for (const Complex analog : {half + root, half - root}) {
            const Complex pole = (1.0 + analog) / (1.0 - analog);
            Section section{1, -2 * pole.real(), std::norm(pole)};
            const Complex back = 1.0 / centre;
            section.gain = std::abs((1.0 + section.a1 * back + section.a2 * back * back) / (1.0 - back * back));
            sections_[next++] = section;
            largest = std::max(largest, std::abs(pole));
        }
    }
    // Four pairs of poles lie close to each other: their joint response falls later than one pole's.
    constexpr double kLater = 1.5;
    memory_ = static_cast<std::int64_t>(std::ceil(std::min(kLater * std::log(kForgotten) / std::log(largest), 1e15)));
}

void ZeroPhaseBandpass::apply(std::span<double> samples) const {
    for (int pass = 0; pass < 2; ++pass) {
        for (const auto& [gain, a1, a2] : sections_) {
            double one = 0, two = 0;  // the transposed direct form's state
            for (double& sample : samples) {
                const double in = gain * sample;
                sample = in + one;
                one = two - a1 * sample;
                two = -in - a2 * sample;
            }
        }
        std::reverse(samples.begin(), samples.end());
    }
}

}  // namespace espalier::bench::seismic
