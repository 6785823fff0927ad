// Uses the inner product, and asks for a family that it does not use.

#include <cstdio>
#include <espalier/dot.hpp>
#include <espalier/explanation.hpp>

/// In a library of somebody else's, whose own function this is.
extern "C" [[gnu::visibility("default")]] float uses_espalier() {
    const float a[] = {1, 2, 3};
    float result = 0;
    const auto done = espalier::dot_product(espalier::Device::cpu(), a, a, 3, &result);
    return done ? result : -1;
}

int main() {
    if (uses_espalier() != 14) return 1;
    const auto why = espalier::explain(espalier::Device::cpu(), "histogram", "bytes=5");
#ifdef EVERY_FAMILY
    if (!why) std::fprintf(stderr, "%s\n", why.error().message.c_str());
    return why ? 0 : 1;
#else
    if (why || why.error().code != espalier::ErrorCode::unsupported) return 1;
    return why.error().message.find("link espalier::histogram") == std::string::npos ? 1 : 0;
#endif
}
