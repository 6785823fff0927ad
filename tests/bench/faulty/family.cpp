// The list of families of faulty_espalier: takes the place of the generated one at link.

#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "harness/bench/families/family_of.hpp"
#include "tests/bench/faulty/variants.hpp"

namespace espalier::bench {
namespace faulty {

using namespace ::espalier::faulty;

namespace {

class Doubling final : public Workload<Problem> {
public:
    Doubling(const Problem& problem, std::uint64_t seed) : in_(static_cast<std::size_t>(problem.size)) {
        refresh(seed);
    }
    std::vector<std::span<const std::byte>> inputs() const override { return {bytes_of(in_)}; }
    std::vector<std::size_t> output_bytes() const override { return {in_.size() * sizeof(std::uint32_t)}; }
    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        return {reinterpret_cast<const std::uint32_t*>(in[0]), reinterpret_cast<std::uint32_t*>(out[0])};
    }
    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance&) override {
        const auto actual = values_of<std::uint32_t>(outputs[0]);
        for (std::size_t i = 0; i < in_.size(); ++i)
            if (actual[i] != (adopted_ ? (*adopted_)[i] : 2 * in_[i]))
                return {"value " + std::to_string(i) + " is " + std::to_string(actual[i])};
        return {};
    }
    bool adopt(std::span<const std::span<const std::byte>> outputs) override {
        const auto values = values_of<std::uint32_t>(outputs[0]);
        adopted_.emplace(values.begin(), values.end());
        return true;
    }
    void refresh(std::uint64_t seed) override {
        std::mt19937 random(static_cast<unsigned>(seed));
        for (auto& value : in_) value = random();
        adopted_.reset();
    }

private:
    std::vector<std::uint32_t> in_;
    std::optional<std::vector<std::uint32_t>> adopted_;
};

Suite<Problem> suite() {
    return {.default_problems =
                [](DeviceKind, Effort) {
                    return std::vector<Problem>{{1000, 0}, {1000, 1}, {77, 2}};
                },
            .edge_cases =
                [] {
                    return std::vector<TypedEdgeCase<Problem>>{{{1, 0}}};
                },
            .workload = [](const Problem& problem, std::uint64_t seed, Pattern) -> std::unique_ptr<Workload<Problem>> {
                return std::make_unique<Doubling>(problem, seed);
            },
            .data_bytes = [](const Problem& problem) { return static_cast<std::size_t>(8 * problem.size); }};
}

}  // namespace
}  // namespace faulty

std::span<const Family* const> families() {
    static const FamilyOf<faulty::Problem> family("faulty", faulty::registry(), faulty::suite());
    static const std::array<const Family*, 1> all{&family};
    return all;
}

}  // namespace espalier::bench
