#include "espalier/c/arrays.h"
#include "kernels/api/c/call.hpp"

using namespace espalier;
using c::call;

espalier_status espalier_count_bytes(const espalier_device* device, std::int64_t size, const std::uint8_t* bytes,
                                     std::uint64_t* counts, const espalier_options* options) noexcept {
    return call([&] { return count_bytes(c::device_of(device), bytes, size, counts, c::options_of(options)); });
}

espalier_status espalier_plan_count_bytes(const espalier_device* device, std::int64_t size,
                                          const espalier_options* options, espalier_plan** plan) noexcept {
    return call([&] {
        c::take_place(plan, "plan");
        return c::give_plan(
            plan_count_bytes(c::device_of(device), size, c::options_of(options), c::plan_options_of(options)), plan);
    });
}

espalier_status espalier_count_bytes_run(const espalier_plan* plan, std::int64_t size, const std::uint8_t* bytes,
                                         std::uint64_t* counts, void* stream, void* workspace,
                                         std::size_t workspace_bytes) noexcept {
    return call([&] {
        return c::plan_of<HistogramPlan>(plan, "espalier_plan_count_bytes()")
            .run(c::span_of(bytes, {{"size", size}}), counts, c::stream_of(stream),
                 c::workspace_of(workspace, workspace_bytes));
    });
}

espalier_status espalier_explain_count_bytes(const espalier_device* device, std::int64_t size,
                                             const espalier_options* options, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return c::give_text(explain_count_bytes(c::device_of(device), size, c::options_of(options)), text);
    });
}
