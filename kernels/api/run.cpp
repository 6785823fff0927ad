#include "kernels/api/run.hpp"

namespace espalier {

std::optional<Error> invalid_options(const DeviceState& device, const Options& options) {
    if (device.info.kind == DeviceKind::cuda) return std::nullopt;
    if (options.memory == Memory::device)
        return invalid("Options::memory is device, but the call runs on the CPU: pass host memory or a GPU");
    if (options.stream) return invalid("Options::stream must be null for the CPU");
    return std::nullopt;
}

}  // namespace espalier
