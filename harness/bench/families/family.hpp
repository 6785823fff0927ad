#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/families/domain.hpp"
#include "harness/bench/families/published.hpp"
#include "harness/bench/families/workload.hpp"
#include "kernels/core/cost.hpp"
#include "kernels/core/printable.hpp"
#include "kernels/core/variant.hpp"

namespace espalier::bench {

/// A feature without its problem type: what the learner, the emitter and the reports need of it.
struct FeatureInfo {
    std::string_view name;
    std::string_view expression;
    std::string_view enum_type;
    std::span<const std::string_view> categories;
    bool derived;
    bool known;
    bool optional;
    bool relaxing;
    bool inert;  ///< all variants serve its values alike
};

/// A variant without its problem type.
struct VariantInfo {
    std::string_view name;
    Role role;
    DeviceKind kind;
    bool gpu_only;
    int min_sm;
    std::string_view summary, source, limits, path, source_id;
    Tolerance tolerance;
    std::vector<Configuration> configurations;  ///< the default first; none if `foreign`
    std::string_view nondeterminism, assumes;
    std::string_view foreign;  ///< the processors that its code is for if this build is for others, else empty
    std::vector<Configuration>
        pinned;  ///< with stages that the case names (`pins_a_stage`); no choice of the library's

    /// Whether the library may choose it.
    [[nodiscard]] bool choosable() const { return role != Role::peer && assumes.empty(); }
};

/// How much a default sweep measures.
enum class Effort {
    quick,     ///< seconds: enough to see the loop close
    standard,  ///< what a 2-core machine does within its share of 3 minutes, or a GPU of 20
    full,      ///< the sources' own ranges and beyond
};

/// A problem that the tests throw at every variant, with the inputs to use.
struct EdgeCase {
    std::string problem;
    Pattern pattern = Pattern::uniform;
};

/// The data of one problem where a device can reach it, and the means to run and verify variants on it.
/// Outputs are poisoned before each verified run and lie between guard bands.
class Bench {
public:
    virtual ~Bench() = default;

    /// Runs once, on the default stream; GPU work may still be in flight on return.
    virtual void run(std::size_t variant, const Configuration& configuration) = 0;

    /// The variants that have run as stages since the last call, "family/name" each; empty for what has no stages.
    [[nodiscard]] virtual std::vector<std::string> take_stages_run() = 0;

    /// Overwrites every output with `pattern` bytes and restores the guard bands.
    virtual void poison(std::uint8_t pattern) = 0;

    /// Waits, then compares the outputs with the oracle and looks at the guard bands.
    [[nodiscard]] virtual Mismatch check(std::size_t variant) = 0;

    /// The guard bands alone, without the oracle.
    [[nodiscard]] virtual Mismatch check_guards() = 0;

    /// Keeps a copy of the outputs, which are right within `tolerance`, where they are; and whether the outputs
    /// now are, byte for byte, some that were kept with a tolerance no wider than this one: outputs that may come in
    /// any order do not stand for ordered ones. So a run is verified without moving gigabytes to the host. Only few are
    /// kept, the first for as long as the inputs.
    virtual void keep_outputs(const Tolerance& tolerance) = 0;
    [[nodiscard]] virtual bool outputs_are_kept(const Tolerance& tolerance) = 0;

    /// From now until `refresh`, `check` compares with the first kept outputs instead of the oracle's: for
    /// problems that are too large for it. False if the family cannot do so.
    [[nodiscard]] virtual bool adopt_first_kept() = 0;
    /// Keeps none of them any longer.
    virtual void forget_outputs() = 0;

    /// The outputs as they are now, for comparing runs with each other.
    [[nodiscard]] virtual std::vector<std::vector<std::byte>> outputs() = 0;

    /// Fresh inputs of the same shape.
    virtual void refresh(std::uint64_t seed) = 0;

