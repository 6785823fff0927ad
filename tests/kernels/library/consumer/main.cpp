// What docs/library.md shows, as a program of its own: filters a small image and says how that was done, adds up
// repeatably, plans once and runs twice, finds neighbours. Loads the trees of the path that it is given. Exits with 1
// and the library's message on an error, with 2 on a wrong result.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <espalier/espalier.hpp>
#include <memory>
#include <span>
#include <vector>

namespace {

using namespace espalier;

template <class R>
auto value_of(R result) {
    if (result) return std::move(result).value();
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
}

void expect(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    std::exit(2);
}

void filter_an_image(const Device& device) {
    constexpr ImageShape shape{64, 48, 3};
    std::vector<std::uint8_t> image(64 * 48 * 3), result(image.size());
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::uint8_t>(i * 7);
    Filter5x5 identity{};
    identity[12] = 1;
    value_of(convolve_2d(device, {image.data(), shape}, identity, Border::mirror, {result.data(), shape}));
    expect(result == image, "the identity filter changed the image");
    const auto why = explain_convolve_2d(device, shape, identity, Border::mirror);
    std::printf("%s", why.value().text().c_str());
}

void add_up_repeatably(const Device& device) {
    const std::vector<float> a(1000, 0.1F), b(1000, 3);
    float once = 0, again = 0;
    value_of(dot_product(device, a.data(), b.data(), 1000, &once, {.deterministic = true}));
    value_of(dot_product(device, a.data(), b.data(), 1000, &again, {.deterministic = true}));
    expect(once == again && once > 299 && once < 301, "the sum of 1000 x 0.1 x 3");
    expect(value_of(explain_dot_product(device, 1000, {.deterministic = true})).deterministic(), "the explanation");
}

void plan_once_run_twice(const Device& device) {
    const std::vector<float> a(1000, 2), b(1000, 3);
    const DotProductPlan plan = value_of(plan_dot_product(device, 1000));  // of arrays in host memory
    std::vector<std::byte> memory(device.is_cuda() ? 0 : plan.workspace_bytes() + 64);
    void* aligned = memory.data();
    std::size_t room = memory.size();
    if (device.is_cuda() || !std::align(64, plan.workspace_bytes(), aligned, room)) return;  // GPU memory: CUDA's calls
    const std::span<std::byte> workspace(static_cast<std::byte*>(aligned), plan.workspace_bytes());
    for (int run = 0; run < 2; ++run) {
        float result = 0;
        value_of(plan.run(a, b, &result, nullptr, workspace));
        expect(result == 6000, "the planned sum of 1000 x 2 x 3");
    }
    float result = 0;
    const auto refused = plan.run(a, std::span(b).first(999), &result, nullptr, workspace);
    expect(!refused && refused.error().code == ErrorCode::invalid_argument, "a plan run with another size");
}

void find_neighbours(const Device& device) {
    const float points[] = {0, 0, 1, 0, 5, 5, 6, 5};  // four items of two attributes
    const std::int32_t classes[] = {0, 0, 1, 1};
    const float queries[] = {0.2F, 0, 5.9F, 5};
    const NeighbourRule rule{.k = 2, .distance = {Metric::euclidean}};
    const auto model = value_of(KnnClassifier::fit(device, {points, 4, 2}, classes, rule));
    expect(value_of(model.predict({queries, 2, 2})) == std::vector<std::int32_t>{0, 1}, "the classes");
    const auto nearest = value_of(model.kneighbors({queries, 2, 2}));
    expect(nearest.indices == std::vector<std::int32_t>{0, 1, 3, 2}, "the neighbours");
}

void load_trees(const char* path) {
    const auto loaded = value_of(load_selectors(path));
    expect(value_of(loaded_selectors()).selectors.size() >= loaded.size(), "the trees in use");
}

void list_loaded_trees() {
    for (const LoadedSelector& tree : value_of(loaded_selectors()).selectors)
        std::printf("loaded: %s on %s from %s\n", tree.family.c_str(), tree.device.c_str(), tree.file.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) load_trees(argv[1]);
    list_loaded_trees();
    const Device device = Device::best();
    std::printf("espalier %s on %s\n", library_version(), device.description().c_str());
    filter_an_image(device);
    add_up_repeatably(device);
    plan_once_run_twice(device);
    find_neighbours(device);
}
