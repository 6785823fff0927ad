// Filters a small image and says how that was done. Exits with 1 and the library's message on an error.

#include <cstdint>
#include <cstdio>
#include <vector>

#include <espalier/espalier.hpp>

int main() {
    using namespace espalier;
    constexpr ImageShape shape{64, 48, 3};
    std::vector<std::uint8_t> image(64 * 48 * 3), result(image.size());
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::uint8_t>(i * 7);
    Filter5x5 identity{};
    identity[12] = 1;

    const Device device = Device::best();
    std::printf("espalier %s on %s\n", library_version(), device.description().c_str());
    const auto done = convolve_2d(device, {image.data(), shape}, identity, Border::mirror, {result.data(), shape});
    if (!done) {
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
        return 1;
    }
    if (result != image) {
        std::fprintf(stderr, "the identity filter changed the image\n");
        return 2;
    }
    const auto why = explain_convolve_2d(device, shape, identity, Border::mirror);
    std::printf("%s", why.value().text().c_str());
    return 0;
}
