#include "espalier/c/general.h"

#include <cstdlib>

#include "kernels/api/c/call.hpp"
#include "kernels/api/c/last_error.hpp"

using namespace espalier;
using c::call;
using c::present;

const char* espalier_last_error(void) noexcept { return c::last_error(); }

const char* espalier_version(void) noexcept { return library_version(); }

void espalier_free_text(char* text) noexcept { std::free(text); }

espalier_status espalier_load_selectors(const char* path) noexcept {
    return call([&]() -> Result<void> {
        const auto loaded = load_selectors(&present(path, "path"));
        if (!loaded) return loaded.error();
        return {};
    });
}

espalier_status espalier_load_wisdom(const char* path, std::int64_t* entries) noexcept {
    return call([&]() -> Result<void> {
        const auto loaded = load_wisdom(&present(path, "path"));
        if (!loaded) return loaded.error();
        if (entries) *entries = loaded.value().entries;
        return {};
    });
}

espalier_status espalier_save_wisdom(const char* path) noexcept {
    return call([&] { return save_wisdom(&present(path, "path")); });
}

void espalier_forget_wisdom(void) noexcept { forget_wisdom(); }

espalier_status espalier_device_cpu(espalier_device** device) noexcept {
    return call([&] {
        c::take_place(device, "device");
        *device = new espalier_device{Device::cpu()};
    });
}

espalier_status espalier_device_cuda(std::int32_t ordinal, espalier_device** device) noexcept {
    return call([&]() -> Result<void> {
        c::take_place(device, "device");
        const auto gpu = Device::cuda(ordinal);
        if (!gpu) return gpu.error();
        *device = new espalier_device{gpu.value()};
        return {};
    });
}

espalier_status espalier_device_best(espalier_device** device) noexcept {
    return call([&] {
        c::take_place(device, "device");
        *device = new espalier_device{Device::best()};
    });
}

std::int32_t espalier_device_ordinal(const espalier_device* device) noexcept {
    return device ? device->device.ordinal() : -1;
}
const char* espalier_device_key(const espalier_device* device) noexcept {
    return device ? device->device.key().c_str() : "";
}
const char* espalier_device_description(const espalier_device* device) noexcept {
    return device ? device->device.description().c_str() : "";
}
void espalier_device_free(espalier_device* device) noexcept { delete device; }

espalier_status espalier_explain(const espalier_device* device, const char* family, const char* problem,
                                 const espalier_options* options, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return c::give_text(explain(c::device_of(device), &present(family, "family"), &present(problem, "problem"),
                                    c::options_of(options)),
                            text);
    });
}

std::size_t espalier_plan_workspace_bytes(const espalier_plan* plan) noexcept {
    return plan ? plan->plan().workspace_bytes() : 0;
}
std::int32_t espalier_plan_deterministic(const espalier_plan* plan) noexcept {
    return !plan || plan->plan().deterministic() ? 1 : 0;
}
espalier_status espalier_plan_explain(const espalier_plan* plan, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return c::give_text(present(plan, "plan").plan().explain(), text);
    });
}
void espalier_plan_free(espalier_plan* plan) noexcept { delete plan; }
