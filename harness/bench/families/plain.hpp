#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/bench/families/plain_arrays.hpp"
#include "harness/bench/families/plain_problems.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/core/feature.hpp"

namespace espalier::bench {

/// The base of a plain family's description: arrays of numbers in, arrays of numbers out, sizes. The rest has defaults.
///
///     struct Scale : Plain<Problem> {
///         static Arrays arrays() { return {in<&Buffers::in>("in", elements), out<&Buffers::out>("out", elements)}; }
///         static void oracle(const Problem& problem, const Buffers& in, Expected& expected);
///         static Domain domain(DeviceKind kind);
///     };
///     Suite<Problem> suite() { return plain_suite<Scale>(); }
///
/// It may also define what follows, and else gets the default that is named:
///
///     static std::vector<Problem> default_problems(DeviceKind, Effort);  // grid_keys of the domain, within its limits
///     static std::vector<TypedEdgeCase<Problem>> edge_cases();           // small_keys of the domain, every pattern
///     static std::vector<PublishedTable<Problem>> published();           // none
template <class P>
struct Plain {
    using Problem = P;
    using Buffers = typename P::Buffers;

    using Elements = std::int64_t (*)(const P&);  ///< how many an array has

    /// The i-th number of an input, from random bits that belong to it alone.
    using Value = double (*)(const P&, Pattern, std::size_t i, std::uint64_t random);

    struct Array {
        std::string_view name;
        NumberType type;
        std::size_t number_bytes;
        bool output;
        Elements elements;
        void (*bind)(Buffers&, std::byte*);
        void (*fill)(const P&, std::span<std::byte>, std::uint64_t seed, Pattern, Value);  ///< null without `value`
        Value value = nullptr;
    };
    using Arrays = std::vector<Array>;
    using Expected = std::vector<ExpectedArray>;  ///< of each output; the oracle finds them as long as they are to be

    /// An array that variants read. `value` may say what is in it; otherwise `fill_numbers` does.
    template <auto Member>
    static Array in(std::string_view name, Elements elements, Value value = nullptr) {
        return array<Member>(name, elements, value, false);
    }
    /// An array that variants write whole.
    template <auto Member>
    static Array out(std::string_view name, Elements elements) {
        return array<Member>(name, elements, nullptr, true);
    }

    /// The smallest size that the default edge cases have.
    static constexpr std::int64_t kLeastSize = 0;
    /// Whether the oracle fills `ExpectedArray::scales`. A variant's outputs then never stand for the oracle's.
    static constexpr bool kScales = false;

private:
    template <auto Member>
    static Array array(std::string_view name, Elements elements, Value value, bool output) {
        using Pointer = std::remove_reference_t<decltype(std::declval<Buffers&>().*Member)>;
        using T = std::remove_cv_t<std::remove_pointer_t<Pointer>>;
        return {name,
                number_type<T>(),
                sizeof(T),
                output,
                elements,
                [](Buffers& buffers, std::byte* at) { buffers.*Member = reinterpret_cast<T*>(at); },
                [](const P& problem, std::span<std::byte> to, std::uint64_t seed, Pattern pattern, Value of) {
                    std::span<T> values(reinterpret_cast<T*>(to.data()), to.size() / sizeof(T));
                    generate(values, [&](std::size_t i) {
                        return static_cast<T>(of(problem, pattern, i, random_bits(seed, i)));
                    });
                },
                value};
    }
};

/// The data of a plain family's problem. With the pattern `descending` inputs begin at addresses that only their
/// numbers' type is aligned to and that may differ modulo 16.
template <class D>
class PlainWorkload final : public Workload<typename D::Problem> {
public:
    using P = typename D::Problem;
    using Buffers = typename P::Buffers;

    PlainWorkload(const P& problem, std::uint64_t seed, Pattern pattern) : problem_(problem), pattern_(pattern) {
        for (const auto& array : D::arrays()) {
            Part part{array, static_cast<std::size_t>(array.elements(problem)), 0};
            if (!array.output && pattern == Pattern::descending && part.count > 0)
                part.offset = 1 + inputs_.size() * part.count % 2;
            (array.output ? outputs_ : inputs_).push_back(part);
        }
        memory_.resize(inputs_.size());
        refresh(seed);
    }

    std::vector<std::span<const std::byte>> inputs() const override { return {memory_.begin(), memory_.end()}; }

