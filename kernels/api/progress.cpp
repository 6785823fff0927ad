#include "kernels/api/progress.hpp"

#include <exception>
#include <string>

#include "kernels/api/guarded.hpp"

namespace espalier {
namespace {

std::string after_part(double done) {
    return "after " + std::to_string(static_cast<int>(done * 100)) + " % of the call: its results are incomplete";
}

}  // namespace

void Progress::tell(double done) const {
    bool goes_on = false;
    try {
        goes_on = function_(user_, done);
    } catch (const std::exception& error) {
        throw Cancelled("Options::progress threw \"" + std::string(error.what()) + "\" " + after_part(done));
    } catch (...) {
        throw Cancelled("Options::progress threw an exception " + after_part(done));
    }
    if (!goes_on) throw Cancelled("Options::progress returned false " + after_part(done));
}

void Progress::at_end() const noexcept {
    if (!function_) return;
    try {
        function_(user_, 1);
    } catch (...) {
        // The results are there.
    }
}

}  // namespace espalier
