#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/configuration.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

class Family;
struct VariantInfo;

/// The counterpart of tables or figures that a source document printed, with the source's own parameters.
template <class P>
struct PublishedTable {
    /// Table names as in results/published/tables.json, with blanks between them: "K3 K4".
    std::string_view tables;
    std::vector<P> problems;
    /// The choices that the source compares on each problem: "variant", of which all configurations are measured, or
    /// "variant:setting=value;setting=value" for the configurations that hold these settings. Of a variant with stages
    /// a setting may pin one, as one of the suite's `pinned` has it.
    std::vector<std::string_view> choices;
};

/// One problem of one `PublishedTable`, its problem type erased.
struct PublishedProblem {
    std::string tables, problem;
    std::vector<std::string_view> choices;
};

/// Whether a setting is none of the variant's own, but pins the variant of one of its stages: "distance.global=1". Such
/// configurations are measured for the tables that name them and are no choice of the library's.
bool pins_a_stage(const Setting& setting);
/// The family of the pinned variant, and its name.
std::string_view stage_family(const Setting& setting);
std::string_view stage_variant(const Setting& setting);

/// The variant's own configurations, then those that pin its stages.
std::vector<Configuration> with_pinned(const VariantInfo& variant);

/// Whether the choice, written as in `PublishedTable`, is of this variant and configuration. A configuration that pins
/// stages is meant only by a choice that names all of them.
bool is_choice(std::string_view choice, std::string_view variant, const Configuration& configuration);

/// The tables, of those given, that have this case: as "K3 K4 K7". Empty if none has it.
std::string tables_with(const std::vector<PublishedProblem>& published, std::string_view problem,
                        std::string_view variant, const Configuration& configuration);

/// The problems of the family's tables that compare a variant of this kind of device, each once, in their order.
std::vector<std::string> published_problems(const Family& family, DeviceKind kind);

}  // namespace espalier::bench
