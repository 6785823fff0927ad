#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/learn/matrix.hpp"
#include "harness/bench/records/case_record.hpp"
#include "harness/bench/records/stale.hpp"

namespace espalier::bench::learn {

/// Results that must not be trained on; `what()` says why and names the fix.
class BadEvidence : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Results with times of variants that are code for other processors than this build is for: sound, but what such a
/// variant supports cannot be asked here.
class ForeignEvidence : public BadEvidence {
    using BadEvidence::BadEvidence;
};

struct EvidenceOptions {
    double noise_floor = 0.01;     ///< medians closer than this are the same
    bool allow_partial = false;    ///< train on what is there although cases are missing, all of it
    bool allow_mixed = false;      ///< train on times of several drivers, runtimes or builds
    bool allow_disturbed = false;  ///< train on what others disturbed (records/disturbance.hpp), too
    bool strict = false;           ///< refuse what is otherwise a notice
    KnownStaleList known_stale{};  ///< variants whose records of another source are as good as today's
};

/// One family's results on one device, checked and reduced to the part that training uses.
struct Evidence {
    Matrix matrix;
    std::string data_sha256;              ///< of what training used, independent of the order of rows
    std::string driver, runtime;          ///< what the times were taken under
    std::vector<std::string> source_ids;  ///< per variant of the registry, as measured; empty if not measured
    std::vector<std::string> notices;     ///< what was left out, and why
};

/// Reads the records of one family on one device. A variant that was wrong or crashed anywhere and peers are no
/// candidates. Refuses (`BadEvidence`) records of another device or (unless `allow_mixed`) of several drivers, runtimes
/// or builds, duplicate cases, implausible times, a baseline that was ever wrong. Of a problem, candidates without a
/// row, as those of variants that came later, `not_measured` rows, the baseline's too, and those of sources that
/// declined what today's takes are imputed from what was measured (imputation.hpp), and notices say how many. Problems
/// with rows of less than half of the candidates that could run, and those of which nothing was measured are left out
/// with a notice, or refused if they are more than half, unless `allow_partial`. Problems that others disturbed while
/// they were timed are left out with a notice, or refused if they are more than a quarter, unless `allow_disturbed`.
/// Records of variants or configurations that the registry does not know and sources that have changed since, but for
/// `known_stale`, are notices, or refused when `strict`. Throws `ForeignEvidence` for times of other processors.
Evidence read_evidence(const Family& family, const DeviceInfo& device, std::span<const CaseRecord> records,
                       const EvidenceOptions& options = {});

}  // namespace espalier::bench::learn
