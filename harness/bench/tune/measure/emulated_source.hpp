#pragma once

#include <string>
#include <string_view>

namespace espalier::bench::tune {

/// A file of plain CUDA kernels as the host compiler takes it for the host executor: without the headers that only CUDA
/// has, with `__shared__` arrays made the executor's, with the lines `defines` before it, and with the entries that
/// launch `kernel`. `name` is the file's, for the compiler's messages, whose lines stay right.
std::string emulated_source(std::string_view source, const std::string& name, const std::string& defines,
                            const std::string& kernel);

}  // namespace espalier::bench::tune
