// harness/bench/profile/activity.hpp through CUPTI's activity records.

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>

#include "cupti.hpp"
#include "device/kernel.hpp"
#include "harness/bench/profile/activity.hpp"

namespace espalier::device {
namespace {

constexpr std::array kKinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMSET};
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kBufferAlignment = 8;  // which CUPTI asks for

/// What CUPTI's callbacks, which take no argument of ours, have delivered; they run in a thread of its own.
struct Delivered {
    std::mutex mutex;
    std::vector<Activity> activities;
    bool traced = false;
};
Delivered& delivered() {
    static Delivered all;
    return all;
}

std::string demangled(const char* name) {
    int status = 0;
    char* const text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string result = status == 0 && text ? text : name;
    std::free(text);
    return result;
}

Activity kernel(const CUpti_ActivityKernel10& record) {
    return {.name = demangled(record.name ? record.name : "unnamed kernel"),
            .start_ns = record.start,
            .end_ns = record.end,
            .stream = record.streamId,
            .is_kernel = true,
            .blocks = std::int64_t{record.gridX} * record.gridY * record.gridZ,
            .block_size = record.blockX * record.blockY * record.blockZ,
            .registers = record.registersPerThread,
            .static_shared_bytes = static_cast<std::uint64_t>(record.staticSharedMemory),
            .dynamic_shared_bytes = static_cast<std::uint64_t>(record.dynamicSharedMemory),
            .local_bytes = record.localMemoryPerThread,
            .shared_percent = record.isSharedMemoryCarveoutRequested ? record.sharedMemoryCarveoutRequested : -1};
}

const char* copy_name(std::uint8_t kind) {
    if (kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD) return "copy to device";
    if (kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH) return "copy to host";
    return "copy on device";
}

void add(const CUpti_Activity& record, std::vector<Activity>& all) {
    if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        all.push_back(kernel(reinterpret_cast<const CUpti_ActivityKernel10&>(record)));
    } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
        all.push_back({copy_name(copy.copyKind), copy.start, copy.end, copy.streamId});
    } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        const auto& fill = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
        all.push_back({"fill", fill.start, fill.end, fill.streamId});
    }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
    *bytes = *buffer ? kBufferBytes : 0;
    *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    std::string unused;
    const Cupti* cupti = load_cupti(unused);
    const std::lock_guard lock(delivered().mutex);
    CUpti_Activity* record = nullptr;
    while (valid > 0 && cupti->activity_get_next_record(buffer, valid, &record) == CUPTI_SUCCESS)
        add(*record, delivered().activities);
    std::free(buffer);
}

class CuptiTrace final : public ActivityTrace {
public:
    explicit CuptiTrace(const Cupti& cupti) : cupti_(cupti) {
        for (const CUpti_ActivityKind kind : kKinds) cupti_.activity_enable(kind);
    }
    ~CuptiTrace() override {
        for (const CUpti_ActivityKind kind : kKinds) cupti_.activity_disable(kind);
        cupti_.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
        const std::lock_guard lock(delivered().mutex);
        delivered().activities.clear();
        delivered().traced = false;
    }
    CuptiTrace(const CuptiTrace&) = delete;
    CuptiTrace& operator=(const CuptiTrace&) = delete;

    std::vector<Activity> take() override {
        synchronize();
        cupti_.activity_flush_all(0);
        std::vector<Activity> all;
        {
            const std::lock_guard lock(delivered().mutex);
            all.swap(delivered().activities);
        }
        std::ranges::sort(all, {}, &Activity::start_ns);
        return all;
    }

private:
    const Cupti& cupti_;
};

}  // namespace

std::unique_ptr<ActivityTrace> trace_activity(std::string& reason) {
    const Cupti* cupti = load_cupti(reason);
    if (!cupti) return nullptr;
    check(cudaFree(nullptr), "creating the CUDA context");
    {
        const std::lock_guard lock(delivered().mutex);
        if (delivered().traced) {
            reason = "this process is traced already";
            return nullptr;
        }
        delivered().traced = true;
    }
    static const CUptiResult registered = cupti->activity_register_callbacks(give_buffer, take_buffer);
    if (registered != CUPTI_SUCCESS) {
        const char* text = nullptr;
        cupti->get_result_string(registered, &text);
        reason = std::string("cuptiActivityRegisterCallbacks: ") + (text ? text : "unknown CUPTI error");
        const std::lock_guard lock(delivered().mutex);
        delivered().traced = false;
        return nullptr;
    }
    return std::make_unique<CuptiTrace>(*cupti);
}

std::uint64_t activity_clock_ns() {
    std::string unused;
    const Cupti* cupti = load_cupti(unused);
    std::uint64_t now = 0;
    if (cupti) cupti->get_timestamp(&now);
    return now;
}

}  // namespace espalier::device
