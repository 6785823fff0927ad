#include "harness/families/family.hpp"

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
