// The families of espalier_peers: takes the place of the generated list at link.

#include <array>
#include <vector>

#include "harness/families/family_of.hpp"
#include "registries/convolution_2d/registry.hpp"

namespace espalier {

namespace convolution_2d {
Variant<Problem> peer_opencv_filter2d();
}

namespace bench {

namespace convolution_2d {
using namespace ::espalier::convolution_2d;
Suite<Problem> suite();

namespace {

std::vector<Registered<Problem>> with_peers() {
    std::vector<Registered<Problem>> all(registry().begin(), registry().end());
    all.push_back({.variant = peer_opencv_filter2d(),
                   .kind = DeviceKind::cpu,
                   .gpu_only = false,
                   .min_sm = 0,
                   .path = "harness/peers/convolution_2d/peer_opencv_filter2d.cpp",
                   .source_id = ESPALIER_PEER_OPENCV_ID});
    return all;
}

}  // namespace
}  // namespace convolution_2d

std::span<const Family* const> families() {
    static const std::vector<Registered<convolution_2d::Problem>> registry = convolution_2d::with_peers();
    static const FamilyOf<convolution_2d::Problem> family("convolution_2d", registry, convolution_2d::suite());
    static const std::array<const Family*, 1> all{&family};
    return all;
}

}  // namespace bench
}  // namespace espalier
