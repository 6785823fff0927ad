#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

/// The logarithm of a size to base 2, rounded, so that no two machines' put a problem on different sides of a
/// threshold.
double rounded_log2(double value);

/// How often two divides a size, up to six times.
double evenness(double value);

/// A number that a forest's tests ask for, made of one of a problem's features.
struct ForestInput {
    enum class Kind : std::uint8_t {
        logarithm,  ///< `rounded_log2`
        evenness,
        is,  ///< 1 if a category has the value `category`, else 0
    };

    Kind kind = Kind::logarithm;
    std::uint8_t feature = 0;  ///< its place among the features
    std::uint8_t category = 0;
};

/// Trees that all ask about a problem, each of them for the slowdowns of all choices at once: a leaf has as many bytes
/// as there are choices. The learner asks by the same functions as the library.
struct ChoiceForest {
    /// A test, or a leaf. Every tree is in pre-order: a test that holds leads to the next node.
    struct Node {
        static constexpr std::uint16_t kLeaf = 0xFFFF;

        float threshold = 0;          ///< at most that
        std::uint16_t input = kLeaf;  ///< or a sum: those come behind the inputs
        std::uint16_t next = 0;       ///< nodes to skip where a test fails; of a leaf which of its tree's it is
    };
    struct Tree {
        std::uint32_t node = 0, leaf = 0;  ///< its first ones
    };
    static constexpr double kStepsPerOctave = 64;  ///< of a slowdown, in a leaf
    static constexpr std::size_t kMostInputs = 256, kMostChoices = 256;

    std::vector<ForestInput> inputs;
    std::vector<std::int8_t> factors;  ///< sums x inputs: of logarithms, each added, subtracted or left out
    std::size_t choices = 0;
    std::vector<Tree> trees;
    std::vector<Node> nodes;
    std::vector<std::uint8_t> leaves;  ///< leaves x choices

    [[nodiscard]] std::size_t sums() const { return inputs.empty() ? 0 : factors.size() / inputs.size(); }
    [[nodiscard]] std::size_t columns() const { return inputs.size() + sums(); }

    /// What the tests compare: the inputs, then the sums. `columns()` of them.
    void read(const double* features, float* columns) const;
    /// Adds up, over all trees, what a problem's leaves have for each choice.
    void ask(const float* columns, std::uint32_t* totals) const;
    /// The predicted slowdown of a choice whose total is that, relative to the best choice.
    [[nodiscard]] double slowdown(std::uint32_t total) const;
};

}  // namespace espalier
