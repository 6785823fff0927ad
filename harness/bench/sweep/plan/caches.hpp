#pragma once

#include <optional>
#include <string_view>

namespace espalier::bench {

/// What the caches hold when a run begins.
enum class Caches {
    warm,   ///< whatever the run before left
    cold,   ///< what was written just before: as after another kernel, a run must first write that back
    clean,  ///< what was read just before: memory moves the run's own bytes and nothing else
};

constexpr std::string_view to_string(Caches caches) {
    return caches == Caches::warm ? "warm" : caches == Caches::cold ? "cold" : "clean";
}

constexpr std::optional<Caches> caches_named(std::string_view name) {
    for (const Caches each : {Caches::warm, Caches::cold, Caches::clean})
        if (name == to_string(each)) return each;
    return std::nullopt;
}

}  // namespace espalier::bench
