// Limits of textures, grids, shared memory and lists as the device at hand states them, found by asking every
// variant: the largest value of each axis that it supports. There it must be right, and one beyond it must say why
// it declines. Linked once with the host executor and once with the GPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/bench/families/family.hpp"
#include "kernels/core/registry.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

constexpr double kLargest = 1LL << 40;  // nothing that fits a memory is larger

/// What may be computed at a limit. A real GPU's textures of one dimension end at half a gigabyte.
struct Budget {
    double operations;
    std::size_t bytes;
};
Budget budget(const DeviceInfo& device) {
    const bool gpu = device.kind == DeviceKind::cuda && !device.emulated;
    return gpu ? Budget{1e9, std::size_t{4} << 30} : Budget{5e7, std::size_t{256} << 20};
}

struct Parameter {
    const Family* family;
    std::size_t variant;
};

double value_of(const Family& family, const std::string& problem, std::string_view name) {
    const auto feature = std::ranges::find(family.features(), name, &FeatureInfo::name);
    return family.feature_values(problem)[static_cast<std::size_t>(feature - family.features().begin())];
}

/// What running a variant takes: of all but one about what its family's problem takes.
double operations_of(const Parameter& parameter, const std::string& problem) {
    const Family& family = *parameter.family;
    if (family.variants()[parameter.variant].name != "enumeration_sort") return family.cost(problem).ops();
    const double points = value_of(family, problem, "points");
    return value_of(family, problem, "queries") * points * points;
}

void PrintTo(const Parameter& parameter, std::ostream* out) {
    *out << parameter.family->name() << "/" << parameter.family->variants()[parameter.variant].name;
}

/// What a limit was found by: one axis of a problem, the others as they are.
class Axis {
public:
    Axis(const Parameter& parameter, const Configuration& configuration, const DeviceInfo& device, std::string problem,
         std::size_t feature)
        : family_(*parameter.family),
          variant_(parameter.variant),
          configuration_(configuration),
          device_(device),
          values_(family_.feature_values(problem)),
          feature_(feature) {}

    [[nodiscard]] double value() const { return values_[feature_]; }

    /// The problem with this value on the axis; nothing if there is none.
    [[nodiscard]] std::optional<std::string> problem(double value) const {
        std::vector<double> values = values_;
        values[feature_] = value;
        try {
            return family_.canonical(family_.key_of(values));
        } catch (const BadProblem&) {
            return std::nullopt;
        }
    }

    [[nodiscard]] bool supported(double value) const {
        const auto key = problem(value);
        return key && family_.supports(variant_, *key, configuration_, device_);
    }

    /// The largest value below `kLargest` that is supported while the next is not.
    [[nodiscard]] std::optional<double> limit() const {
        double least = value(), beyond = std::max(2 * least, 2.0);
        while (beyond < kLargest && supported(beyond)) least = beyond, beyond *= 2;
        if (beyond >= kLargest || !problem(beyond)) return std::nullopt;
        while (beyond - least > 1) {
            const double middle = std::floor((least + beyond) / 2);
            (supported(middle) ? least : beyond) = middle;
        }
        return least;
    }

private:
    const Family& family_;
    std::size_t variant_;
    const Configuration& configuration_;
    const DeviceInfo& device_;
    std::vector<double> values_;
    std::size_t feature_;
};

class Limits : public testing::TestWithParam<Parameter> {
protected:
    void probe(const Axis& axis, const Configuration& configuration, double limit) {
        const auto& [family, v] = GetParam();
        for (const double value : {limit - 1, limit, limit + 1}) {
            const auto problem = axis.problem(value);
            if (!problem) continue;
            SCOPED_TRACE(*problem + " " + configuration.text());
            const Support support = family->supports(v, *problem, configuration, *device_);
            ++probes_;
            if (value > limit)
                EXPECT_GT(support.reason.size(), 5U) << "it declines and does not say why";
            else if (support && family->data_bytes(*problem) <= budget(*device_).bytes &&
                     operations_of(GetParam(), *problem) <= budget(*device_).operations)
                run(*problem, configuration);
        }
    }

    void run(const std::string& problem, const Configuration& configuration) {
        const auto& [family, v] = GetParam();
        const auto bench = family->bench(problem, 1, Pattern::uniform, *device_);
        bench->poison(0xFF);
        bench->run(v, configuration);
        const Mismatch wrong = bench->check(v);
        EXPECT_FALSE(wrong) << wrong.description;
        ++runs_;
    }

    std::optional<DeviceInfo> device_;
    int probes_ = 0, runs_ = 0;
};

TEST_P(Limits, AreRightUpToThemAndToldBeyondThem) {
    const auto& [family, v] = GetParam();
    const VariantInfo& variant = family->variants()[v];
    if (!variant.foreign.empty()) GTEST_SKIP() << foreign_reason(variant.foreign);
    if (variant.kind == DeviceKind::cuda && device::count() == 0) GTEST_SKIP() << device::unavailable_reason();
    device_ = variant.kind == DeviceKind::cpu ? device::describe_cpu() : device::open(0);
    if (device_->emulated && variant.gpu_only) GTEST_SKIP() << "needs a real GPU: the host executor does not run it";
    for (const Configuration& configuration : variant.configurations) {
        // The smallest problem that has something of everything.
        std::optional<std::string> smallest;
        for (const EdgeCase& edge : family->edge_cases())
            if (!smallest && family->cost(edge.problem).ops() > 0 &&
                family->supports(v, edge.problem, configuration, *device_))
                smallest = edge.problem;
        if (!smallest) continue;
        for (std::size_t f = 0; f < family->features().size(); ++f) {
            const FeatureInfo& feature = family->features()[f];
            if (feature.derived || !feature.categories.empty()) continue;
            const Axis axis(GetParam(), configuration, *device_, *smallest, f);
            if (const auto limit = axis.limit()) probe(axis, configuration, *limit);
        }
    }
    RecordProperty("probes", probes_);
    RecordProperty("runs", runs_);
}

std::vector<Parameter> all_variants() {
    std::vector<Parameter> all;
    for (const Family* family : families())
        for (std::size_t v = 0; v < family->variants().size(); ++v) all.push_back({family, v});
    return all;
}

std::string test_name(const testing::TestParamInfo<Parameter>& parameter) {
    const auto& [family, v] = parameter.param;
    return std::string(family->name()) + "_" + std::string(family->variants()[v].name);
}

INSTANTIATE_TEST_SUITE_P(Variants, Limits, testing::ValuesIn(all_variants()), test_name);

}  // namespace
}  // namespace espalier::bench
