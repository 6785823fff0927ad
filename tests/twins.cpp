// How many of a sweep's twins, one kernel registered under two configurations, are called different. For row 21 of
// the fault table: twins RESULTS VARIANT prints the counts as JSON.

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "harness/evidence/evidence.hpp"
#include "harness/evidence/noise.hpp"
#include "harness/records/results.hpp"

using namespace espalier;
using namespace espalier::bench;

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: twins RESULTS_OF_A_DEVICE VARIANT\n");
        return 2;
    }
    std::map<std::string, std::vector<CaseRecord>> problems;
    for (CaseRecord& record : load_results(argv[1]).cases)
        if (record.variant == argv[2] && record.status == Status::ok)
            problems[record.problem].push_back(std::move(record));
    int pairs = 0, different = 0, without_1 = 0;
    for (const auto& [problem, twins] : problems) {
        if (twins.size() != 2) continue;
        ++pairs;
        // As training would: what lies within its noise floor costs nothing.
        different += !learn::indistinguishable(twins[0], twins[1], learn::EvidenceOptions{}.noise_floor);
        const MedianInterval ratio = learn::paired_log_ratio(twins[0].samples_ns, twins[1].samples_ns);
        without_1 += ratio.lo > 0 || ratio.hi < 0;
    }
    std::printf("{\"pairs\": %d, \"different\": %d, \"intervals_without_1\": %d}\n", pairs, different, without_1);
    return 0;
}
