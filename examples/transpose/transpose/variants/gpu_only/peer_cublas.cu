// cuBLAS's cublasSgeam, which adds two matrices, either of them transposed: out = 1 * in^T + 0 * in^T. Loaded when it
// first runs, so that nothing needs cuBLAS to build.

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "device/kernel.hpp"
#include "transpose/problem.hpp"

namespace espalier::transpose {
namespace {

struct Cublas {
    int (*set_stream)(void*, void*) = nullptr;
    int (*geam)(void*, int, int, int, int, const float*, const float*, int, const float*, const float*, int, float*,
                int) = nullptr;
    void* handle = nullptr;

    Cublas() {
        void* library = nullptr;
        for (const char* name : {"libcublas.so", "libcublas.so.13", "libcublas.so.12"})
            if (!library) library = dlopen(name, RTLD_NOW);
        if (!library) throw std::runtime_error("there is no libcublas.so: install it or set LD_LIBRARY_PATH");
        const auto create = reinterpret_cast<int (*)(void**)>(dlsym(library, "cublasCreate_v2"));
        set_stream = reinterpret_cast<decltype(set_stream)>(dlsym(library, "cublasSetStream_v2"));
        geam = reinterpret_cast<decltype(geam)>(dlsym(library, "cublasSgeam"));
        if (!create || !set_stream || !geam || create(&handle) != 0) throw std::runtime_error("cuBLAS does not start");
    }
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (problem.rows == 0 || problem.columns == 0) return Support::no("takes no empty matrices");
    if (problem.rows > 0x7FFFFFFF || problem.columns > 0x7FFFFFFF) return Support::no("counts in 32 bits");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    static const Cublas cublas;
    constexpr int kTransposed = 1;
    const float one = 1, zero = 0;
    const int rows = static_cast<int>(problem.rows), columns = static_cast<int>(problem.columns);
    cublas.set_stream(cublas.handle, context.stream);
    // Its matrices lie column after column: `in` is one of `columns` rows.
    const int status = cublas.geam(cublas.handle, kTransposed, kTransposed, rows, columns, &one, buffers.in, columns,
                                   &zero, buffers.in, columns, buffers.out, rows);
    if (status != 0) throw std::runtime_error("cublasSgeam returns " + std::to_string(status));
}

}  // namespace

Variant<Problem> peer_cublas() {
    return {.role = Role::peer,
            .summary = "cuBLAS's cublasSgeam",
            .source = "",
            .tolerance = kExact,
            .waits = "cuBLAS allocates memory when it starts",
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::transpose
