#include "harness/bench/tune/describe/read_arguments.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <system_error>

namespace espalier::bench::tune {
namespace {

struct TypeName {
    const char* t1;
    ElementType type;
    const char* c;
    std::size_t bytes;
};

constexpr std::array<TypeName, 11> kTypes{{{"bool", ElementType::boolean, "bool", 1},
                                           {"int8", ElementType::int8, "signed char", 1},
                                           {"uint8", ElementType::uint8, "unsigned char", 1},
                                           {"int16", ElementType::int16, "short", 2},
                                           {"uint16", ElementType::uint16, "unsigned short", 2},
                                           {"int32", ElementType::int32, "int", 4},
                                           {"uint32", ElementType::uint32, "unsigned", 4},
                                           {"int64", ElementType::int64, "long long", 8},
                                           {"uint64", ElementType::uint64, "unsigned long long", 8},
                                           {"float", ElementType::real32, "float", 4},
                                           {"double", ElementType::real64, "double", 8}}};

const TypeName& entry_of(ElementType type) {
    return *std::ranges::find_if(kTypes, [&](const TypeName& one) { return one.type == type; });
}

/// "float4" is four components of float.
void read_type(const Place& place, Argument& argument) {
    const std::string name = place.text();
    for (const TypeName& type : kTypes)
        for (const std::size_t components : {1, 2, 4})
            if (name == type.t1 + (components == 1 ? std::string() : std::to_string(components)) &&
                (components == 1 || is_real(type.type))) {
                argument.type = type.type;
                argument.components = components;
                return;
            }
    place.refuse("'" + name +
                 "' is no type that can be tuned: write bool, int8 to uint64, float, double, float2, "
                 "float4, double2 or double4");
}

std::vector<std::string> with(std::vector<std::string> names, const std::string& one) {
    names.push_back(one);
    return names;
}

void read_fill(const Place& place, const std::vector<std::string>& names, const std::filesystem::path& folder,
               Argument& argument) {
    const auto kind = place.find("FillType");
    const bool scalar = argument.memory == Argument::Memory::scalar;
    if (kind) {
        const std::size_t which = kind->one_of({"Constant", "Random", "Generator", "BinaryRaw", "Script", "BinaryHDF"});
        if (which > 3) kind->refuse("Script and BinaryHDF are not read here: write Generator or BinaryRaw");
        argument.fill = static_cast<Argument::Fill>(which);
        if (scalar && argument.fill != Argument::Fill::constant && argument.fill != Argument::Fill::generator)
            kind->refuse("a scalar is Constant, with a FillValue, or Generator, with a DataSource");
    }
    if (const auto seed = place.find("RandomSeed"))
        argument.seed = static_cast<std::uint64_t>(seed->whole(0, INT64_MAX));
    if (argument.fill == Argument::Fill::file) {
        const Place source = place.member("DataSource");
        argument.file = folder / source.text();
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(argument.file, ignored))
            source.refuse("there is no file " + argument.file.string());
        return;
    }
    if (argument.fill == Argument::Fill::generator) {
        argument.value = place.member("DataSource").formula(with(names, "i"));
        return;
    }
    if (const auto value = place.find("FillValue"))
        argument.value = value->formula(names);
    else if (scalar)
        place.refuse("a scalar needs its FillValue: a number, or an expression of the problem's sizes");
}

Argument read_argument(const Place& place, const std::vector<std::string>& names, const std::filesystem::path& folder) {
    place.expect_members({"Name", "Type", "Size", "TypeSize", "FillType", "FillValue", "DataSource", "RandomSeed",
                          "AccessType", "MemoryType", "MemType", "Output"});
    Argument argument;
    argument.pointer = place.pointer();
    read_type(place.member("Type"), argument);
    const Place memory = place.member("MemoryType");
    const std::size_t kind = memory.one_of({"Scalar", "Vector", "Symbol", "Local"});
    if (kind == 3) memory.refuse("CUDA has no Local arguments: declare the array __shared__ in the kernel");
    argument.memory = static_cast<Argument::Memory>(kind);
    if (const auto name = place.find("Name"))
        argument.name = name->identifier();
    else if (argument.memory == Argument::Memory::symbol)
        place.refuse("a Symbol needs the Name of its __constant__ variable");
    const auto size = place.find("Size");
    if (argument.memory != Argument::Memory::scalar) {
        if (!size) place.refuse("the member 'Size' is missing: add how many elements the array has");
        argument.size = size->formula(names);
    } else if (argument.components > 1) {
        place.refuse("a scalar has one component: write float or double");
    }
    std::size_t access = argument.memory == Argument::Memory::vector ? 2 : 0;
    if (const auto given = place.find("AccessType")) access = given->one_of({"ReadOnly", "WriteOnly", "ReadWrite"});
    argument.read = access != 1;
    const auto output = place.find("Output");
    argument.output = argument.memory == Argument::Memory::vector && (output ? output->flag() : access != 0);
    if (output && output->flag() && !argument.output) output->refuse("only a Vector can be an output");
    if (output && argument.output && place.find("AccessType") && access == 0)
        output->refuse("what is ReadOnly is no output: write WriteOnly or ReadWrite");
    const auto special = place.find("MemType");
    argument.constant = special && special->is_text() && special->text() == "Constant";
    read_fill(place, names, folder, argument);
    return argument;
}

/// The thresholds of outputs.
void read_validation(const Place& place, Description& description) {
    place.expect_members({"Name", "TargetName", "FillType", "FillValue", "DataSource", "RandomSeed", "ValidationMethod",
                          "ValidationThreshold"});
    const Place target = place.member("TargetName");
    const std::string name = target.text();
    const auto found = std::ranges::find_if(description.arguments,
                                            [&](const Argument& one) { return one.output && one.name == name; });
    if (found == description.arguments.end()) target.refuse("there is no output of the name '" + name + "'");
    found->method = Argument::Method::absolute;
    if (const auto method = place.find("ValidationMethod"))
        found->method = static_cast<Argument::Method>(
            1 + method->one_of({"AbsoluteDifference", "SideBySideComparison", "SideBySideRelativeComparison"}));
    const Place threshold = place.member("ValidationThreshold");
    found->threshold = threshold.number();
    if (!(found->threshold >= 0)) threshold.refuse("a threshold is 0 or more");
}

}  // namespace

std::size_t bytes_of(ElementType type) { return entry_of(type).bytes; }
const char* c_name(ElementType type) { return entry_of(type).c; }
bool is_real(ElementType type) { return type == ElementType::real32 || type == ElementType::real64; }

void read_arguments(const Place& kernel, Description& description) {
    std::vector<std::string> names = description.size_names;
    for (const Parameter& parameter : description.parameters) names.push_back(parameter.name);
    names.emplace_back("ProblemSize");
    const Place list = kernel.member("Arguments");
    for (const Place& place : list.items()) {
        Argument argument = read_argument(place, names, description.path.parent_path());
        if (argument.name.empty()) argument.name = "argument_" + std::to_string(description.arguments.size());
        for (const Argument& other : description.arguments)
            if (other.name == argument.name) place.refuse("there is another argument '" + argument.name + "'");
        description.arguments.push_back(std::move(argument));
    }
    if (std::ranges::none_of(description.arguments, &Argument::output))
        list.refuse("no argument is an output, so that nothing can be checked: write \"Output\": 1 in one");
    if (const auto references = kernel.find("ReferenceArguments"))
        for (const Place& place : references->items()) read_validation(place, description);
}

}  // namespace espalier::bench::tune
