// What tests of ESPALIER_WISDOM run in processes of their own: measures some problems, where no file may grow if the
// disk is to be full, or explains one.
//
// usage: wisdom_program measure|measure_on_full_disk FIRST COUNT THREADS | wisdom_program explain ELEMENTS

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <thread>
#include <vector>

#include "espalier/espalier.hpp"

namespace {

using namespace espalier;

int measure(std::int64_t first, std::int64_t count, int threads) {
    std::atomic<std::int64_t> next = first;
    std::atomic<int> failed = 0;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&] {
            for (std::int64_t elements = next++; elements < first + count; elements = next++) {
                const auto plan = plan_dot_product(Device::cpu(), elements, {.threads = 1},
                                                   {.effort = Effort::measure, .budget = std::chrono::seconds(1)});
                if (!plan) ++failed;
            }
        });
    for (std::thread& thread : all) thread.join();
    return failed;
}

/// Not before the program begins: OpenMP's library may need a file.
bool fill_disk() {
    const rlimit none{0, 0};
    return std::signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &none) == 0;
}

int explain(std::int64_t elements) {
    const auto why = explain_dot_product(Device::cpu(), elements, {.threads = 1});
    std::cout << (why ? why.value().text() : why.error().message);
    return why ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view what = count > 1 ? arguments[1] : "";
    if (what == "measure_on_full_disk" && !fill_disk()) return 3;
    if (what.starts_with("measure") && count == 5)
        return measure(std::atoll(arguments[2]), std::atoll(arguments[3]), std::atoi(arguments[4]));
    if (what == "explain" && count == 3) return explain(std::atoll(arguments[2]));
    return 2;
}
