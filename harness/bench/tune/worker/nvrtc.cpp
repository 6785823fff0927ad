// NVRTC, loaded when it is needed: this file is compiled without CUDA's headers, too.

#include "harness/bench/tune/worker/nvrtc.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace espalier::bench::tune {
namespace {

using Program = void*;

struct Nvrtc {
    int (*create)(Program* program, const char* source, const char* name, int headers, const char* const* contents,
                  const char* const* names) = nullptr;
    int (*destroy)(Program* program) = nullptr;
    int (*add_name)(Program program, const char* expression) = nullptr;
    int (*compile)(Program program, int count, const char* const* options) = nullptr;
    int (*lowered_name)(Program program, const char* expression, const char** name) = nullptr;
    int (*code_size)(Program program, std::size_t* bytes) = nullptr;
    int (*code)(Program program, char* bytes) = nullptr;
    int (*log_size)(Program program, std::size_t* bytes) = nullptr;
    int (*log)(Program program, char* text) = nullptr;
    const char* (*error_text)(int error) = nullptr;
    std::string missing;  ///< why it is not there; empty if it is
};

void* open_library() {
    std::vector<std::string> folders{""};
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* home = std::getenv(variable))
            for (const char* inner : {"/lib64/", "/lib/"}) folders.push_back(std::string(home) + inner);
    for (const char* inner : {"/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"}) folders.emplace_back(inner);
    for (const std::string& folder : folders)
        for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
            if (void* library = dlopen((folder + name).c_str(), RTLD_NOW)) return library;
    return nullptr;
}

const Nvrtc& nvrtc() {
    static const Nvrtc loaded = [] {
        Nvrtc n;
        void* library = open_library();
        const auto find = [&](const char* name, auto& function) {
            function =
                library ? reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name)) : nullptr;
            if (!function && n.missing.empty())
                n.missing = library ? std::string("NVRTC lacks ") + name + ": install that of CUDA 12 or newer"
                                    : "NVRTC cannot be loaded: install it with the CUDA toolkit, or put the folder of "
                                      "libnvrtc.so on LD_LIBRARY_PATH";
        };
        find("nvrtcCreateProgram", n.create);
        find("nvrtcDestroyProgram", n.destroy);
        find("nvrtcAddNameExpression", n.add_name);
        find("nvrtcCompileProgram", n.compile);
        find("nvrtcGetLoweredName", n.lowered_name);
        find("nvrtcGetCUBINSize", n.code_size);
        find("nvrtcGetCUBIN", n.code);
        find("nvrtcGetProgramLogSize", n.log_size);
        find("nvrtcGetProgramLog", n.log);
        find("nvrtcGetErrorString", n.error_text);
        return n;
    }();
    return loaded;
}

/// A program of NVRTC's, which goes with this object.
class Compilation {
public:
    Compilation(const std::string& source, const std::string& name) {
        error_ = nvrtc().create(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr);
    }
    ~Compilation() {
        if (program_ != nullptr) nvrtc().destroy(&program_);
    }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    /// What went wrong; empty if nothing did.
    std::string run(const NvrtcJob& job) {
        std::vector<const char*> options;
        for (const std::string& option : job.options) options.push_back(option.c_str());
        if (error_ == 0) error_ = nvrtc().add_name(program_, job.kernel.c_str());
        if (error_ == 0) error_ = nvrtc().compile(program_, static_cast<int>(options.size()), options.data());
        if (error_ != 0) return failure();
        const char* name = nullptr;
        std::size_t bytes = 0;
        error_ = nvrtc().lowered_name(program_, job.kernel.c_str(), &name);
        if (error_ == 0) error_ = nvrtc().code_size(program_, &bytes);
        if (error_ == 0 && bytes == 0) return "NVRTC made no machine code: name an architecture such as sm_90";
        std::string code(bytes, '\0');
        if (error_ == 0) error_ = nvrtc().code(program_, code.data());
        if (error_ != 0) return failure();
        std::ofstream(job.output, std::ios::binary).write(code.data(), static_cast<std::streamsize>(bytes));
        std::ofstream(job.output.string() + ".name") << name;
        return {};
    }

private:
    [[nodiscard]] std::string failure() const {
        std::size_t bytes = 0;
        std::string text = nvrtc().error_text(error_);
        if (program_ == nullptr || nvrtc().log_size(program_, &bytes) != 0 || bytes < 2) return text;
        std::string log(bytes, '\0');
        nvrtc().log(program_, log.data());
        log.resize(bytes - 1);
        return text + "\n" + log;
    }

    Program program_ = nullptr;
    int error_ = 0;
};

}  // namespace

std::string nvrtc_refusal() { return nvrtc().missing; }

std::string compile_with_nvrtc(const NvrtcJob& job) {
    if (!nvrtc().missing.empty()) return nvrtc().missing;
    std::ifstream stream(job.source, std::ios::binary);
    const std::string source(std::istreambuf_iterator<char>(stream), {});
    return Compilation(source, job.source.filename().string()).run(job);
}

}  // namespace espalier::bench::tune
