// harness/device/runtime.hpp on the CPU: device memory is host memory, streams run at once.

#include "harness/device/runtime.hpp"

namespace espalier::device {

int count() { return 1; }
std::string unavailable_reason() { return {}; }
int current() { return 0; }
void make_current(int ordinal) {
    if (ordinal != 0) throw DeviceError("the host executor has one GPU, with ordinal 0", 101);  // cudaErrorInvalidDevice
}

}  // namespace espalier::device
