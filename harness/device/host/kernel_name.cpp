#include "harness/device/host/kernel_name.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

namespace espalier::device::host {
namespace {

std::vector<char> contents(const std::filesystem::path& path) {
    std::error_code failed;
    const auto bytes = std::filesystem::file_size(path, failed);
    std::vector<char> file(failed ? 0 : bytes);
    std::ifstream(path, std::ios::binary).read(file.data(), static_cast<std::streamsize>(file.size()));
    return file;
}

template <class T>
T read_at(const std::vector<char>& file, std::size_t offset) {
    T value{};
    if (offset + sizeof(T) <= file.size()) std::memcpy(&value, file.data() + offset, sizeof(T));
    return value;
}

std::string name_at(const std::vector<char>& file, std::size_t offset) {
    return offset < file.size() ? std::string(file.data() + offset, strnlen(file.data() + offset, file.size() - offset))
                                : std::string();
}

/// The name of the function symbol at `address` of an ELF file, or nothing.
std::string symbol_at(const std::vector<char>& file, std::uint64_t address) {
    const auto header = read_at<Elf64_Ehdr>(file, 0);
    for (std::size_t s = 0; s < header.e_shnum; ++s) {
        const auto table = read_at<Elf64_Shdr>(file, header.e_shoff + s * sizeof(Elf64_Shdr));
        if (table.sh_type != SHT_SYMTAB) continue;
        const auto strings = read_at<Elf64_Shdr>(file, header.e_shoff + table.sh_link * sizeof(Elf64_Shdr));
        for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = read_at<Elf64_Sym>(file, table.sh_offset + at);
            if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value == address)
                return name_at(file, strings.sh_offset + symbol.st_name);
        }
    }
    return {};
}

std::string demangled(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    std::string name = status == 0 ? text.get() : symbol;
    // The signature adds nothing that the launch does not say.
    const auto parameters = name.rfind('(');
    if (parameters != std::string::npos && parameters > 0 && name.back() == ')') name.erase(parameters);
    return name;
}

}  // namespace

std::string kernel_name(const Launch& launch) {
    Dl_info module{};
    if (launch.kernel != nullptr && dladdr(launch.kernel, &module) != 0) {
        const std::vector<char> file = contents("/proc/self/exe");
        const auto address = reinterpret_cast<std::uintptr_t>(launch.kernel);
        for (const auto base : {reinterpret_cast<std::uintptr_t>(module.dli_fbase), std::uintptr_t{0}})
            if (const std::string symbol = symbol_at(file, address - base); !symbol.empty()) return demangled(symbol);
    }
    return std::string("the kernel launched in ") + launch.location.file_name() + ":" +
           std::to_string(launch.location.line());
}

}  // namespace espalier::device::host
