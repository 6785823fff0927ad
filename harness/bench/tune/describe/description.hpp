#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/tune/language/expression.hpp"

namespace espalier::bench::tune {

/// Something of the description that is computed: from an expression, or as it stands there.
struct Formula {
    Expression expression;
    std::string pointer;  ///< where in the description it stands, as a JSON pointer
};

/// A tuning parameter: a macro that the kernel's source is compiled with.
struct Parameter {
    std::string name;
    std::vector<Value> values;   ///< one or more; all numbers and truths, or all texts
    std::size_t by_default = 0;  ///< place among the values: `Default`, else the first one
};

/// A restriction of the configurations.
struct Condition {
    Formula formula;
    std::vector<std::size_t> parameters;  ///< that it asks for, by their places
    bool asks_for_sizes = false;          ///< and for a problem's sizes
};

/// The type of an element of an argument.
enum class ElementType : std::uint8_t {
    boolean,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    real32,
    real64
};

std::size_t bytes_of(ElementType type);
/// As C spells it: "float", "int".
const char* c_name(ElementType type);
bool is_real(ElementType type);

/// One argument of the kernel, or a `__constant__` variable of its file.
struct Argument {
    enum class Memory : std::uint8_t { scalar, vector, symbol };
    enum class Fill : std::uint8_t { constant, random, generator, file };

    std::string name;
    std::string pointer;
    ElementType type = ElementType::real32;
    std::size_t components = 1;  ///< of a vector type: 4 of float4
    Memory memory = Memory::vector;
    std::optional<Formula> size;  ///< elements; of a vector or a symbol
    Fill fill = Fill::constant;
    std::optional<Formula> value;  ///< of a constant or a scalar; the bound of random values; of `i` by a generator
    std::filesystem::path file;    ///< of raw bytes
    std::uint64_t seed = 1;
    bool read = true;       ///< by the kernel: its content is an input
    bool output = false;    ///< what is checked
    bool constant = false;  ///< also copied to the `__constant__` variable of its name (`MemType`)

    // How an output is compared with what is expected.
    enum class Method : std::uint8_t { by_default, absolute_sum, absolute, relative };
    Method method = Method::by_default;
    double threshold = 0;
};

/// The blocks and threads of a launch.
struct Extent {
    std::array<std::optional<Formula>, 3> sizes;  ///< x, y, z; 1 where it is left out
};

/// How a `__global__` function is launched.
struct LaunchRule {
    std::string kernel;  ///< as source names it, with its template arguments
    Extent block, grid;
    /// Divisors of the problem's first, second and third size: the grid in their place, where any is there.
    std::array<std::vector<Formula>, 3> grid_divisors;
    bool grid_in_threads = false;  ///< the grid counts threads, as OpenCL has it
    std::optional<Formula> shared_bytes;

    [[nodiscard]] bool divides_problem() const {
        return !grid_divisors[0].empty() || !grid_divisors[1].empty() || !grid_divisors[2].empty();
    }
};

/// The source of the right result.
struct Reference {
    enum class Kind : std::uint8_t { by_default, kernel, python, library };
    Kind kind = Kind::by_default;            ///< by default: the kernel itself in its default configuration
    LaunchRule launch;                       ///< of a kernel
    std::vector<std::size_t> configuration;  ///< of a kernel: the place of each parameter's value
    std::filesystem::path program;           ///< Python, or a shared library
};

/// A tuning problem: what a T1 file describes.
struct Description {
    std::filesystem::path path;
    std::vector<Parameter> parameters;
    std::vector<Condition> conditions;
    std::filesystem::path kernel_file;
    std::vector<std::string> compiler_options;
    LaunchRule launch;
    std::vector<Argument> arguments;
    Reference reference;
    std::vector<std::string> size_names;           ///< of a problem's sizes
    std::vector<std::vector<std::int64_t>> sizes;  ///< of each problem; one without sizes if none is given
    std::optional<double> budget_seconds;

    /// The values of a configuration under their parameters' names, and the sizes of a problem under theirs and as
    /// `ProblemSize`.
    [[nodiscard]] Names names_of(const std::vector<std::size_t>& configuration, std::size_t problem) const;
    /// The sizes of a problem, and every parameter as the list of its values: what sizes of arguments may ask for,
    /// which are the same for all configurations.
    [[nodiscard]] Names names_of(std::size_t problem) const;
    /// "n=1024;m=512"; "default" without sizes.
    [[nodiscard]] std::string problem_key(std::size_t problem) const;
    /// "block_size_x=128;tile=4".
    [[nodiscard]] std::string configuration_text(const std::vector<std::size_t>& configuration) const;
};

/// Reads a T1 file. Throws `BadData`, which names file, place (a JSON pointer) and fix, if anything of it is not as it
/// should be: before anything is compiled.
Description read_description(const std::filesystem::path& path);

}  // namespace espalier::bench::tune
