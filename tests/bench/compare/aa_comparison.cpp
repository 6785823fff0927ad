// An A/A test: how often one kernel, registered under two configurations, is called different from itself. For row 21
// of the fault table: aa_comparison RESULTS VARIANT prints the counts as JSON.

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "harness/bench/evidence/evidence.hpp"
#include "harness/bench/evidence/noise.hpp"
#include "harness/bench/records/results.hpp"

using namespace espalier;
using namespace espalier::bench;

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: aa_comparison RESULTS_OF_A_DEVICE VARIANT\n");
        return 2;
    }
    std::map<std::string, std::vector<CaseRecord>> problems;
    for (CaseRecord& record : load_results(argv[1]).cases)
        if (record.variant == argv[2] && record.status == Status::ok)
            problems[record.problem].push_back(std::move(record));
    int pairs = 0, different = 0, without_1 = 0;
    for (const auto& [problem, both] : problems) {
        if (both.size() != 2) continue;
        ++pairs;
        // As training would: what lies within its noise floor costs nothing.
        different += !learn::indistinguishable(both[0], both[1], learn::EvidenceOptions{}.noise_floor);
        const MedianInterval ratio = learn::paired_log_ratio(both[0].samples_ns, both[1].samples_ns);
        without_1 += ratio.lo > 0 || ratio.hi < 0;
    }
    std::printf("{\"pairs\": %d, \"different\": %d, \"intervals_without_1\": %d}\n", pairs, different, without_1);
    return 0;
}
