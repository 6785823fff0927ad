// `espalier new`: writes a family or a variant to start from, which builds, is right and sweeps at once.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "harness/base/files/installed.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/templates.hpp"  // generated
#include "kernels/dispatch/families.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

/// A name that a folder or a file, a namespace or a function can have.
void require_name(const std::string& name, const char* what) {
    if (!std::regex_match(name, std::regex("[a-z][a-z0-9_]*")))
        throw Failure(ExitCode::usage,
                      fmt::format("'{}' is no name of a {}: it is one of C++, in small letters, digits "
                                  "and underscores, such as cpu_blocked",
                                  printable(name), what));
}

std::string replaced(std::string text, const std::string& word, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
        text.replace(at, word.size(), by);
    return text;
}

void write_new(const fs::path& path, const std::string& text) {
    if (fs::exists(path)) throw Failure(ExitCode::usage, path.string() + " is there: give another name, or remove it");
    if (path.has_parent_path()) fs::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw Failure(ExitCode::bad_data, path.string() + " cannot be written");
    to_stdout("{}\n", path.string());
}

void new_family(const std::string& name) {
    require_name(name, "family");
    if (find_kernel_family(name) || name == "peers")
        throw Failure(ExitCode::usage, name +
                                           " is a family of this program: give another name, or add to it with "
                                           "`espalier new variant " +
                                           name + "/<name>`");
    for (const auto& [path, text] : kFamilyTemplates)
        if (fs::exists(fs::path(name) / path))
            throw Failure(ExitCode::usage, name + "/ is there: give another name, or remove it");
    for (const auto& [path, text] : kFamilyTemplates)
        write_new(fs::path(name) / path, replaced(std::string(text), "FAMILY", name));
}

bool is_baseline(const std::string& text) { return text.find("Role::baseline") != std::string::npos; }

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The source that a new variant starts from.
struct Pattern {
    std::string name, text;
};

Pattern baseline_in(const fs::path& folder, const char* ending) {
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ending)
            if (std::string text = text_of(entry.path()); is_baseline(text)) return {entry.path().stem(), text};
    throw Failure(ExitCode::usage, fmt::format("{} has no {} file with Role::baseline to start from: write one by hand",
                                               folder.string(), ending));
}

Pattern baseline_of(const Family& family, DeviceKind kind) {
    const VariantInfo& variant = family.variants()[family.baseline(kind)];
    const fs::path path(variant.path);
    const fs::path found = find_installed("include/espalier-harness" / path, fs::path(ESPALIER_SOURCES_DIR) / path);
    if (found.empty())
        throw Failure(ExitCode::bad_data, path.string() + " is not installed: install the component harness");
    return {std::string(variant.name), text_of(found)};
}

/// The folder of the family's variants, if it is one of a project that this is run in.
fs::path own_variants(const std::string& family) {
    for (const fs::path& folder : {fs::path(family), fs::path(".")})
        if (fs::exists(folder / "variants") && fs::exists(folder / "problem.hpp") &&
            fs::canonical(folder).filename() == family)
            return folder / "variants";
    return {};
}

void new_variant(const std::string& text, bool gpu) {
    const auto slash = text.find('/');
    if (slash == std::string::npos)
        throw Failure(ExitCode::usage, fmt::format("'{}' names no variant: write <family>/<name>", printable(text)));
    const std::string family = text.substr(0, slash), name = text.substr(slash + 1);
    require_name(family, "family");
    require_name(name, "variant");
    const char* const ending = gpu ? ".cu" : ".cpp";
    fs::path folder = own_variants(family);
    Pattern pattern;
    if (!folder.empty()) {
        pattern = baseline_in(folder, ending);
    } else {
        const Family& known = family_named(family);
        folder = family + "_variants";
        pattern = baseline_of(known, gpu ? DeviceKind::cuda : DeviceKind::cpu);
    }
    std::string source = std::regex_replace(pattern.text, std::regex("\\b" + pattern.name + "\\b"), name);
    source = replaced(source, "Role::baseline", "Role::documented");
    write_new(folder / (name + ending), "// Fill in: what is other than in " + pattern.name +
                                            ", which this is a copy of, and why that may be faster.\n//\n" + source);
    if (folder.filename() == "variants") return;
    if (!fs::exists("CMakeLists.txt"))
        write_new("CMakeLists.txt", replaced(std::string(kVariantsProject), "FAMILY", family));
    else
        to_stdout("in CMakeLists.txt, before espalier_add_program: espalier_add_variants({} {})\n", family,
                  folder.string());
}

}  // namespace

void add_new(CLI::App& program, ExitCode& /*code*/) {
    CLI::App& command = *program.add_subcommand("new", "Write a family or a variant of one's own to start from");
    command.require_subcommand(1);
    auto name = std::make_shared<std::string>();
    auto gpu = std::make_shared<bool>(false);
    CLI::App& family = *command.add_subcommand("family", "A folder with a problem, its suite and two variants");
    family.add_option("name", *name, "of the family and its folder")->required();
    family.callback([name] { new_family(*name); });
    CLI::App& variant = *command.add_subcommand(
        "variant",
        "A copy of the family's baseline under another name: in the family's folder, or for a built-in one "
        "in <family>_variants/");
    variant.add_option("name", *name, "family/name")->required();
    variant.add_flag("--gpu", *gpu, "for GPUs, a .cu file");
    variant.callback([name, gpu] { new_variant(*name, *gpu); });
}

}  // namespace espalier::bench::cli
