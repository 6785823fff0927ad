#include "harness/bench/families/family.hpp"

#include "kernels/core/similar_name.hpp"

namespace espalier::bench {

std::size_t Family::find(std::string_view variant) const {
    const auto all = variants();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].name == variant) return i;
    return npos;
}

std::size_t Family::baseline(DeviceKind kind) const {
    const auto all = variants();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].kind == kind && all[i].role == Role::baseline) return i;
    return npos;
}

const Family* find_family(std::string_view name) {
    for (const Family* family : families())
        if (family->name() == name) return family;
    return nullptr;
}

const Family& family_named(std::string_view name) {
    std::string known;
    SimilarName meant(name);
    for (const Family* family : families()) {
        if (family->name() == name) return *family;
        known.append(known.empty() ? "" : ", ").append(family->name());
        meant.offer(family->name());
    }
    throw BadProblem("unknown family '" + std::string(name) + "'; known: " + known + meant.question());
}

std::string unknown_variant(std::string_view name) {
    SimilarName meant(name.substr(name.find('/') + 1));
    for (const Family* family : families())
        for (const VariantInfo& variant : family->variants()) meant.offer(variant.name);
    return "unknown variant '" + std::string(name) + "'; espalier list shows them all" + meant.question();
}

std::string_view to_string(Role role) {
    switch (role) {
        case Role::documented: return "documented";
        case Role::modern: return "modern";
        case Role::baseline: return "baseline";
        case Role::peer: return "peer";
    }
    return "unknown";
}

std::string_view to_string(DeviceKind kind) { return kind == DeviceKind::cpu ? "cpu" : "cuda"; }

}  // namespace espalier::bench
