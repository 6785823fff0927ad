#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace espalier::bench::learn {

/// The cost of choosing a candidate for a problem: the logarithm of its slowdown against the best
/// candidate there, in millionths. Whole numbers, so that sums do not depend on the order of adding and
/// the same data give the same tree on every machine.
using Loss = std::int64_t;
inline constexpr Loss kLossUnit = 1'000'000;
/// The loss of what cannot be chosen; exceeds any sum of real losses.
inline constexpr Loss kInfeasible = Loss{1} << 40;

enum class InteractionKind : std::uint8_t { none, ratio, product };

/// An interaction feature: a number that the learner makes of two others (`columns_of`).
struct Interaction {
    InteractionKind kind = InteractionKind::none;  ///< none: a feature of the family's own
    std::size_t first = 0, second = 0;
};

/// One column that a test may ask about.
struct Column {
    std::string name;
    int categories = 0;  ///< number of enumerators, values 0 .. categories - 1; 0 for a number
    bool derived = false;
    Interaction interaction{};
    bool known = true;      ///< to whoever chooses; if not, no test may ask
    bool inert = false;     ///< all candidates serve its values alike: nothing that is learned may depend on it
    bool optional = false;  ///< variants that do not list it run its default alone
    bool relaxing = false;  ///< all variants run its other values, too
    bool absent = false;    ///< the family got it later and all problems have its default: measured as if without it

    [[nodiscard]] bool is_interaction() const { return interaction.kind != InteractionKind::none; }
    /// Whether what forests predict may depend on it by itself.
    [[nodiscard]] bool is_input() const { return !inert && !absent && !is_interaction(); }
    /// Whether tests may ask for it.
    [[nodiscard]] bool testable() const { return known && !inert && !absent; }
};

/// A (variant, configuration) that may be chosen, by the registry's indices.
struct Choice {
    std::size_t variant = 0;
    std::size_t configuration = 0;
    friend bool operator==(const Choice&, const Choice&) = default;
};

enum class CellState : std::uint8_t {
    measured,
    unsupported,  ///< at run time supports() says no and the next choice of the ranking is taken
    imputed,      ///< supported and likely as slow as this, from times of other problems
    missing,      ///< supported but without a time: not measured, timed out, out of memory
};

/// Problems that nobody measured here, and which candidates of a matrix support them.
struct DrawnProblems {
    std::size_t count = 0;
    std::size_t alike = 0;        ///< so many of them, the first ones, were measured on devices that are alike
    std::vector<double> values;   ///< problems x columns
    std::vector<char> supported;  ///< problems x candidates
};

/// Problems that were measured on other devices, by a matrix's columns and candidates.
struct OtherProblems {
    std::vector<std::string> problems;            ///< keys
    std::vector<int> device;                      ///< of each, from 1; the matrix's own is 0
    std::vector<double> values;                   ///< problems x columns
    std::vector<double> slowdown;                 ///< problems x candidates: as the matrix has it, NaN without a time
    std::vector<std::vector<std::size_t>> twins;  ///< of each, the matrix's problems that are nearly the same

    [[nodiscard]] std::size_t count() const { return device.size(); }
};

/// Problems x candidates with what each costs, and problems x columns with what tests may ask.
/// Problems are in the order of their keys and candidates in the order of the registry, whatever the
/// order of the rows that they came from.
struct Matrix {
    std::vector<Column> columns;
    std::vector<Choice> candidates;
    std::size_t baseline = 0;  ///< the candidate that every ranking ends in; feasible everywhere
    std::vector<std::string> problems;

