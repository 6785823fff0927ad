// What tests of ESPALIER_WISDOM run in processes of their own: measures some problems, or explains one.
//
// usage: wisdom_program measure FIRST COUNT THREADS | wisdom_program explain ELEMENTS

#include <atomic>
#include <chrono>
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

int explain(std::int64_t elements) {
    const auto why = explain_dot_product(Device::cpu(), elements, {.threads = 1});
    std::cout << (why ? why.value().text() : why.error().message);
    return why ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view what = count > 1 ? arguments[1] : "";
    if (what == "measure" && count == 5)
        return measure(std::atoll(arguments[2]), std::atoll(arguments[3]), std::atoi(arguments[4]));
    if (what == "explain" && count == 3) return explain(std::atoll(arguments[2]));
    return 2;
}
