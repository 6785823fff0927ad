#include "harness/bench/tune/choose/records.hpp"

#include <algorithm>
#include <cctype>

#include "harness/base/files/read_file.hpp"
#include "harness/base/text/sha256.hpp"
#include "harness/bench/sweep/worker/provenance.hpp"

namespace espalier::bench::tune {
namespace {

/// Lower-case letters, digits and _, a letter first: what families and variants are called.
std::string as_word(const std::string& text) {
    std::string word;
    for (const char c : text)
        word += std::isalnum(static_cast<unsigned char>(c))
                    ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                    : '_';
    return word.empty() || !std::isalpha(static_cast<unsigned char>(word[0])) ? "kernel_" + word : word;
}

Status status_of(const Outcome& outcome) {
    switch (outcome.invalidity) {
        case Invalidity::correct: return outcome.timed() ? Status::ok : Status::not_measured;
        case Invalidity::correctness: return Status::wrong;
        case Invalidity::timeout: return Status::timeout;
        case Invalidity::runtime: return Status::crashed;
        case Invalidity::constraints:
        case Invalidity::compile: break;
    }
    return Status::unsupported;
}

}  // namespace

std::vector<CaseRecord> records_of(const Description& description, const Tuning& tuning, const Bench& bench) {
    const Provenance provenance{.device_key = bench.device().key,
                                .driver = bench.driver(),
                                .runtime = bench.runtime(),
                                .build = build_identity(),
                                .source_id = sha256(read_file(description.kernel_file).value_or("")),
                                .cache = std::string(bench::to_string(bench.caches())),
                                .session = new_session()};
    std::vector<CaseRecord> records;
    for (const Outcome& outcome : tuning.outcomes) {
        CaseRecord record{.family = as_word(description.path.stem().string()),
                          .variant = as_word(description.launch.kernel),
                          .role = "documented",
                          .problem = description.problem_key(outcome.problem),
                          .configuration = description.configuration_text(outcome.configuration),
                          .status = status_of(outcome),
                          .reason = outcome.reason};
        for (std::size_t d = 0; d < description.size_names.size(); ++d)
            record.features.emplace_back(description.size_names[d],
                                         static_cast<double>(description.sizes[outcome.problem][d]));
        if (record.status == Status::ok) {
            record.verification = "oracle";
            record.samples_ns = outcome.samples_ns;
            record.time_ns = outcome.time_ns, record.time_lo_ns = outcome.low_ns, record.time_hi_ns = outcome.high_ns;
            record.conditions = outcome.conditions.value_or(Conditions{});
            if (outcome.resolution_ns > 0) record.conditions.resolution_ns = outcome.resolution_ns;
        } else if (record.reason.empty()) {
            record.reason = "time budget";
        }
        record.counters = outcome.counters;
        std::ranges::sort(record.counters);
        record.counters_reason = outcome.counters_reason;
        if (record.counters.empty() && record.counters_reason.empty()) record.counters_reason = "not asked for";
        record.provenance = provenance;
        records.push_back(std::move(record));
    }
    return records;
}

}  // namespace espalier::bench::tune
