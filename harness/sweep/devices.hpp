#pragma once

#include <string>
#include <vector>

namespace espalier {

/// "cpu" and "0" name themselves; "all" is the CPU and every usable GPU.
std::vector<std::string> devices_named(const std::string& name);

/// Confines this process, and the workers that it starts, to its first `threads` processors. 0 changes nothing. Throws
/// `NoUsableDevice` if there are fewer.
void restrict_threads(int threads);

}  // namespace espalier
