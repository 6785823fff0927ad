#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace espalier::bench::seismic {

/// A Butterworth band-pass of four corners, run forward and backward: no phase shift, and the square of the filter's
/// gain, half of the amplitude at both corners. What lies outside of the samples counts as zeros.
class ZeroPhaseBandpass {
public:
    /// Corners in Hz, 0 < low < high < rate / 2.
    ZeroPhaseBandpass(double low, double high, double rate);

    /// Samples after which a forgotten sample shows no more: 1e-10 of the response is left.
    [[nodiscard]] std::int64_t memory() const { return memory_; }

    /// Filters in place, in double precision. Up to `memory()` samples from either end the result lacks what lies
    /// beyond.
    void apply(std::span<double> samples) const;

private:
    /// gain * (1 - z^-2) / (1 + a1 z^-1 + a2 z^-2)
    struct Section {
        double gain, a1, a2;
    };
    std::array<Section, 4> sections_{};
    std::int64_t memory_ = 0;
};

}  // namespace espalier::bench::seismic
