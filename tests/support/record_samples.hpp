#pragma once

#include <string>

#include "harness/bench/records/case_record.hpp"
#include "harness/bench/records/journal.hpp"

namespace espalier::bench {

/// A record as a sweep would write it; `number` makes it a different case.
inline CaseRecord sample_record(int number = 0) {
    CaseRecord record;
    record.family = "histogram";
    record.variant = "shared_atomics";
    record.role = "documented";
    record.problem = "bytes=" + std::to_string(1000 + number) + ";distribution=uniform";
    record.configuration = "block=256;items=4";
    record.status = Status::ok;
    record.verification = "oracle";
    record.samples_ns = {1200.25, 1190, 1210.5 + number};
    record.time_ns = 1200.25;
    record.time_lo_ns = 1190;
    record.time_hi_ns = 1210.5 + number;
    record.bytes = 1000 + number;
    record.ops = 1000 + number;
    record.floor_ns = 100;
    record.features = {{"bytes", 1000 + number}, {"distribution", 1}};
    record.conditions = {.foreign_cpu_share = 0.125};
    record.counters = {{"dram__bytes_read.sum", 1024}};
    record.provenance = {.device_key = "cpu-test-2t",
                         .driver = "Linux 6.1",
                         .runtime = "GNU 12.2.0",
                         .build = "espalier 0.1.0, Release",
                         .source_id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                         .cache = "warm",
                         .session = "20260101T000000Z-00000000"};
    return record;
}

inline DeviceInfo sample_device() {
    DeviceInfo device;
    device.key = "cpu-test-2t";
    device.name = "Test processor";
    device.threads = 2;
    device.memory_bytes = std::size_t{8} << 30;
    device.l2_bytes = std::size_t{1} << 20;
    device.bytes_per_second = 1e10;
    device.cached_bytes_per_second = 1e11;
    device.fp32_per_second = 1e11;
    device.int_per_second = 1e11;
    return device;
}

inline PlanRecord sample_plan(int shard, int shards, std::vector<PlanRecord::Item> items) {
    return {.session = "20260101T000000Z-00000000",
            .device_key = "cpu-test-2t",
            .plan = "abcdef",
            .shard = shard,
            .shards = shards,
            .items = std::move(items)};
}

}  // namespace espalier::bench
