#include "tests/bench/faulty/variants.hpp"

namespace espalier::faulty {

std::span<const Registered<Problem>> gpu_registry() { return {}; }

}  // namespace espalier::faulty
