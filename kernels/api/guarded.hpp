#pragma once

#include <exception>
#include <new>

#include "espalier/error.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/dispatch/choose.hpp"

namespace espalier {

/// Runs `function`, which returns a Result, and turns what it throws into an Error: nothing is thrown
/// out of the library.
template <class Function>
auto guarded(Function function) noexcept -> decltype(function()) {
    try {
        return function();
    } catch (const device::DeviceError& error) {
        return Error{error.out_of_memory() ? ErrorCode::out_of_memory : ErrorCode::device_failure, error.what()};
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::out_of_memory, "out of host memory: use a smaller problem or free some"};
    } catch (const NoChoice& error) {
        return Error{ErrorCode::unsupported, error.what()};
    } catch (const std::exception& error) {
        return Error{ErrorCode::internal, error.what()};
    } catch (...) {
        return Error{ErrorCode::internal, "unknown exception"};
    }
}

}  // namespace espalier
