#include <dlfcn.h>

#include <cstdint>

#include "harness/bench/tune/worker/module.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench::tune {
namespace {

/// A shared library that harness/emulator/tuned_kernel.hpp made the entries of.
class EmulatedModule final : public Module {
public:
    explicit EmulatedModule(const std::filesystem::path& file) : library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) throw device::DeviceError(std::string("loading the kernel: ") + dlerror(), 1);
        launch_ = reinterpret_cast<Launch*>(find("espalier_tuned_launch"));
        parameters_ = reinterpret_cast<const std::uint32_t*>(find("espalier_tuned_parameters"));
    }
    // Never closed: threads of the executor may still have storage of the library's.

    void launch(const LaunchShape& shape, void** arguments) override {
        launch_(shape.grid.data(), shape.block.data(), shape.shared_bytes, arguments);
    }
    void* symbol(const std::string& name, std::size_t) override { return dlsym(library_, name.c_str()); }
    [[nodiscard]] bool symbols_on_host() const override { return true; }
    std::vector<std::size_t> parameter_bytes() override { return {parameters_ + 1, parameters_ + 1 + parameters_[0]}; }

private:
    using Launch = void(const std::uint32_t* grid, const std::uint32_t* block, std::uint32_t shared, void** arguments);

    void* find(const char* name) {
        void* found = dlsym(library_, name);
        if (found == nullptr) throw device::DeviceError(std::string("the kernel's library lacks ") + name, 1);
        return found;
    }

    void* library_;
    Launch* launch_ = nullptr;
    const std::uint32_t* parameters_ = nullptr;  ///< how many, and the bytes of each
};

}  // namespace

std::unique_ptr<Module> load_emulated_module(const std::filesystem::path& file) {
    return std::make_unique<EmulatedModule>(file);
}

std::unique_ptr<Module> load_module(const DeviceInfo& device, const std::filesystem::path& file,
                                    const std::string& kernel) {
    return device.emulated ? load_emulated_module(file) : load_cuda_module(file, kernel);
}

}  // namespace espalier::bench::tune
