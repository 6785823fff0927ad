#pragma once

namespace espalier::bench {

/// Bytes per second between host and device, each way; 0 if not measured.
struct CopyRates {
    double pageable_to_device = 0, pageable_to_host = 0;
    double pinned_to_device = 0, pinned_to_host = 0;
};

/// Measures the current GPU's rates: medians of a few copies of 256 MiB, which take about a second in all. Throws
/// `device::DeviceError`.
CopyRates measure_copy_rates();

}  // namespace espalier::bench
