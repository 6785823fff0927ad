#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/core/feature.hpp"
#include "kernels/core/variant.hpp"

namespace espalier {

/// The features that a variant serves at their defaults alone, bit i for the i-th of the family: optional ones that it
/// does not list. What no caller knows, such as what the arrays hold, is no business of a variant's, and what asks for
/// less than the default is served by it.
template <class P>
std::uint64_t unlisted_features(const Variant<P>& variant) {
    const auto features = P::features();
    std::uint64_t unlisted = 0;
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (!features[i].optional || !features[i].known || features[i].relaxing) continue;
        if (std::ranges::find(variant.optional_features, features[i].name) == variant.optional_features.end())
            unlisted |= std::uint64_t{1} << i;
    }
    return unlisted;
}

/// A variant as the generated registry of its family lists it.
template <class P>
struct Registered {
    Variant<P> variant;
    DeviceKind kind;             ///< from the file's ending: .cpp runs on the CPU, .cu on a GPU
    bool gpu_only;               ///< in gpu_only/ or sm_90a/: the host executor cannot run it
    int min_sm;                  ///< 90 for sm_90a/, else 0
    std::string_view path;       ///< source file, relative to the repository
    std::string_view source_id;  ///< SHA-256 of the source without comments and white space
    bool exact_sm = false;       ///< in sm_90a/: code for that architecture alone, older and newer ones lack it
    std::string_view foreign{};  ///< in x86/ or aarch64/: that name if this build is for other processors, else empty
    std::uint64_t unlisted = unlisted_features(variant);  ///< asked at each choice, and the same each time

    /// False for an entry that only keeps the place of a variant which is not linked into this program.
    [[nodiscard]] bool linked() const { return variant.run != nullptr; }
};

/// Demands of a caller on the variant that runs, beyond that it can run the problem.
struct Demands {
    bool deterministic = false;  ///< equal runs on one device give equal bits
    bool only_enqueues = false;  ///< `run` neither waits for its GPU nor allocates
    bool exact = false;          ///< of whole numbers, what is equal comes out equal
};

/// Names the demand that a variant does not meet, in words; empty if it meets them all. That any arrays may come is
/// always one.
template <class P>
std::string unmet(const Registered<P>& entry, const Demands& demands) {
    const Variant<P>& variant = entry.variant;
    if (!variant.assumes.empty()) return "it is right for some arrays alone: " + std::string(variant.assumes);
    if (demands.deterministic && !variant.nondeterminism.empty())
        return "equal calls may differ: " + std::string(variant.nondeterminism);
    if (demands.only_enqueues && !variant.waits.empty()) return "no plan can have it: " + std::string(variant.waits);
    if (demands.exact && !variant.rounds.empty()) return "ties may come out unequal: " + std::string(variant.rounds);
    return {};
}

/// Whether the demands are met, without words.
template <class P>
bool meets(const Registered<P>& entry, const Demands& demands) {
    return entry.variant.assumes.empty() && !(demands.deterministic && !entry.variant.nondeterminism.empty()) &&
           !(demands.only_enqueues && !entry.variant.waits.empty()) &&
           !(demands.exact && !entry.variant.rounds.empty());
}

/// Why a variant that is code for other processors is not in this build.
inline std::string foreign_reason(std::string_view foreign) {
    return "is code for " + std::string(foreign) + " processors, this build is for others";
}

/// Declines a problem with a feature that the variant does not list and that is not at its default.
template <class P>
Support knows_features(const Registered<P>& entry, const P& problem) {
    for (std::uint64_t left = entry.unlisted; left != 0; left &= left - 1) {
        const Feature<P>& feature = P::features()[static_cast<std::size_t>(std::countr_zero(left))];
        if (!at_default(feature, problem)) return Support::no("runs " + feature_text(feature, P{}) + " alone");
    }
    return Support::yes();
}

/// Whether a variant can run a problem there: what its file's place says, then its own predicate.
template <class P>
Support supports(const Registered<P>& entry, const P& problem, const Configuration& configuration,
                 const DeviceInfo& device) {
    if (!entry.foreign.empty()) return Support::no(foreign_reason(entry.foreign));
    if (!entry.linked()) return Support::no("it is not in this build");
    if (entry.kind != device.kind)
        return Support::no(entry.kind == DeviceKind::cpu ? "runs on a cpu device" : "runs on a cuda device");
    if (device.kind == DeviceKind::cuda && device.sm < entry.min_sm)
        return Support::no("needs compute capability " + std::to_string(entry.min_sm) + ", this is " +
                           std::to_string(device.sm));
    if (device.kind == DeviceKind::cuda && entry.exact_sm && device.sm != entry.min_sm)
        return Support::no("is code for compute capability " + std::to_string(entry.min_sm) + " alone, this is " +
                           std::to_string(device.sm));
    if (device.emulated && entry.gpu_only) return Support::no("needs a real GPU: the host executor does not run it");
    if (Support knows = knows_features(entry, problem); !knows) return knows;
    return entry.variant.supports(problem, configuration, device);
}

/// Whether a variant can run a problem there, and with which configuration: `configuration`, or the one that it says is
/// the same there. That one is put in its place.
template <class P>
Support resolve(const Registered<P>& entry, const P& problem, Configuration& configuration, const DeviceInfo& device) {
    Support support = supports(entry, problem, configuration, device);
    // Each step settles one of the settings.
    for (std::size_t steps = 0; !support && steps < Configuration::kCapacity; ++steps) {
        const auto same = configuration.with(support.same_as());
        if (!same || *same == configuration) return support;
        configuration = *same;
        support = supports(entry, problem, configuration, device);
    }
    return support;
}

}  // namespace espalier
