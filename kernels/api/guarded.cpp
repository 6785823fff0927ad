#include "kernels/api/guarded.hpp"

#include <exception>
#include <new>
#include <string>

#include "kernels/device/runtime.hpp"
#include "kernels/dispatch/choose.hpp"

namespace espalier {
namespace {

/// Throws only for want of memory.
Error error_in_words() {
    try {
        throw;
    } catch (const device::DeviceError& error) {
        return {error.out_of_memory() ? ErrorCode::out_of_memory : ErrorCode::device_failure, error.what()};
    } catch (const std::bad_alloc&) {
        return {ErrorCode::out_of_memory, "out of host memory: use a smaller problem or free some"};
    } catch (const InvalidCall& error) {
        return {ErrorCode::invalid_argument, error.what()};
    } catch (const Cancelled& error) {
        return {ErrorCode::cancelled, error.what()};
    } catch (const NoChoice& error) {
        return {ErrorCode::unsupported, error.what()};
    } catch (const std::exception& error) {
        return {ErrorCode::internal, error.what()};
    } catch (...) {
        return {ErrorCode::internal, "unknown exception"};
    }
}

}  // namespace

Error error_of_exception() noexcept {
    try {
        return error_in_words();
    } catch (...) {
        // So short that the string needs no memory beside itself, in every standard library.
        return {ErrorCode::out_of_memory, "out of memory"};
    }
}

}  // namespace espalier
