#pragma once

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>

namespace espalier::device {

/// CUPTI's functions, loaded when first asked for: a program that never counts needs no CUPTI, and one
/// that finds none says so instead of failing to start.
struct Cupti {
    decltype(&cuptiGetResultString) get_result_string;
    decltype(&cuptiGetTimestamp) get_timestamp;
    decltype(&cuptiActivityRegisterCallbacks) activity_register_callbacks;
    decltype(&cuptiActivityEnable) activity_enable;
    decltype(&cuptiActivityDisable) activity_disable;
    decltype(&cuptiActivityFlushAll) activity_flush_all;
    decltype(&cuptiActivityGetNextRecord) activity_get_next_record;
    decltype(&cuptiDeviceGetChipName) device_get_chip_name;
    decltype(&cuptiProfilerInitialize) profiler_initialize;
    decltype(&cuptiProfilerDeInitialize) profiler_deinitialize;
    decltype(&cuptiProfilerDeviceSupported) profiler_device_supported;
    decltype(&cuptiProfilerGetCounterAvailability) profiler_get_counter_availability;
    decltype(&cuptiProfilerHostInitialize) host_initialize;
    decltype(&cuptiProfilerHostDeinitialize) host_deinitialize;
    decltype(&cuptiProfilerHostConfigAddMetrics) host_config_add_metrics;
    decltype(&cuptiProfilerHostGetConfigImageSize) host_get_config_image_size;
    decltype(&cuptiProfilerHostGetConfigImage) host_get_config_image;
    decltype(&cuptiProfilerHostGetNumOfPasses) host_get_num_of_passes;
    decltype(&cuptiProfilerHostEvaluateToGpuValues) host_evaluate;
    decltype(&cuptiRangeProfilerEnable) range_enable;
    decltype(&cuptiRangeProfilerDisable) range_disable;
    decltype(&cuptiRangeProfilerGetCounterDataSize) range_get_counter_data_size;
    decltype(&cuptiRangeProfilerCounterDataImageInitialize) range_counter_data_initialize;
    decltype(&cuptiRangeProfilerSetConfig) range_set_config;
    decltype(&cuptiRangeProfilerStart) range_start;
    decltype(&cuptiRangeProfilerStop) range_stop;
    decltype(&cuptiRangeProfilerPushRange) range_push;
    decltype(&cuptiRangeProfilerPopRange) range_pop;
    decltype(&cuptiRangeProfilerDecodeData) range_decode;
    decltype(&cuptiRangeProfilerCounterDataGetRangeInfo) range_get_range_info;
};

/// The loaded functions, or null with the reason.
const Cupti* load_cupti(std::string& reason);

}  // namespace espalier::device
