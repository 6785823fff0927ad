#pragma once

namespace espalier::c {

/// The message that `failed` was told last on this thread; "" if none.
const char* last_error() noexcept;

}  // namespace espalier::c