    std::vector<double> values;     ///< problems x columns
    std::vector<CellState> states;  ///< problems x candidates
    /// Problems x candidates: log(time / best time) of what runs when the candidate is chosen: that of the
    /// baseline where it is unsupported, of the slowest choice where its time is missing.
    std::vector<double> slowdown;
    /// The slowdown as a loss: differences within noise cost nothing, missing times are infeasible.
    std::vector<Loss> loss;
    /// Problems x candidates: logarithms of measured times, NaN where there is none. What is imputed from them is
    /// in the other members; empty if nothing is.
    std::vector<double> log_times;
    std::vector<Choice> lent{};  ///< candidates that other devices alone have times of (lending.hpp)
    /// By problem, how many usual ones it counts for when trees are grown; empty: each is a usual one.
    std::vector<Loss> weights{};
    std::shared_ptr<const DrawnProblems> drawn{};   ///< what else the tree is for; null: nothing but its problems
    std::shared_ptr<const OtherProblems> others{};  ///< what else forests learn from; null: nothing but its problems

    [[nodiscard]] std::size_t rows() const { return problems.size(); }
    [[nodiscard]] Loss weight(std::size_t problem) const { return weights.empty() ? 1 : weights[problem]; }
    [[nodiscard]] std::span<const double> row(std::size_t problem) const {
        return {values.data() + problem * columns.size(), columns.size()};
    }
    [[nodiscard]] double value(std::size_t problem, std::size_t column) const {
        return values[problem * columns.size() + column];
    }
    [[nodiscard]] CellState state(std::size_t problem, std::size_t candidate) const {
        return states[problem * candidates.size() + candidate];
    }
    [[nodiscard]] double log_slowdown(std::size_t problem, std::size_t candidate) const {
        return slowdown[problem * candidates.size() + candidate];
    }
    [[nodiscard]] Loss loss_of(std::size_t problem, std::size_t candidate) const {
        return loss[problem * candidates.size() + candidate];
    }
    [[nodiscard]] bool measured(std::size_t problem, std::size_t candidate) const {
        return state(problem, candidate) == CellState::measured;
    }
    /// The logarithm of a measured time, on the problem's own scale; NaN where nothing was measured.
    [[nodiscard]] double log_time(std::size_t problem, std::size_t candidate) const;
    /// Measured or imputed: what learning goes by. A choice is evaluated by measured times alone.
    [[nodiscard]] bool has_time(std::size_t problem, std::size_t candidate) const {
        return measured(problem, candidate) || state(problem, candidate) == CellState::imputed;
    }
    /// Whether any choice for a problem is in a state.
    [[nodiscard]] bool any(std::size_t problem, CellState cell) const;
    /// Cells in a state.
    [[nodiscard]] std::size_t count(CellState cell) const;

    /// The values of some rows, one after the other.
    [[nodiscard]] std::vector<double> values_of(std::span<const std::size_t> some) const;

    /// Every row's index.
    [[nodiscard]] std::vector<std::size_t> all() const;
    /// Indices of the problems without an imputed time, on which choices can be evaluated; every one if none is
    /// without.
    [[nodiscard]] std::vector<std::size_t> without_imputed() const;
    /// Every candidate's index.
    [[nodiscard]] std::vector<std::size_t> all_candidates() const;
};

/// For each candidate of `matrix` its place among the other's, or how many those are.
std::vector<std::size_t> places_of(const Matrix& matrix, const Matrix& other);

/// Enters what choosing each candidate for a problem costs, by its cells' states and by logarithms of times, NaN where
/// there is none. `same` says of a candidate, and of the logarithm of its slowdown, whether that is within the noise.
void enter_costs(Matrix& matrix, std::size_t problem, std::span<const double> logs,
                 const std::function<bool(std::size_t, double)>& same);

/// Whether a predicted or imputed time is as good as the best: within 1% of it, as measured ones are by default. Of the
/// logarithm of its slowdown.
inline bool is_within_noise(double log) { return log <= std::log1p(0.01); }

/// The loss of a measured cell. A difference inside the noise costs nothing but a thousandth of itself,
/// which only breaks ties towards the smaller median.
Loss measured_loss(double log_slowdown, bool within_noise);

}  // namespace espalier::bench::learn
