// harness/device/runtime.hpp on the CPU: device memory is host memory, streams run at once.

#include "harness/device/runtime.hpp"

namespace espalier::device {

int count() { return 1; }
std::string unavailable_reason() { return {}; }

}  // namespace espalier::device
