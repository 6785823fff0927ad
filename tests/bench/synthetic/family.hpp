#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/learn/tree.hpp"
#include "harness/bench/records/case_record.hpp"
#include "kernels/problems/synthetic.hpp"

namespace espalier::bench::synthetic {

using namespace ::espalier::synthetic;

/// The family of kernels/problems/synthetic.hpp: `alpha` with block = 64 or 128, `base` the baseline, `beta`,
/// `gamma` for at most 1000 rows, and a peer.
const Family& family();

/// A CPU that was never built.
DeviceInfo device();

/// Rows 10 .. 100,000 by factors of 10, columns 1 .. 256 by factors of 4, every order.
std::vector<std::string> problems();

/// Nanoseconds of a variant with a configuration.
using Times = std::function<double(const std::string& variant, const std::string& configuration,
                                   const std::vector<double>& features)>;

/// Times whose best choices part the problems by category, by size and by aspect.
double regions(const std::string& variant, const std::string& configuration, const std::vector<double>& features);

/// A complete sweep of the problems with these times: eleven rounds, each with a common factor of up to
/// 5% and `noise` (relative, normal) of every sample's own.
std::vector<CaseRecord> records(const Times& times, const std::vector<std::string>& problems, double noise = 0.002,
                                std::uint64_t seed = 1);

/// A tree on `matrix` that nobody would learn: it asks about a ratio, then about a product on either side.
learn::Tree tree_of_pairs(const learn::Matrix& matrix);

}  // namespace espalier::bench::synthetic
