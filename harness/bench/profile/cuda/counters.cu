// harness/bench/profile/counters.hpp through CUPTI's Range Profiler: user ranges with user replay, so that a
// case is repeated by us, on restored inputs and flushed caches, and memory is never saved and restored.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "cupti.hpp"
#include "device/kernel.hpp"
#include "harness/bench/profile/counters.hpp"

namespace espalier::device {
namespace {

class CuptiError : public std::runtime_error {
public:
    CuptiError(const char* call, CUptiResult result, const char* text)
        : std::runtime_error(explain(call, result, text)) {}

private:
    static std::string explain(const char* call, CUptiResult result, const char* text) {
        if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
            result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
            return "the driver refuses hardware counters to this user: run as root, or load the nvidia module with "
                   "NVreg_RestrictProfilingToAdminUsers=0";
        return std::string(call) + ": " + (text ? text : "unknown CUPTI error");
    }
};

/// Zeroed parameters with their size set, as every CUPTI profiler call wants them.
#define ESPALIER_CUPTI_PARAMS(type, name) \
    type name{};                          \
    name.structSize = type##_STRUCT_SIZE

void require(const Cupti& cupti, CUptiResult result, const char* call) {
    if (result == CUPTI_SUCCESS) return;
    const char* text = nullptr;
    cupti.get_result_string(result, &text);
    throw CuptiError(call, result, text);
}

CUcontext current_context() {
    check(cudaFree(nullptr), "creating the CUDA context");
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, 12000, cudaEnableDefault, &found),
          "finding cuCtxGetCurrent");
    CUcontext context = nullptr;
    reinterpret_cast<CUresult (*)(CUcontext*)>(function)(&context);
    return context;
}

/// The host-side object that turns metric names into a configuration and raw counters into values.
class HostObject {
public:
    HostObject(const Cupti& cupti, const char* chip, const std::vector<std::uint8_t>& availability) : cupti_(cupti) {
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, p);
        p.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
        p.pChipName = chip;
        p.pCounterAvailabilityImage = availability.data();
        require(cupti_, cupti_.host_initialize(&p), "cuptiProfilerHostInitialize");
        object_ = p.pHostObject;
    }
    ~HostObject() {
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, p);
        p.pHostObject = object_;
        cupti_.host_deinitialize(&p);
    }
    HostObject(const HostObject&) = delete;
    HostObject& operator=(const HostObject&) = delete;

    /// False if any name is unknown; the object is then spoilt.
    [[nodiscard]] bool add(std::vector<const char*>& names) {
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, p);
        p.pHostObject = object_;
        p.ppMetricNames = names.data();
        p.numMetrics = names.size();
        return cupti_.host_config_add_metrics(&p) == CUPTI_SUCCESS;
    }

    [[nodiscard]] std::vector<std::uint8_t> configuration() const {
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
        size.pHostObject = object_;
        require(cupti_, cupti_.host_get_config_image_size(&size), "cuptiProfilerHostGetConfigImageSize");
        std::vector<std::uint8_t> image(size.configImageSize);
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, p);
        p.pHostObject = object_;
        p.configImageSize = image.size();
        p.pConfigImage = image.data();
        require(cupti_, cupti_.host_get_config_image(&p), "cuptiProfilerHostGetConfigImage");
        return image;
    }

    /// NaN for those that cannot be evaluated.
    [[nodiscard]] std::vector<double> evaluate(std::vector<const char*>& names, const std::vector<std::uint8_t>& data,
                                               std::size_t range) const {
        std::vector<double> values(names.size(), std::nan(""));
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, p);
        p.pHostObject = object_;
        p.pCounterDataImage = data.data();
        p.counterDataImageSize = data.size();
        p.rangeIndex = range;
        p.ppMetricNames = names.data();
        p.numMetrics = names.size();
        p.pMetricValues = values.data();
        if (names.size() == 1) return cupti_.host_evaluate(&p) == CUPTI_SUCCESS ? values : std::vector{std::nan("")};
        if (cupti_.host_evaluate(&p) == CUPTI_SUCCESS) return values;
        // Each alone: one that cannot be evaluated costs no others.
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::vector<const char*> one{names[i]};
            values[i] = evaluate(one, data, range).front();
        }
        return values;
    }

private:
    const Cupti& cupti_;
    CUpti_Profiler_Host_Object* object_ = nullptr;
};

