#pragma once

namespace espalier::c {

/// What `failed` was told last on this thread; "" if nothing.
const char* last_error() noexcept;

}  // namespace espalier::c
