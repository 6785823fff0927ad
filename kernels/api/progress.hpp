#pragma once

#include <cstdint>

#include "espalier/options.hpp"

namespace espalier {

/// Tells `Options::progress` how far a call is, if there is one. Its exceptions go no further.
class Progress {
public:
    explicit Progress(const Options& options) noexcept : function_(options.progress), user_(options.progress_user) {}

    [[nodiscard]] bool is_wanted() const noexcept { return function_ != nullptr; }

    /// Before anything runs, and after a part. Throws `Cancelled` if the call is to end.
    void at_start() const {
        if (function_) tell(0);
    }
    void after(std::int64_t done, std::int64_t all) const {
        if (function_ && done < all) tell(static_cast<double>(done) / static_cast<double>(all));
    }
    /// When the results are there, whatever the function says to it.
    void at_end() const noexcept;

private:
    void tell(double done) const;

    ProgressFunction function_;
    void* user_;
};

/// The options of a part of a call that tells its progress itself.
inline Options of_part(Options options) {
    options.progress = nullptr;
    options.wait = true;
    return options;
}

}  // namespace espalier
