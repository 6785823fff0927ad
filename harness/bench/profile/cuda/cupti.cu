#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "cupti.hpp"

namespace espalier::device {
namespace {

/// Where libcupti may be: beside the program or on the loader's path first, then in a toolkit.
std::vector<std::string> candidates() {
    const std::string name = "libcupti.so." + std::to_string(CUDA_VERSION / 1000);
    std::vector<std::string> paths{name};
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* root = std::getenv(variable))
            for (const char* folder : {"/lib64/", "/extras/CUPTI/lib64/"})
                paths.push_back(root + std::string(folder) + name);
    for (const char* folder : {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"})
        paths.push_back(folder + name);
    return paths;
}

void* open_library(std::string& reason) {
    for (const std::string& path : candidates())
        if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const char* error = dlerror();
    reason = std::string("CUPTI cannot be loaded: install the CUDA toolkit's CUPTI or set CUDA_HOME (") +
             (error ? error : "unknown error") + ")";
    return nullptr;
}

template <class Function>
bool find(void* library, const char* name, Function& function, std::string& reason) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function) return true;
    reason = std::string("CUPTI lacks ") + name + ": it must come from CUDA 13 or newer";
    return false;
}

bool load(Cupti& c, std::string& reason) {
    void* library = open_library(reason);
    if (!library) return false;
    return find(library, "cuptiGetResultString", c.get_result_string, reason) &&
           find(library, "cuptiGetTimestamp", c.get_timestamp, reason) &&
           find(library, "cuptiActivityRegisterCallbacks", c.activity_register_callbacks, reason) &&
           find(library, "cuptiActivityEnable", c.activity_enable, reason) &&
           find(library, "cuptiActivityDisable", c.activity_disable, reason) &&
           find(library, "cuptiActivityFlushAll", c.activity_flush_all, reason) &&
           find(library, "cuptiActivityGetNextRecord", c.activity_get_next_record, reason) &&
           find(library, "cuptiDeviceGetChipName", c.device_get_chip_name, reason) &&
           find(library, "cuptiProfilerInitialize", c.profiler_initialize, reason) &&
           find(library, "cuptiProfilerDeInitialize", c.profiler_deinitialize, reason) &&
           find(library, "cuptiProfilerDeviceSupported", c.profiler_device_supported, reason) &&
           find(library, "cuptiProfilerGetCounterAvailability", c.profiler_get_counter_availability, reason) &&
           find(library, "cuptiProfilerHostInitialize", c.host_initialize, reason) &&
           find(library, "cuptiProfilerHostDeinitialize", c.host_deinitialize, reason) &&
           find(library, "cuptiProfilerHostConfigAddMetrics", c.host_config_add_metrics, reason) &&
           find(library, "cuptiProfilerHostGetConfigImageSize", c.host_get_config_image_size, reason) &&
           find(library, "cuptiProfilerHostGetConfigImage", c.host_get_config_image, reason) &&
           find(library, "cuptiProfilerHostGetNumOfPasses", c.host_get_num_of_passes, reason) &&
           find(library, "cuptiProfilerHostEvaluateToGpuValues", c.host_evaluate, reason) &&
           find(library, "cuptiRangeProfilerEnable", c.range_enable, reason) &&
           find(library, "cuptiRangeProfilerDisable", c.range_disable, reason) &&
           find(library, "cuptiRangeProfilerGetCounterDataSize", c.range_get_counter_data_size, reason) &&
           find(library, "cuptiRangeProfilerCounterDataImageInitialize", c.range_counter_data_initialize, reason) &&
           find(library, "cuptiRangeProfilerSetConfig", c.range_set_config, reason) &&
           find(library, "cuptiRangeProfilerStart", c.range_start, reason) &&
           find(library, "cuptiRangeProfilerStop", c.range_stop, reason) &&
           find(library, "cuptiRangeProfilerPushRange", c.range_push, reason) &&
           find(library, "cuptiRangeProfilerPopRange", c.range_pop, reason) &&
           find(library, "cuptiRangeProfilerDecodeData", c.range_decode, reason) &&
           find(library, "cuptiRangeProfilerCounterDataGetRangeInfo", c.range_get_range_info, reason);
}

}  // namespace

const Cupti* load_cupti(std::string& reason) {
    static Cupti functions{};
    static std::string failure;
    static const bool loaded = load(functions, failure);
    reason = failure;
    return loaded ? &functions : nullptr;
}

}  // namespace espalier::device
