// Our side of a comparison that others run: predicts for queries from a file as often as it is told to.
// scripts/knn_peers.py starts it, and a like process for each peer, so that no library's threads are in another's way.
//
// usage: espalier_knn_runner DEVICE FOLDER QUERIES POINTS DIMS K euclidean|cosine [VARIANT]
//
// DEVICE is cpu or a GPU by number, in whose memory all arrays then lie.
// FOLDER holds queries.f32 and points.f32, rows of floats. Says the device's key and the choice of the variant; then,
// for each line on stdin: "run" predicts, classes and neighbours, and says the nanoseconds; "save" writes
// distances.f32 and indices.i32, rows of k, to FOLDER. On a GPU 256 MiB are written before the clock starts: then
// caches are cold, and the GPU has come from whatever process had it.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "espalier/espalier.hpp"
#include "kernels/device/runtime.hpp"

namespace {

using namespace espalier;

[[noreturn]] void give_up(const std::string& why) {
    std::cerr << "espalier_knn_runner: " << why << '\n';
    std::exit(2);
}

template <class T>
T value_or_exit(Result<T> result) {
    if (!result) give_up(result.error().message);
    return std::move(result).value();
}

std::vector<float> read_floats(const std::string& path, std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::ifstream file(path, std::ios::binary);
    const auto bytes = static_cast<std::streamsize>(values.size() * sizeof(float));
    if (!file.read(reinterpret_cast<char*>(values.data()), bytes)) give_up(path + " has less than was said");
    return values;
}

template <class T>
void write_rows(const std::string& path, const std::vector<T>& columns, std::int64_t queries, std::int64_t k) {
    std::vector<T> rows(columns.size());
    for (std::int64_t q = 0; q < queries; ++q)
        for (std::int64_t j = 0; j < k; ++j)
            rows[static_cast<std::size_t>(q * k + j)] = columns[static_cast<std::size_t>(j * queries + q)];
    std::ofstream file(path, std::ios::binary);
    if (!file.write(reinterpret_cast<const char*>(rows.data()), static_cast<std::streamsize>(rows.size() * sizeof(T))))
        give_up(path + " cannot be written");
}

std::int64_t size_of(const char* text, std::int64_t least = 1) {
    char* end = nullptr;
    const long long size = std::strtoll(text, &end, 10);
    if (*end != '\0' || size < least || size > (std::int64_t{1} << 40)) give_up(std::string(text) + " is no size");
    return size;
}

/// An array where the device computes.
template <class T>
class Array {
public:
    Array(bool on_gpu, std::vector<T> values) : values_(std::move(values)), on_gpu_(on_gpu) {
        if (!on_gpu_) return;
        memory_ = device::Buffer(values_.size() * sizeof(T));
        device::copy_to_device(memory_.data(), values_.data(), memory_.size());
    }

    T* data() { return on_gpu_ ? memory_.template as<T>() : values_.data(); }
    [[nodiscard]] std::size_t size() const { return values_.size(); }

    const std::vector<T>& on_host() {
        if (on_gpu_) device::copy_to_host(values_.data(), memory_.data(), memory_.size());
        return values_;
    }

private:
    std::vector<T> values_;
    bool on_gpu_;
    device::Buffer memory_{0};
};

constexpr std::size_t kFlushedBytes = std::size_t{256} << 20;  // as scripts/knn_peers.py

Device device_named(const std::string& name) {
    return name == "cpu" ? Device::cpu() : value_or_exit(Device::cuda(static_cast<int>(size_of(name.c_str(), 0))));
}

Metric metric_named(const std::string& name) {
    if (name == "euclidean") return Metric::euclidean;
    if (name == "cosine") return Metric::cosine;
    give_up(name + " is neither euclidean nor cosine");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 8 || argc > 9)
        give_up("usage: espalier_knn_runner DEVICE FOLDER QUERIES POINTS DIMS K euclidean|cosine [VARIANT]");
    const std::string folder = argv[2], variant = argc > 8 ? argv[8] : "";
    const Device device = device_named(argv[1]);
    const bool on_gpu = std::string(argv[1]) != "cpu";
    const std::int64_t queries = size_of(argv[3]), points = size_of(argv[4]), dims = size_of(argv[5]);
    const std::int64_t k = size_of(argv[6]);
    const Metric metric = metric_named(argv[7]);
    Array query_values(on_gpu, read_floats(folder + "/queries.f32", queries * dims));
    Array point_values(on_gpu, read_floats(folder + "/points.f32", points * dims));
    std::vector<std::int32_t> classes_on_host(static_cast<std::size_t>(points));
    for (std::size_t i = 0; i < classes_on_host.size(); ++i) classes_on_host[i] = static_cast<std::int32_t>(i % 10);
    Array classes(on_gpu, std::move(classes_on_host));

    const Options options{.memory = on_gpu ? Memory::device : Memory::host, .variant = variant};
    const KnnClassifier model =
        value_or_exit(KnnClassifier::fit(device, {point_values.data(), points, dims}, {classes.data(), classes.size()},
                                         {.k = k, .distance = {.metric = metric}}, {.memory = options.memory}));
    const Explanation choice = value_or_exit(model.explain_predict(queries, options));
    std::cout << device.key() << ' ' << choice.variant << ' '
              << (choice.configuration.empty() ? "-" : choice.configuration) << std::endl;

    Array predicted(on_gpu, std::vector<std::int32_t>(static_cast<std::size_t>(queries)));
    Array distances(on_gpu, std::vector<float>(static_cast<std::size_t>(queries * k)));
    Array indices(on_gpu, std::vector<std::int32_t>(distances.size()));
    const device::Buffer flushed(on_gpu ? kFlushedBytes : 0);
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "save") {
            write_rows(folder + "/distances.f32", distances.on_host(), queries, k);
            write_rows(folder + "/indices.i32", indices.on_host(), queries, k);
            std::cout << "saved" << std::endl;
            continue;
        }
        if (on_gpu) {
            device::fill(flushed.data(), 0, flushed.size());
            device::synchronize_all();
        }
        const auto before = std::chrono::steady_clock::now();
        const Result<void> done = model.predict({query_values.data(), queries, dims}, predicted.data(),
                                                {distances.data(), indices.data(), MatrixLayout::transposed}, options);
        const auto after = std::chrono::steady_clock::now();
        if (!done) give_up(done.error().message);
        std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(after - before).count() << std::endl;
    }
}
