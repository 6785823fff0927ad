#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/feature.hpp"
#include "kernels/core/variant.hpp"

/// Peers with a Python API, one file harness/bench/peers/<family>/<name>.py each. Python is the program then:
/// launcher.py loads the harness as a library, and the sweep calls it back. So any Python will do, with what its
/// environment holds.
namespace espalier::bench::python {

/// `task` is "supports" or "run", `peer` is "<family>/<name>", `arrays` the members of the family's Buffers (null for
/// "supports"). 0, or else `message`, of `room` bytes, says why not.
using Callback = int (*)(const char* task, const char* peer, const char* problem, const void* const* arrays,
                         char* message, std::size_t room);

void call_back(Callback callback);

/// No without a launcher, a module that the peer needs, or what the peer itself declines.
Support supports(const char* peer, const std::string& problem);

/// Throws `DeviceError` with Python's last line.
void run(const char* peer, const std::string& problem, std::span<const void* const> arrays);

/// `name` is "<family>/<name>", an array of characters with linkage.
template <class P, const auto& name>
Variant<P> peer(std::string_view summary, const Tolerance& tolerance) {
    using Buffers = typename P::Buffers;
    static_assert(sizeof(Buffers) % sizeof(void*) == 0, "Buffers of pointers alone");
    std::vector<std::string_view> optional;
    for (const auto& feature : P::features())
        if (feature.optional) optional.push_back(feature.name);
    return {.role = Role::peer,
            .summary = summary,
            .source = "Python",
            .limits = "scripts/peers --python",
            .tolerance = tolerance,
            .waits = "it may wait for what it calls",
            .space = {},
            .optional_features = std::move(optional),
            .supports = [](const P& problem, const Configuration&,
                           const DeviceInfo&) { return supports(name, problem_key(problem)); },
            .run =
                [](Context&, const P& problem, const Buffers& buffers, const Configuration&) {
                    python::run(name, problem_key(problem),
                                {reinterpret_cast<const void* const*>(&buffers), sizeof(Buffers) / sizeof(void*)});
                }};
}

}  // namespace espalier::bench::python
