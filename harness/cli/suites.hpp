#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/bench/sweep/plan/options.hpp"

/// Which problems a sweep or a benchmark is made of, beside the default ones.
namespace espalier::bench::cli {

/// So many drawn from each family's domain. Families that leave nothing to choose keep their default problems.
void draw_from_domains(SweepOptions& options, std::size_t count);

/// The source documents' own problems and, of each, the choices that they compare. A sweep files them apart, in folders
/// called "published": nothing that trains reads these. Only the cases of these tables, of all if none is named.
void choose_published(SweepOptions& options, const std::vector<std::string>& tables = {});

/// The problems that a device's results have, whoever chose them.
void choose_recorded(SweepOptions& options);

/// Those of a file that ESPALIER_RECORD names, or of lines "family=... problem=..." alone: by family the ones first
/// that took the longest in all, then those that were asked for most often. Throws Failure for a file that cannot be
/// read or has none, and names the line of what is no problem.
void choose_listed(SweepOptions& options, const std::string& file);

/// Of the records on file those that counters should explain (`cases_to_count`).
void choose_what_explains(SweepOptions& options);

}  // namespace espalier::bench::cli
