// What a prediction costs beyond its kernels: the same queries from host memory, through the pipeline that the tree
// chooses, and in the GPU's memory, where nothing is copied. Not a test: run it by hand on a GPU.
//
// usage: predict_benchmark [QUERIES POINTS DIMS K [ROUNDS]]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "espalier/espalier.hpp"
#include "kernels/device/runtime.hpp"
#include "tests/kernels/api/benchmark_support.hpp"

namespace {

using namespace espalier;

std::vector<float> uniform(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> numbers(-1, 1);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = numbers(random);
    return values;
}

}  // namespace

int main(int argc, char** argv) {
    const auto argument = [&](int i, std::int64_t otherwise) { return i < argc ? std::atoll(argv[i]) : otherwise; };
    const std::int64_t queries = argument(1, 100'000), points = argument(2, 100'000), dims = argument(3, 50);
    const std::int64_t k = argument(4, 10), rounds = argument(5, 15);
    const Device gpu = value_or_exit(Device::cuda());

    const std::vector<float> q = uniform(queries * dims, 1), p = uniform(points * dims, 2);
    std::vector<std::int32_t> classes(static_cast<std::size_t>(points));
    for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::int32_t>(i % 10);
    const auto model =
        value_or_exit(KnnClassifier::fit(gpu, {p.data(), points, dims, Layout::attribute_major}, classes, {.k = k}));

    const device::Buffer on_device(q.size() * sizeof(float)), result(static_cast<std::size_t>(queries) * 4);
    device::copy_to_device(on_device.data(), q.data(), on_device.size());
    device::synchronize();
    const Options there{.memory = Memory::device, .variant = "two_stage"};  // ESPALIER_FORCE_VARIANT is for the others
    const Items resident{on_device.as<float>(), queries, dims, Layout::attribute_major};
    std::vector<std::int32_t> predicted(static_cast<std::size_t>(queries));
    const auto succeed = [](const Result<void>& done) {
        if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str()), std::exit(1);
    };
    const std::function<void()> ways[] = {
        [&] { succeed(model.predict(resident, result.as<std::int32_t>(), there)); },
        [&] {
            succeed(model.predict({q.data(), queries, dims, Layout::attribute_major}, predicted.data()));
        },
        [&] {
            succeed(model.predict({q.data(), queries, dims, Layout::item_major}, predicted.data()));
        },
        [&] {
            static_cast<void>(value_or_exit(model.kneighbors({q.data(), queries, dims})));
        },
    };
    const char* names[] = {"device memory", "host, attribute-major", "host, item-major", "kneighbors, item-major"};
    std::vector<double> times[std::size(ways)];
    for (std::int64_t round = -1; round < rounds; ++round)  // the first warms up
        for (std::size_t way = 0; way < std::size(ways); ++way) {
            const double time = 1e3 * seconds_of(ways[way]);
            if (round >= 0) times[way].push_back(time);
        }
    std::printf("%s, %lld x %lld x %lld, k = %lld, %lld rounds\n", gpu.name().c_str(), static_cast<long long>(queries),
                static_cast<long long>(points), static_cast<long long>(dims), static_cast<long long>(k),
                static_cast<long long>(rounds));
    for (std::size_t way = 0; way < std::size(ways); ++way) {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < times[way].size(); ++i) ratios.push_back(times[way][i] / times[0][i]);
        const auto [least, most] = std::ranges::minmax(times[way]);
        std::printf("%-24s %9.3f ms (%.3f to %.3f), %.3f of device memory\n", names[way], median(times[way]), least,
                    most, median(ratios));
    }
    std::printf("%s\n%s", value_or_exit(model.explain_predict(queries, there)).text().c_str(),
                value_or_exit(model.explain_predict(queries)).text().c_str());
}
