// What a choice of the committed selectors costs: from a problem to a variant and its configuration, over all
// problems that the tree was trained on, in an order that no branch predictor knows.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/bench/records/results.hpp"
#include "harness/bench/train/train.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "tests/each_family.hpp"

namespace espalier::bench {
namespace {

template <class P>
std::vector<P> measured_problems(const std::string& family, const DeviceResults& results) {
    std::set<std::string> keys;
    for (const CaseRecord& record : cases_of(results, family))
        if (record.status == Status::ok) keys.insert(record.problem);
    std::vector<P> problems;
    std::string error;
    for (const std::string& key : keys)
        if (const auto problem = parse_problem<P>(key, error)) problems.push_back(*problem);
    if (problems.empty()) return problems;
    // Thousands of them, so that the branch history of one round does not foretell the next.
    std::mt19937_64 random(1);
    std::vector<P> sequence;
    for (int i = 0; i < 4096; ++i) sequence.push_back(problems[random() % problems.size()]);
    return sequence;
}

template <class P>
void add(const std::string& family, const DeviceResults& results) {
    const auto problems = std::make_shared<std::vector<P>>(measured_problems<P>(family, results));
    if (problems->empty()) return;
    const auto choose = [problems, device = results.device](benchmark::State& state) {
        std::size_t i = 0;  // no remainder: a division takes a tenth of a choice
        for (auto _ : state) {
            benchmark::DoNotOptimize(decide((*problems)[i], device));
            if (++i == problems->size()) i = 0;
        }
    };
    benchmark::RegisterBenchmark((results.device.key + "/" + family).c_str(), choose);
}

void add_all(const DeviceResults& results) {
    for_each_family([&]<class P>(const P*, const std::string& family) { add<P>(family, results); });
}

}  // namespace
}  // namespace espalier::bench

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    for (const std::string& key : espalier::bench::learn::devices_with_results(ESPALIER_RESULTS))
        espalier::bench::add_all(espalier::bench::load_results(std::filesystem::path(ESPALIER_RESULTS) / key));
    benchmark::RunSpecifiedBenchmarks();
}
