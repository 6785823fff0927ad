// Our side of a comparison that others run: predicts for queries from a file as often as it is told to.
// scripts/knn_peers.py starts it, and a like process for each peer, so that no library's threads are in another's way.
//
// usage: espalier_knn_runner FOLDER QUERIES POINTS DIMS K [VARIANT]
//
// FOLDER holds queries.f32 and points.f32, rows of floats. Says the device's key and the choice of the variant; then,
// for each line on stdin: "run" predicts, classes and neighbours, and says the nanoseconds; "save" writes
// distances.f32 and indices.i32, rows of k, to FOLDER.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "espalier/espalier.hpp"

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

std::int64_t size_of(const char* text) {
    char* end = nullptr;
    const long long size = std::strtoll(text, &end, 10);
    if (*end != '\0' || size < 1 || size > (std::int64_t{1} << 40)) give_up(std::string(text) + " is no size");
    return size;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 6 || argc > 7) give_up("usage: espalier_knn_runner FOLDER QUERIES POINTS DIMS K [VARIANT]");
    const std::string folder = argv[1], variant = argc > 6 ? argv[6] : "";
    const std::int64_t queries = size_of(argv[2]), points = size_of(argv[3]), dims = size_of(argv[4]);
    const std::int64_t k = size_of(argv[5]);
    const std::vector<float> query_values = read_floats(folder + "/queries.f32", queries * dims);
    const std::vector<float> point_values = read_floats(folder + "/points.f32", points * dims);
    std::vector<std::int32_t> classes(static_cast<std::size_t>(points));
    for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::int32_t>(i % 10);

    const Device cpu = Device::cpu();
    const KnnClassifier model =
        value_or_exit(KnnClassifier::fit(cpu, {point_values.data(), points, dims}, classes, {.k = k}));
    const Options options{.variant = variant};
    const Explanation choice = value_or_exit(model.explain_predict(queries, options));
    std::cout << cpu.key() << ' ' << choice.variant << ' '
              << (choice.configuration.empty() ? "-" : choice.configuration) << std::endl;

    std::vector<std::int32_t> predicted(static_cast<std::size_t>(queries));
    std::vector<float> distances(static_cast<std::size_t>(queries * k));
    std::vector<std::int32_t> indices(distances.size());
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "save") {
            write_rows(folder + "/distances.f32", distances, queries, k);
            write_rows(folder + "/indices.i32", indices, queries, k);
            std::cout << "saved" << std::endl;
            continue;
        }
        const auto before = std::chrono::steady_clock::now();
        const Result<void> done = model.predict({query_values.data(), queries, dims}, predicted.data(),
                                                {distances.data(), indices.data()}, options);
        const auto after = std::chrono::steady_clock::now();
        if (!done) give_up(done.error().message);
        std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(after - before).count() << std::endl;
    }
}