    /// Copies the inputs to the device and the outputs back, as a caller does whose data is in host memory.
    virtual void transfer() = 0;
    /// Whether it was so before, or outputs were compared: memory that is new to the process is slow to write.
    [[nodiscard]] virtual bool host_memory_is_touched() const = 0;

    /// Makes sure that `variant` has its workspace, so that `run` allocates nothing, and returns its bytes. Throws if
    /// it cannot.
    virtual std::size_t reserve(std::size_t variant, const Configuration& configuration) = 0;
};

/// One operation with everything the harness needs of it, its problem type erased: problems are their
/// keys, variants their index in `variants()`. Functions that take a key throw `BadProblem` for one
/// that does not parse.
class Family {
public:
    virtual ~Family() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual std::span<const FeatureInfo> features() const = 0;
    [[nodiscard]] virtual std::span<const VariantInfo> variants() const = 0;

    /// The key in canonical form (every axis, in order).
    [[nodiscard]] virtual std::string canonical(std::string_view key) const = 0;
    /// The key of the problem that trees are asked about in place of this one (kernels/core/as_asked.hpp); mostly
    /// itself.
    [[nodiscard]] virtual std::string as_asked(std::string_view key) const = 0;
    /// One value per feature; a category is the index of its enumerator.
    [[nodiscard]] virtual std::vector<double> feature_values(std::string_view key) const = 0;
    /// The inverse, from the values of the key's own features; derived ones are ignored.
    [[nodiscard]] virtual std::string key_of(std::span<const double> values) const = 0;
    [[nodiscard]] virtual Cost cost(std::string_view key) const = 0;

    [[nodiscard]] virtual std::vector<std::string> default_problems(DeviceKind kind, Effort effort) const = 0;
    [[nodiscard]] virtual std::vector<EdgeCase> edge_cases() const = 0;
    /// The problems that it is built for there; empty for a family without choices.
    [[nodiscard]] virtual Domain domain(DeviceKind kind) const = 0;
    /// The counterparts of what the source documents printed, for devices of every kind.
    [[nodiscard]] virtual std::vector<PublishedProblem> published() const = 0;

    /// Whether the variant can run there; includes its kind of device and architecture.
    [[nodiscard]] virtual Support supports(std::size_t variant, std::string_view key, const Configuration&,
                                           const DeviceInfo&) const = 0;
    [[nodiscard]] virtual std::size_t workspace(std::size_t variant, std::string_view key, const Configuration&,
                                                const DeviceInfo&) const = 0;
    /// Bytes that inputs and outputs need together, before anything is allocated.
    [[nodiscard]] virtual std::size_t data_bytes(std::string_view key) const = 0;

    /// `device` must be the CPU or the current GPU.
    [[nodiscard]] virtual std::unique_ptr<Bench> bench(std::string_view key, std::uint64_t seed, Pattern pattern,
                                                       const DeviceInfo& device) const = 0;

    /// Index of a variant by name, or npos.
    [[nodiscard]] std::size_t find(std::string_view variant) const;
    /// The variant with role baseline for this kind of device.
    [[nodiscard]] std::size_t baseline(DeviceKind kind) const;
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);
};

/// A problem key that names no problem of the family; `what()` says why and what is known, printable whatever was
/// asked.
class BadProblem : public std::runtime_error {
public:
    explicit BadProblem(const std::string& message) : std::runtime_error(printable_lines(message)) {}
};

/// Every family, in the order of its folder's name. Generated from the folders of variants/.
std::span<const Family* const> families();

/// The family called `name`, or null.
const Family* find_family(std::string_view name);

/// The family of a name that a user typed. Throws `BadProblem`, which names the families that there are.
const Family& family_named(std::string_view name);

/// "unknown variant 'glob'; espalier list shows them all; did you mean 'global'?", of the variants of all families.
std::string unknown_variant(std::string_view name);

std::string_view to_string(Role role);
std::string_view to_string(DeviceKind kind);

}  // namespace espalier::bench
