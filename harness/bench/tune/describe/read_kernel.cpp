#include "harness/bench/tune/describe/read_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "harness/base/files/read_file.hpp"
#include "harness/bench/tune/describe/read_arguments.hpp"
#include "harness/bench/tune/language/source_text.hpp"

namespace espalier::bench::tune {
namespace {

constexpr const char* kDimensions[] = {"X", "Y", "Z"};
constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;

std::vector<std::string> names_known(const Description& description) {
    std::vector<std::string> names;
    for (const Parameter& parameter : description.parameters) names.push_back(parameter.name);
    names.insert(names.end(), description.size_names.begin(), description.size_names.end());
    names.emplace_back("ProblemSize");
    return names;
}

Extent read_extent(const Place& place, const std::vector<std::string>& names) {
    place.expect_members({"X", "Y", "Z"});
    Extent extent;
    static_cast<void>(place.member("X"));
    for (std::size_t d = 0; d < 3; ++d)
        if (const auto size = place.find(kDimensions[d])) extent.sizes[d] = size->formula(names);
    return extent;
}

/// The launch of a kernel, or of its reference: a member that is not there stays as it is.
void read_launch(const Place& place, const Description& description, LaunchRule& launch) {
    const std::vector<std::string> names = names_known(description);
    if (const auto name = place.find("KernelName")) {
        launch.kernel = name->text();
        if (!has_kernel(read_file(description.kernel_file).value_or(""), launch.kernel))
            name->refuse("there is no __global__ function '" + launch.kernel + "' in " +
                         description.kernel_file.string());
    }
    if (const auto block = place.find("LocalSize")) launch.block = read_extent(*block, names);
    if (const auto type = place.find("GlobalSizeType"))
        launch.grid_in_threads = type->one_of({"CUDA", "OpenCL", "Vulkan"}) == 1;
    if (const auto grid = place.find("GlobalSize")) {
        launch.grid = read_extent(*grid, names);
        launch.grid_divisors = {};
    }
    for (std::size_t d = 0; d < 3; ++d)
        if (const auto divisors = place.find(fmt::format("GridDiv{}", kDimensions[d]).c_str())) {
            if (description.size_names.size() <= d)
                divisors->refuse(
                    fmt::format("ProblemSize has {} sizes: leave this one out", description.size_names.size()));
            for (const Place& one : divisors->items()) launch.grid_divisors[d].push_back(one.formula(names));
        }
    if (const auto shared = place.find("SharedMemory")) launch.shared_bytes = shared->formula(names);
}

std::vector<std::int64_t> read_problem(const Place& place) {
    std::vector<std::int64_t> sizes;
    for (const Place& size : place.items()) sizes.push_back(size.whole(1, kLargestSize));
    if (sizes.empty()) place.refuse("a problem has one size or more");
    return sizes;
}

/// One size, a list of sizes, or a list of such lists, and what they are called.
void read_sizes(const Place& kernel, Description& description) {
    const auto sizes = kernel.find("ProblemSize");
    if (!sizes) {
        description.sizes = {{}};
        return;
    }
    if (!sizes->is_list())
        description.sizes = {{sizes->whole(1, kLargestSize)}};
    else if (const auto items = sizes->items(); !items.empty() && items.front().is_list())
        for (const Place& problem : items) description.sizes.push_back(read_problem(problem));
    else
        description.sizes = {read_problem(*sizes)};
    for (std::size_t p = 0; p < description.sizes.size(); ++p) {
        if (description.sizes[p].size() != description.sizes.front().size())
            sizes->items()[p].refuse(fmt::format("this problem has {} sizes and the first one {}: give each as many",
                                                 description.sizes[p].size(), description.sizes.front().size()));
        if (std::ranges::count(description.sizes, description.sizes[p]) > 1)
            sizes->items()[p].refuse("this problem is there twice: remove one");
    }
    if (const auto names = kernel.find("ProblemSizeNames"))
        for (const Place& name : names->items()) {
            description.size_names.push_back(name.identifier());
            const auto is_it = [&](const Parameter& one) { return one.name == description.size_names.back(); };
            if (std::ranges::any_of(description.parameters, is_it) ||
                std::ranges::count(description.size_names, description.size_names.back()) > 1)
                name.refuse("the name '" + description.size_names.back() + "' is taken: choose another one");
        }
    else
        for (std::size_t d = 0; d < description.sizes.front().size(); ++d)
            description.size_names.push_back(
                fmt::format("problem_size_{}", d < 3 ? std::string(1, "xyz"[d]) : std::to_string(d)));
    if (description.size_names.size() != description.sizes.front().size())
        kernel.member("ProblemSizeNames")
            .refuse(fmt::format("there are {} names of {} sizes: give each one", description.size_names.size(),
                                description.sizes.front().size()));
}

void read_file_and_options(const Place& kernel, Description& description) {
    const Place file = kernel.member("KernelFile");
    description.kernel_file = description.path.parent_path() / file.text();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(description.kernel_file, ignored))
        file.refuse("there is no file " + description.kernel_file.string() + ": paths are relative to the description");
    if (const auto options = kernel.find("CompilerOptions"))
        for (const Place& option : options->items()) {
            description.compiler_options.push_back(option.text());
            if (!description.compiler_options.back().starts_with('-'))
                option.refuse("an option of the compiler begins with '-'");
        }
}

std::vector<std::size_t> read_configuration(const Place& place, const Description& description) {
    std::vector<std::size_t> configuration;
    for (const Parameter& parameter : description.parameters) configuration.push_back(parameter.by_default);
    for (const auto& [name, given] : place.members()) {
        const auto is_it = [&, name = name](const Parameter& one) { return one.name == name; };
        const auto parameter = std::ranges::find_if(description.parameters, is_it);
        if (parameter == description.parameters.end()) given.refuse("there is no parameter of this name");
        const auto value = std::ranges::find(parameter->values, given.value());
        if (value == parameter->values.end())
            given.refuse("this is none of the parameter's Values: choose one of them");
        configuration[static_cast<std::size_t>(parameter - description.parameters.begin())] =
            static_cast<std::size_t>(value - parameter->values.begin());
    }
    return configuration;
}

void read_reference(const Place& kernel, Description& description) {
    Reference& reference = description.reference;
    reference.launch = description.launch;
    for (const Parameter& parameter : description.parameters) reference.configuration.push_back(parameter.by_default);
    const auto given = kernel.find("Reference"), oracle = kernel.find("Oracle");
    if (given && oracle) oracle->refuse("there is a Reference, too: keep one of the two");
    if (given) {
        given->expect_members({"KernelName", "Configuration", "LocalSize", "GlobalSize", "GlobalSizeType", "GridDivX",
                               "GridDivY", "GridDivZ", "SharedMemory"});
        reference.kind = Reference::Kind::kernel;
        read_launch(*given, description, reference.launch);
        if (const auto some = given->find("Configuration"))
            reference.configuration = read_configuration(*some, description);
    }
    if (!oracle) return;
    reference.program = description.path.parent_path() / oracle->text();
    const std::string ending = reference.program.extension().string();
    if (ending != ".py" && ending != ".so") oracle->refuse("an oracle is a .py or a .so file");
    reference.kind = ending == ".py" ? Reference::Kind::python : Reference::Kind::library;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(reference.program, ignored))
        oracle->refuse("there is no file " + reference.program.string());
}

}  // namespace

void read_kernel(const Place& kernel, Description& description) {
    kernel.expect_members(
        {"Language",     "KernelName", "KernelFile",         "CompilerOptions", "GlobalSizeType", "GlobalSize",
         "LocalSize",    "GridDivX",   "GridDivY",           "GridDivZ",        "ProblemSize",    "ProblemSizeNames",
         "SharedMemory", "Arguments",  "ReferenceArguments", "Reference",       "Oracle",         "Device",
         "Stream",       "Profiling",  "SimulationInput",    "BenchmarkName",   "KernelTypeNames"});
    const Place language = kernel.member("Language");
    if (language.one_of({"CUDA", "OpenCL", "Vulkan"}) != 0) language.refuse("only kernels in CUDA are tuned here");
    for (const char* needed : {"KernelName", "LocalSize", "GlobalSize"}) static_cast<void>(kernel.member(needed));
    read_file_and_options(kernel, description);
    read_sizes(kernel, description);
    read_launch(kernel, description, description.launch);
    read_arguments(kernel, description);
    read_reference(kernel, description);
}

}  // namespace espalier::bench::tune
