#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/bench/families/family_of.hpp"
#include "kernels/core/registry.hpp"

namespace espalier::bench {

/// Somebody else's implementation as an entry of a registry. Its identity is that of the code that calls it and of the
/// version that is called.
template <class P>
Registered<P> peer(std::string_view name, Variant<P> variant, DeviceKind kind, std::string_view path,
                   std::string_view source_id) {
    variant.name = name;
    return {.variant = std::move(variant),
            .kind = kind,
            .gpu_only = kind == DeviceKind::cuda,
            .min_sm = 0,
            .path = path,
            .source_id = source_id};
}

/// A family of our variants and the peers.
template <class P>
class FamilyWithPeers {
public:
    FamilyWithPeers(std::string_view name, std::span<const Registered<P>> ours, std::vector<Registered<P>> peers,
                    const Suite<P>& suite)
        : all_(joined(ours, std::move(peers))), family_(name, all_, suite) {}

    FamilyWithPeers(const FamilyWithPeers&) = delete;
    FamilyWithPeers& operator=(const FamilyWithPeers&) = delete;

    [[nodiscard]] const Family* family() const { return &family_; }

private:
    static std::vector<Registered<P>> joined(std::span<const Registered<P>> ours, std::vector<Registered<P>> peers) {
        peers.insert(peers.begin(), ours.begin(), ours.end());
        return peers;
    }

    std::vector<Registered<P>> all_;
    FamilyOf<P> family_;
};

}  // namespace espalier::bench
