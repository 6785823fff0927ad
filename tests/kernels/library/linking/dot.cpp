// Uses the inner product, asks for a family that it does not use, and loads the trees of the folder that it is given.

#include <cstdio>
#include <espalier/dot.hpp>
#include <espalier/explanation.hpp>
#include <espalier/selectors.hpp>

/// In a library of somebody else's, whose own function this is.
extern "C" [[gnu::visibility("default")]] float uses_espalier() {
    const float a[] = {1, 2, 3};
    float result = 0;
    const auto done = espalier::dot_product(espalier::Device::cpu(), a, a, 3, &result);
    return done ? result : -1;
}

/// Of the families that are linked the trees are loaded, the others passed over.
static bool loads_own_trees(const char* folder) {
    const auto loaded = espalier::load_selectors(folder);
    if (!loaded) std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
    if (!loaded || loaded.value().empty()) return false;
#ifndef EVERY_FAMILY
    for (const auto& tree : loaded.value())
        if (tree.family != "dot") return false;
#endif
    return true;
}

int main(int argc, char** argv) {
    if (uses_espalier() != 14) return 1;
    if (argc > 1 && !loads_own_trees(argv[1])) return 1;
    const auto why = espalier::explain(espalier::Device::cpu(), "histogram", "bytes=5");
#ifdef EVERY_FAMILY
    if (!why) std::fprintf(stderr, "%s\n", why.error().message.c_str());
    return why ? 0 : 1;
#else
    if (why || why.error().code != espalier::ErrorCode::unsupported) return 1;
    return why.error().message.find("link espalier::histogram") == std::string::npos ? 1 : 0;
#endif
}