    std::vector<std::size_t> output_bytes() const override {
        std::vector<std::size_t> bytes;
        for (const Part& part : outputs_) bytes.push_back(part.bytes());
        return bytes;
    }

    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        Buffers buffers{};
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            inputs_[i].array.bind(buffers, in[i] ? const_cast<std::byte*>(in[i]) + inputs_[i].skipped() : nullptr);
        for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i].array.bind(buffers, out[i]);
        return buffers;
    }

    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance& tolerance) override {
        if (expected_.empty()) ask_oracle();
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            const auto& array = outputs_[i].array;
            if (auto wrong = first_wrong(array.name, array.type, outputs[i], expected_[i], tolerance)) return wrong;
        }
        return {};
    }

    bool adopt(std::span<const std::span<const std::byte>> outputs) override {
        if (D::kScales) return false;
        expected_.clear();
        for (std::size_t i = 0; i < outputs_.size(); ++i)
            expected_.push_back({numbers_in(outputs_[i].array.type, outputs[i]), {}});
        return true;
    }

    void refresh(std::uint64_t seed) override {
        expected_.clear();
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const Part& part = inputs_[i];
            memory_[i].resize(part.bytes());
            const std::uint64_t own = inputs_.size() * seed + i;
            if (part.array.value) {
                part.array.fill(problem_, std::span(memory_[i]).subspan(part.skipped()), own, pattern_,
                                part.array.value);
                continue;
            }
            fill_numbers(part.array.type, memory_[i], own, pattern_);
            if (i == 0 && pattern_ == Pattern::special) plant_special(part.array.type, memory_[i], seed);
        }
    }

private:
    struct Part {
        typename D::Array array;
        std::size_t count, offset;  ///< in numbers

        [[nodiscard]] std::size_t skipped() const { return offset * array.number_bytes; }
        [[nodiscard]] std::size_t bytes() const { return (offset + count) * array.number_bytes; }
    };

    void ask_oracle() {
        Buffers buffers{};
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            inputs_[i].array.bind(buffers, memory_[i].data() + inputs_[i].skipped());
        for (const Part& part : outputs_) {
            ExpectedArray array{std::vector<double>(part.count), {}};
            if (D::kScales) array.scales.resize(part.count);
            expected_.push_back(std::move(array));
        }
        D::oracle(problem_, buffers, expected_);
    }

    P problem_;
    Pattern pattern_;
    std::vector<Part> inputs_, outputs_;
    std::vector<device::HostArray<std::byte>> memory_;
    std::vector<ExpectedArray> expected_;
};

/// The defaults of a plain family.
template <class D>
struct PlainDefaults {
    using P = typename D::Problem;

    static std::size_t data_bytes(const P& problem) {
        std::size_t bytes = 0;
        for (const auto& array : D::arrays())
            bytes += static_cast<std::size_t>(array.elements(problem)) * array.number_bytes;
        return bytes;
    }

    static std::vector<P> default_problems(DeviceKind kind, Effort effort) {
        if constexpr (requires { D::default_problems(kind, effort); }) {
            return D::default_problems(kind, effort);
        } else {
            const Domain domain = D::domain(kind);
            return parsed(grid_keys(domain, effort), domain.most_data_bytes, domain.most_ops);
        }
    }

    /// The default ones hold up to a quarter of a megabyte: the host executor runs them all.
    static std::vector<TypedEdgeCase<P>> edge_cases() {
        if constexpr (requires { D::edge_cases(); }) {
            return D::edge_cases();
        } else {
            constexpr std::size_t kMostBytes = std::size_t{1} << 18;
            constexpr double kMostOps = 1 << 20;
            std::vector<TypedEdgeCase<P>> cases;
            const auto small = parsed(small_keys(D::domain(DeviceKind::cpu), D::kLeastSize), kMostBytes, kMostOps);
            for (const Pattern pattern :
                 {Pattern::uniform, Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
                for (const P& problem : small) cases.push_back({problem, pattern});
            return cases;
        }
    }

private:
    static std::vector<P> parsed(const std::vector<std::string>& keys, std::size_t most_bytes, double most_ops) {
        std::vector<P> problems;
        for (const std::string& key : keys) {
            std::string error;
            const auto problem = parse_problem<P>(key, error);
            if (!problem) throw BadProblem("the domain's " + key + ": " + error);
            if (data_bytes(*problem) <= most_bytes && problem->cost().ops() <= most_ops) problems.push_back(*problem);
        }
        return problems;
    }
};

/// The suite of a plain family, from its description.
template <class D>
Suite<typename D::Problem> plain_suite() {
    Suite<typename D::Problem> suite{.default_problems = PlainDefaults<D>::default_problems,
                                     .edge_cases = PlainDefaults<D>::edge_cases,
                                     .workload = make_workload<PlainWorkload<D>>,
                                     .data_bytes = PlainDefaults<D>::data_bytes,
                                     .domain = D::domain};
    if constexpr (requires { D::published(); }) suite.published = D::published;
    return suite;
}

}  // namespace espalier::bench
