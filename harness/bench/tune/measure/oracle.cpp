#include "harness/bench/tune/measure/oracle.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/base/clock.hpp"
#include "harness/base/failure.hpp"
#include "harness/base/stop.hpp"
#include "harness/bench/tune/measure/children.hpp"
#include "harness/bench/tune/worker/inputs.hpp"

namespace espalier::bench::tune {
namespace {

namespace fs = std::filesystem;

/// Calls `oracle` of the user's file with every argument by its name, arrays and scalars of NumPy, and every size. It
/// returns the outputs: one array, or a dictionary of them.
constexpr const char* kPython = R"(
import json, runpy, sys
import numpy
job = json.load(open(sys.argv[1]))
oracle = runpy.run_path(job["program"]).get("oracle")
if oracle is None:
    sys.exit(job["program"] + " has no function oracle")
given, outputs = dict(job["sizes"]), []
for argument in job["arguments"]:
    values = numpy.fromfile(argument["file"], dtype=argument["dtype"])
    given[argument["name"]] = values[0] if argument["scalar"] else values
    if argument["output"]:
        outputs.append((argument["name"], values))
found = oracle(**given)
if not isinstance(found, dict):
    found = {outputs[0][0]: found}
with open(job["result"], "wb") as file:
    for name, values in outputs:
        if name not in found:
            sys.exit("oracle returns no " + name)
        result = numpy.ascontiguousarray(found[name], dtype=values.dtype).ravel()
        if result.size != values.size:
            sys.exit(f"oracle returns {result.size} values of {name}, which has {values.size}")
        file.write(result.tobytes())
)";

const char* dtype_of(ElementType type) {
    switch (type) {
        case ElementType::boolean: return "?";
        case ElementType::int8: return "i1";
        case ElementType::uint8: return "u1";
        case ElementType::int16: return "i2";
        case ElementType::uint16: return "u2";
        case ElementType::int32: return "i4";
        case ElementType::uint32: return "u4";
        case ElementType::int64: return "i8";
        case ElementType::uint64: return "u8";
        case ElementType::real64: return "f8";
        case ElementType::real32: break;
    }
    return "f4";
}

nlohmann::json job_of(const Description& description, std::size_t problem, const fs::path& folder,
                      const fs::path& file) {
    nlohmann::json sizes = nlohmann::json::object(), arguments = nlohmann::json::array();
    for (std::size_t d = 0; d < description.size_names.size(); ++d)
        sizes[description.size_names[d]] = description.sizes[problem][d];
    for (std::size_t a = 0; a < description.arguments.size(); ++a) {
        const Argument& argument = description.arguments[a];
        const HostArgument made = make_argument(description, a, problem);
        const fs::path input = folder / fmt::format("argument_{}.bin", a);
        write_work_file(input, {reinterpret_cast<const char*>(made.bytes.data()), made.bytes.size()});
        arguments.push_back({{"name", argument.name},
                             {"file", input.string()},
                             {"dtype", dtype_of(argument.type)},
                             {"scalar", argument.memory == Argument::Memory::scalar},
                             {"output", argument.output}});
    }
    return {{"program", description.reference.program.string()},
            {"sizes", sizes},
            {"problem", description.sizes[problem]},
            {"arguments", arguments},
            {"result", file.string()}};
}

std::string python() {
    const char* named = std::getenv("ESPALIER_PYTHON");
    return named && *named ? named : "/usr/bin/python3";
}

std::string bytes_of_file(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

void run_oracle(const Description& description, std::size_t problem, const fs::path& folder, double timeout_seconds,
                const fs::path& file) {
    const fs::path job = folder / "oracle.json", program = description.reference.program;
    write_work_file(job, job_of(description, problem, folder, file).dump());
    const bool is_python = description.reference.kind == Reference::Kind::python;
    const fs::path script = folder / "oracle_caller.py";
    if (is_python) write_work_file(script, kPython);
    Child child(is_python ? std::vector<std::string>{python(), script.string(), job.string()}
                          : std::vector<std::string>{"/proc/self/exe", "tune-worker", "--oracle", job.string()},
                folder / "oracle.log");
    const double start = steady_seconds();
    while (!child.ended()) {
        if (stop_requested()) throw Failure(ExitCode::interrupted, "stopped while the oracle ran");
        if (steady_seconds() - start > timeout_seconds)
            throw Failure(ExitCode::bad_data,
                          fmt::format("{} took longer than {} s: raise --timeout, or shrink the problem",
                                      program.string(), timeout_seconds));
        usleep(2000);
    }
    if (child.code() != 0) {
        std::string what = program.string() + " failed: " + child.how();
        if (what.find("ModuleNotFoundError") != std::string::npos)
            what += "\nset ESPALIER_PYTHON to a Python that has the module; this one is " + python();
        throw Failure(ExitCode::bad_data, what);
    }
    std::size_t bytes = 0;
    for (const Argument& argument : description.arguments)
        if (argument.output) bytes += bytes_of(description, argument, problem);
    std::error_code ignored;
    if (fs::file_size(file, ignored) != bytes)
        throw Failure(ExitCode::bad_data, program.string() + " gave outputs of another size than the description's");
}

int run_library_oracle(const fs::path& file) {
    const nlohmann::json job = nlohmann::json::parse(bytes_of_file(file));
    const fs::path program = fs::absolute(job.at("program").get<std::string>());
    void* library = dlopen(program.c_str(), RTLD_NOW);
    using Oracle = void(void* const* arguments, const long long* sizes);
    auto* oracle = library ? reinterpret_cast<Oracle*>(dlsym(library, "oracle")) : nullptr;
    if (oracle == nullptr) {
        std::fprintf(stderr, "%s\n", library ? "it has no function oracle: declare it extern \"C\"" : dlerror());
        return 1;
    }
    std::vector<std::string> contents;
    for (const auto& argument : job.at("arguments"))
        contents.push_back(bytes_of_file(argument.at("file").get<std::string>()));
    std::vector<void*> pointers;
    for (std::string& bytes : contents) pointers.push_back(bytes.data());
    const auto sizes = job.at("problem").get<std::vector<long long>>();
    oracle(pointers.data(), sizes.data());
    std::string all;
    for (std::size_t a = 0; a < contents.size(); ++a)
        if (job.at("arguments")[a].at("output").get<bool>()) all += contents[a];
    write_work_file(job.at("result").get<std::string>(), all);
    return 0;
}

}  // namespace espalier::bench::tune