/// The range profiler, enabled on a context for as long as the object lives.
class RangeProfiler {
public:
    RangeProfiler(const Cupti& cupti, CUcontext context) : cupti_(cupti) {
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, p);
        p.ctx = context;
        require(cupti_, cupti_.range_enable(&p), "cuptiRangeProfilerEnable");
        object_ = p.pRangeProfilerObject;
    }
    ~RangeProfiler() {
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, p);
        p.pRangeProfilerObject = object_;
        cupti_.range_disable(&p);
    }
    RangeProfiler(const RangeProfiler&) = delete;
    RangeProfiler& operator=(const RangeProfiler&) = delete;

    /// Runs all passes, each with one range for each launch, and returns the decoded counter data. Beginning and
    /// ending a pass takes longer than most launches, so that they share it.
    std::vector<std::uint8_t> collect(std::vector<const char*>& names, const std::vector<std::uint8_t>& configuration,
                                      const std::function<void()>& prepare,
                                      std::span<const std::function<void()>> launches) {
        std::vector<std::uint8_t> data = counter_data(names, launches.size());
        configure(configuration, data, launches.size());
        while (!run_pass(prepare, launches)) {
        }
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, p);
        p.pRangeProfilerObject = object_;
        require(cupti_, cupti_.range_decode(&p), "cuptiRangeProfilerDecodeData");
        return data;
    }

private:
    std::vector<std::uint8_t> counter_data(std::vector<const char*>& names, std::size_t ranges) {
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
        size.pRangeProfilerObject = object_;
        size.pMetricNames = names.data();
        size.numMetrics = names.size();
        size.maxNumOfRanges = ranges;
        size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
        require(cupti_, cupti_.range_get_counter_data_size(&size), "cuptiRangeProfilerGetCounterDataSize");
        std::vector<std::uint8_t> data(size.counterDataSize);
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, p);
        p.pRangeProfilerObject = object_;
        p.counterDataSize = data.size();
        p.pCounterData = data.data();
        require(cupti_, cupti_.range_counter_data_initialize(&p), "cuptiRangeProfilerCounterDataImageInitialize");
        return data;
    }

    void configure(const std::vector<std::uint8_t>& configuration, std::vector<std::uint8_t>& data,
                   std::size_t ranges) {
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, p);
        p.pRangeProfilerObject = object_;
        p.configSize = configuration.size();
        p.pConfig = configuration.data();
        p.counterDataImageSize = data.size();
        p.pCounterDataImage = data.data();
        p.range = CUPTI_UserRange;
        p.replayMode = CUPTI_UserReplay;
        p.maxRangesPerPass = ranges;
        p.numNestingLevels = 1;
        p.minNestingLevel = 1;
        p.passIndex = 0;
        p.targetNestingLevel = 1;
        require(cupti_, cupti_.range_set_config(&p), "cuptiRangeProfilerSetConfig");
    }

    /// True when this was the last pass.
    bool run_pass(const std::function<void()>& prepare, std::span<const std::function<void()>> launches) {
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, start);
        start.pRangeProfilerObject = object_;
        require(cupti_, cupti_.range_start(&start), "cuptiRangeProfilerStart");
        for (std::size_t i = 0; i < launches.size(); ++i) {
            prepare();
            synchronize();
            run_range(std::to_string(i), launches[i]);
        }
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
        stop.pRangeProfilerObject = object_;
        require(cupti_, cupti_.range_stop(&stop), "cuptiRangeProfilerStop");
        return stop.isAllPassSubmitted != 0;
    }

    void run_range(const std::string& name, const std::function<void()>& launch) {
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
        push.pRangeProfilerObject = object_;
        push.pRangeName = name.c_str();
        require(cupti_, cupti_.range_push(&push), "cuptiRangeProfilerPushRange");
        launch();
        synchronize();
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
        pop.pRangeProfilerObject = object_;
        require(cupti_, cupti_.range_pop(&pop), "cuptiRangeProfilerPopRange");
    }

    const Cupti& cupti_;
    CUpti_RangeProfiler_Object* object_ = nullptr;
};

/// CUPTI's profiler, initialised for as long as the object lives.
class ProfilerInitialised {
public:
    explicit ProfilerInitialised(const Cupti& cupti) : cupti_(cupti) {
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, p);
        require(cupti_, cupti_.profiler_initialize(&p), "cuptiProfilerInitialize");
    }
    ~ProfilerInitialised() {
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_DeInitialize_Params, p);
        cupti_.profiler_deinitialize(&p);
    }
    ProfilerInitialised(const ProfilerInitialised&) = delete;
    ProfilerInitialised& operator=(const ProfilerInitialised&) = delete;

private:
    const Cupti& cupti_;
};

class CuptiSession final : public CounterSession {
public:
    CuptiSession(const Cupti& cupti, std::span<const std::string_view> metrics)
        : cupti_(cupti), initialised_(cupti), chip_(chip_name()), availability_(counter_availability()) {
        for (const std::string_view metric : metrics) metrics_.push_back({std::string(metric)});
        if (!configure()) {
            leave_out_what_fails();
            if (std::ranges::all_of(metrics_, [](const Metric& metric) { return !metric.left_out.empty(); }))
                throw std::runtime_error("this GPU has none of the metrics asked for");
            if (!configure()) throw std::runtime_error("CUPTI cannot collect these metrics together");
        }
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, p);
        p.configImageSize = configuration_.size();
        p.pConfigImage = configuration_.data();
        require(cupti_, cupti_.host_get_num_of_passes(&p), "cuptiProfilerHostGetNumOfPasses");
        passes_ = p.numOfPasses;
    }

    std::vector<std::vector<CounterReading>> measure(const std::function<void()>& prepare,
                                                     std::span<const std::function<void()>> launches) override {
        if (launches.empty()) return {};
        const auto data = RangeProfiler(cupti_, current_context()).collect(names_, configuration_, prepare, launches);
        std::vector<std::vector<CounterReading>> all(launches.size());
        for (std::size_t range = 0; range < launches.size(); ++range)
            all.at(launch_of(data, range)) = readings_of(host_->evaluate(names_, data, range));
        return all;
    }

    std::size_t passes() const override { return passes_; }

