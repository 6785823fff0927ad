#pragma once

#include <span>
#include <string>

#include "harness/bench/records/case_record.hpp"
#include "kernels/core/device_info.hpp"

/// The records of one family on one device in formats that other tools read. They are exports: made anew from
/// the JSON Lines under results/ and never read back.
namespace espalier::bench::report {

/// Google Benchmark's JSON, one benchmark per case that is ok, named family/variant/problem/configuration, so
/// that its compare.py and what reads its output take these results. Times are medians in ns. `context` says how
/// many cases have no time; why they have none is in the other exports.
std::string google_benchmark_json(const DeviceInfo& device, std::span<const CaseRecord> cases);

/// The auto-tuning community's T4 results format, schema version 1.0.0: configuration, raw times in ms,
/// validity and counters of every case that was tried. Cases that were never measured have no place in it.
std::string t4_json(std::span<const CaseRecord> cases);

}  // namespace espalier::bench::report
