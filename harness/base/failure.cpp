#include "harness/base/failure.hpp"

namespace espalier::bench {

ExitCode exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
        case ErrorCode::unsupported:
        case ErrorCode::unknown_variant: return ExitCode::usage;
        case ErrorCode::no_device: return ExitCode::no_device;
        case ErrorCode::out_of_memory:
        case ErrorCode::device_failure:
        case ErrorCode::bad_file:
        case ErrorCode::cancelled:  // no command cancels a call
        case ErrorCode::internal: break;
    }
    return ExitCode::bad_data;
}

}  // namespace espalier::bench