private:
    struct Metric {
        std::string name;
        std::string left_out{};  ///< why it is not collected; empty if it is
    };

    /// Ranges are named after their launches.
    std::size_t launch_of(const std::vector<std::uint8_t>& data, std::size_t range) const {
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, p);
        p.pCounterDataImage = data.data();
        p.counterDataImageSize = data.size();
        p.rangeIndex = range;
        p.rangeDelimiter = "/";
        require(cupti_, cupti_.range_get_range_info(&p), "cuptiRangeProfilerCounterDataGetRangeInfo");
        return std::stoul(p.rangeName);
    }

    std::vector<CounterReading> readings_of(const std::vector<double>& values) const {
        std::vector<CounterReading> readings;
        std::size_t next = 0;
        for (const Metric& metric : metrics_) {
            if (!metric.left_out.empty()) {
                readings.push_back({metric.name, std::nullopt, metric.left_out});
                continue;
            }
            const double value = values[next++];
            if (std::isfinite(value))
                readings.push_back({metric.name, value, {}});
            else
                readings.push_back({metric.name, std::nullopt, "the profiler returned no number"});
        }
        return readings;
    }

    std::string chip_name() const {
        int ordinal = 0;
        check(cudaGetDevice(&ordinal), "cudaGetDevice");
        ESPALIER_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, p);
        p.deviceIndex = static_cast<std::size_t>(ordinal);
        require(cupti_, cupti_.device_get_chip_name(&p), "cuptiDeviceGetChipName");
        return p.pChipName;
    }

    std::vector<std::uint8_t> counter_availability() const {
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, p);
        p.ctx = current_context();
        require(cupti_, cupti_.profiler_get_counter_availability(&p), "cuptiProfilerGetCounterAvailability");
        std::vector<std::uint8_t> image(p.counterAvailabilityImageSize);
        p.pCounterAvailabilityImage = image.data();
        require(cupti_, cupti_.profiler_get_counter_availability(&p), "cuptiProfilerGetCounterAvailability");
        return image;
    }

    /// All that are not left out, by a new host object. False if it refuses, which it does as a whole.
    bool configure() {
        names_.clear();
        for (const Metric& metric : metrics_)
            if (metric.left_out.empty()) names_.push_back(metric.name.c_str());
        host_ = std::make_unique<HostObject>(cupti_, chip_.c_str(), availability_);
        configuration_ = configured(*host_, names_);
        return !configuration_.empty();
    }

    /// One name that fails spoils a whole list and its host object, so each is tried on one of its own: alone, and with
    /// those that were found to work before it.
    void leave_out_what_fails() {
        std::vector<const char*> working;
        for (Metric& metric : metrics_) {
            working.push_back(metric.name.c_str());
            if (works(working)) continue;
            working.pop_back();
            metric.left_out = works({metric.name.c_str()})
                                  ? "this GPU (" + chip_ + ") cannot collect it with the others"
                                  : "this GPU (" + chip_ + ") has no such metric";
        }
    }

    bool works(std::vector<const char*> names) const {
        HostObject host(cupti_, chip_.c_str(), availability_);
        return !configured(host, names).empty();
    }

    /// Empty if the host object refuses them.
    static std::vector<std::uint8_t> configured(HostObject& host, std::vector<const char*>& names) {
        try {
            if (!names.empty() && host.add(names)) return host.configuration();
        } catch (const CuptiError&) {  // it knows the names and cannot collect them together
        }
        return {};
    }

    const Cupti& cupti_;
    ProfilerInitialised initialised_;
    std::string chip_;
    std::vector<std::uint8_t> availability_;
    std::vector<Metric> metrics_;
    std::vector<const char*> names_;
    std::vector<std::uint8_t> configuration_;
    std::size_t passes_ = 0;
    std::unique_ptr<HostObject> host_;
};

#undef ESPALIER_CUPTI_PARAMS

}  // namespace

std::unique_ptr<CounterSession> open_counters(std::span<const std::string_view> metrics, std::string& reason) {
    const Cupti* cupti = load_cupti(reason);
    if (!cupti) return nullptr;
    try {
        return std::make_unique<CuptiSession>(*cupti, metrics);
    } catch (const std::exception& error) {
        reason = error.what();
        return nullptr;
    }
}

}  // namespace espalier::device
