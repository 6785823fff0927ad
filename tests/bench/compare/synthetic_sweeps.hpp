#pragma once

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "harness/bench/compare/compare.hpp"
#include "tests/support/record_samples.hpp"

namespace espalier::bench::synthetic {

/// What moves between sessions of one machine, as standard deviations of logarithms. The defaults are those of a shared
/// machine without neighbours: sweeps of one binary on it had problems that moved by up to 1.6.
struct SessionNoise {
    double machine = 0.1;    ///< everything together
    double problem = 0.12;   ///< all variants of a problem together
    double variant = 0.004;  ///< a variant on all problems
    double one_case = 0.02;  ///< a case by itself
    double outliers = 0.01;  ///< share of cases that are met by `outlier` instead of `one_case`
    double outlier = 0.15;
    double sample = 0.01;  ///< one sample within a session
};

/// A machine with families, whose sweeps it makes up.
struct Machine {
    int families = 4, problems = 10, variants = 4;
    SessionNoise noise;
    int samples = 12;
    std::map<std::string, double> slower;    ///< factors of variants in the sweeps to come, by family/variant
    std::map<std::string, double> unsteady;  ///< by family/variant: moved by this deviation, not by noise.variant

    /// The name of a variant: family_1/variant_2.
    static std::string name(int family, int variant) {
        return "family_" + std::to_string(family) + "/variant_" + std::to_string(variant);
    }

    /// One session. Every other variant has two configurations.
    ComparedSweep sweep(unsigned seed) const {
        std::mt19937_64 random(seed);
        const auto moved = [&](double deviation) { return std::normal_distribution<>(0, 1)(random) * deviation; };
        ComparedSweep sweep{"session " + std::to_string(seed), {.device = sample_device(), .cases = {}, .missing = {}}};
        const double machine = moved(noise.machine);
        for (int family = 0; family < families; ++family) {
            std::vector<double> of_variants;
            for (int variant = 0; variant < variants; ++variant) {
                const auto own = unsteady.find(name(family, variant));
                of_variants.push_back(moved(own == unsteady.end() ? noise.variant : own->second));
            }
            for (int problem = 0; problem < problems; ++problem) {
                const double shift = machine + moved(noise.problem);
                for (int variant = 0; variant < variants; ++variant)
                    for (int block = 1; block <= 1 + variant % 2; ++block) {
                        const bool met = std::uniform_real_distribution<>(0, 1)(random) < noise.outliers;
                        const double all = shift + of_variants[static_cast<std::size_t>(variant)] +
                                           moved(met ? noise.outlier : noise.one_case);
                        sweep.results.cases.push_back(
                            record(family, variant, problem, block, seed, [&] { return all + moved(noise.sample); }));
                    }
            }
        }
        return sweep;
    }

    /// Sessions of consecutive seeds.
    std::vector<ComparedSweep> sweeps(unsigned first_seed, int count) const {
        std::vector<ComparedSweep> all;
        for (int i = 0; i < count; ++i) all.push_back(sweep(first_seed + static_cast<unsigned>(i)));
        return all;
    }

private:
    template <class LogFactor>
    CaseRecord record(int family, int variant, int problem, int block, unsigned seed, LogFactor log_factor) const {
        CaseRecord record = sample_record();
        const std::string full = name(family, variant);
        record.family = full.substr(0, full.find('/'));
        record.variant = full.substr(full.find('/') + 1);
        record.problem = "size=" + std::to_string(1000 * (problem + 1));
        record.features = {{"size", 1000 * (problem + 1)}};
        record.configuration = "block=" + std::to_string(block);
        record.provenance.session = std::to_string(seed);
        const auto factor = slower.find(full);
        const double level = 1e5 * (problem + 1) * (variant + 1) * (factor == slower.end() ? 1 : factor->second);
        record.samples_ns.clear();
        for (int i = 0; i < samples; ++i) record.samples_ns.push_back(level * std::exp(log_factor()));
        record.time_ns = record.time_lo_ns = record.time_hi_ns = level;
        return record;
    }
};

}  // namespace espalier::bench::synthetic
