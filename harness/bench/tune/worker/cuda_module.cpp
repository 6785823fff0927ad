// The driver's interface, loaded when it is needed: this file is compiled without CUDA's headers, too.

#include <dlfcn.h>

#include <fstream>
#include <iterator>
#include <string>

#include "harness/bench/tune/worker/module.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench::tune {
namespace {

// The driver's own numbers, which no release changes.
constexpr int kMaxDynamicShared = 8;
constexpr std::uint32_t kSharedWithoutAsking = 48 * 1024;

struct Driver {
    int (*load_data)(void** module, const void* image) = nullptr;
    int (*unload)(void* module) = nullptr;
    int (*get_function)(void** function, void* module, const char* name) = nullptr;
    int (*get_global)(std::uint64_t* address, std::size_t* bytes, void* module, const char* name) = nullptr;
    int (*set_attribute)(void* function, int attribute, int value) = nullptr;
    int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                  unsigned block_z, unsigned shared, void* stream, void** arguments, void** extra) = nullptr;
    int (*error_text)(int error, const char** text) = nullptr;
    int (*parameter_info)(void* function, std::size_t index, std::size_t* offset,
                          std::size_t* bytes) = nullptr;  ///< null before CUDA 12.4
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

const Driver& driver() {
    static const Driver loaded = [] {
        Driver d;
        void* library = dlopen("libcuda.so.1", RTLD_NOW);
        if (library == nullptr) throw device::DeviceError(std::string("loading the driver: ") + dlerror(), 1);
        if (!find(library, "cuModuleLoadData", d.load_data) || !find(library, "cuModuleUnload", d.unload) ||
            !find(library, "cuModuleGetFunction", d.get_function) ||
            !find(library, "cuModuleGetGlobal_v2", d.get_global) ||
            !find(library, "cuFuncSetAttribute", d.set_attribute) || !find(library, "cuLaunchKernel", d.launch) ||
            !find(library, "cuGetErrorString", d.error_text))
            throw device::DeviceError("libcuda.so.1 lacks a function: install a driver of CUDA 12 or newer", 1);
        find(library, "cuFuncGetParamInfo", d.parameter_info);
        return d;
    }();
    return loaded;
}

void check(int error, const std::string& what) {
    if (error == 0) return;
    const char* text = nullptr;
    driver().error_text(error, &text);
    throw device::DeviceError(what + ": " + (text ? text : "error " + std::to_string(error)), error);
}

class CudaModule final : public Module {
public:
    CudaModule(const std::filesystem::path& file, const std::string& kernel) {
        std::ifstream stream(file, std::ios::binary);
        image_.assign(std::istreambuf_iterator<char>(stream), {});
        check(driver().load_data(&module_, image_.c_str()), "loading the kernel");
        if (const int error = driver().get_function(&function_, module_, kernel.c_str())) {
            driver().unload(module_);
            check(error, "finding the kernel " + kernel);
        }
    }
    ~CudaModule() override { driver().unload(module_); }
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;

    void launch(const LaunchShape& shape, void** arguments) override {
        if (shape.shared_bytes > kSharedWithoutAsking && shape.shared_bytes != allowed_) {
            check(driver().set_attribute(function_, kMaxDynamicShared, static_cast<int>(shape.shared_bytes)),
                  "asking for shared memory");
            allowed_ = shape.shared_bytes;
        }
        const auto& [g, b] = std::pair(shape.grid, shape.block);
        check(driver().launch(function_, g[0], g[1], g[2], b[0], b[1], b[2], shape.shared_bytes, nullptr, arguments,
                              nullptr),
              "launching the kernel");
    }

    void* symbol(const std::string& name, std::size_t bytes) override {
        std::uint64_t address = 0;
        std::size_t there = 0;
        if (driver().get_global(&address, &there, module_, name.c_str()) != 0 || there < bytes) return nullptr;
        return reinterpret_cast<void*>(address);
    }

    [[nodiscard]] bool symbols_on_host() const override { return false; }

    std::vector<std::size_t> parameter_bytes() override {
        std::vector<std::size_t> all;
        std::size_t offset = 0, bytes = 0;
        while (driver().parameter_info && driver().parameter_info(function_, all.size(), &offset, &bytes) == 0)
            all.push_back(bytes);
        return all;
    }

private:
    std::string image_;
    void *module_ = nullptr, *function_ = nullptr;
    std::uint32_t allowed_ = 0;
};

}  // namespace

std::unique_ptr<Module> load_cuda_module(const std::filesystem::path& file, const std::string& kernel) {
    return std::make_unique<CudaModule>(file, kernel);
}

}  // namespace espalier::bench::tune
