#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/records/case_record.hpp"

namespace espalier::bench {

/// Devices of every kind that a selector may meet, none of them here: the poorest and the richest, too.
inline std::vector<DeviceInfo> invented_devices() {
    DeviceInfo plain;
    plain.key = "cpu-generic-1t", plain.name = "Plain processor";
    plain.memory_bytes = std::size_t{1} << 30;
    DeviceInfo wide = plain;
    wide.key = "cpu-avx512-64t", wide.name = "Wide processor";
    wide.threads = 64;
    wide.avx2 = wide.fma = wide.avx512 = wide.avx512_vnni = true;

    DeviceInfo hopper;
    hopper.kind = DeviceKind::cuda;
    hopper.key = "gpu-sm90", hopper.name = "Large GPU";
    hopper.sm = 90, hopper.sm_count = 132, hopper.clock_khz = 1'980'000;
    hopper.memory_bytes = std::size_t{141} << 30, hopper.l2_bytes = std::size_t{50} << 20;
    hopper.max_threads_per_sm = 2048, hopper.registers_per_sm = 65'536;
    hopper.shared_per_block = 48 << 10, hopper.shared_per_block_optin = 227 << 10, hopper.shared_per_sm = 228 << 10;
    hopper.constant_bytes = 64 << 10;
    hopper.texture_1d_linear_floats = std::int64_t{1} << 27;
    hopper.texture_2d_width = 131'072, hopper.texture_2d_height = 65'000, hopper.texture_2d_pitch = 2'097'120;
    hopper.texture_pitch_alignment = 32;
    DeviceInfo poor = hopper;
    poor.key = "gpu-sm80", poor.name = "Small GPU";
    poor.sm = 80, poor.sm_count = 1, poor.memory_bytes = std::size_t{1} << 30;
    poor.shared_per_block = poor.shared_per_block_optin = 16 << 10, poor.shared_per_sm = 16 << 10;
    poor.texture_1d_linear_floats = 1 << 16;
    poor.texture_2d_width = poor.texture_2d_height = 1024, poor.texture_2d_pitch = 4096;
    return {plain, wide, hopper, poor};
}

/// A complete sweep with times that nobody measured: every choice has a favourite range of every feature.
inline std::vector<CaseRecord> invented_sweep(const Family& family, const DeviceInfo& device,
                                              const std::vector<std::string>& problems, std::uint64_t seed) {
    std::vector<CaseRecord> records;
    for (std::size_t v = 0; v < family.variants().size(); ++v) {
        const VariantInfo& variant = family.variants()[v];
        if (variant.kind != device.kind) continue;
        for (std::size_t c = 0; c < variant.configurations.size(); ++c) {
            std::mt19937_64 random(seed + 1000 * v + c);
            std::vector<double> favourite;
            for (std::size_t f = 0; f < family.features().size(); ++f)
                favourite.push_back(static_cast<double>(random() % 1000) / 50);
            for (const std::string& problem : problems) {
                CaseRecord record{.family = std::string(family.name()),
                                  .variant = std::string(variant.name),
                                  .role = std::string(to_string(variant.role)),
                                  .problem = family.canonical(problem),
                                  .configuration = variant.configurations[c].text()};
                record.provenance = {.device_key = device.key,
                                     .driver = "1.0",
                                     .runtime = "1.0",
                                     .build = "test",
                                     .source_id = std::string(variant.source_id),
                                     .cache = "cold",
                                     .session = "1"};
                const auto features = family.feature_values(problem);
                if (const Support support = family.supports(v, problem, variant.configurations[c], device); !support) {
                    record.status = Status::unsupported;
                    record.reason = support.reason;
                } else {
                    double distance = 0;
                    for (std::size_t f = 0; f < features.size(); ++f)
                        distance += std::abs(std::log2(1 + std::abs(features[f])) - favourite[f]);
                    const double time = 1000 + 100 * distance;
                    record.status = Status::ok;
                    record.verification = "oracle";
                    record.samples_ns.assign(7, time);
                    record.time_ns = record.time_lo_ns = record.time_hi_ns = time;
                }
                record.counters_reason = "not asked for";
                for (std::size_t f = 0; f < features.size(); ++f)
                    record.features.emplace_back(family.features()[f].name, features[f]);
                records.push_back(std::move(record));
            }
        }
    }
    return records;
}

}  // namespace espalier::bench
