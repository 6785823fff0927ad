#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "harness/base/files/leftovers.hpp"

namespace espalier::bench {

/// "-" for an output: the standard output.
inline constexpr std::string_view kStandardStream = "-";

/// Writes a file so that others see the old content or the whole new one, never a part, whatever ends this process
/// when: the data goes to a temporary file in the same folder, which `commit` renames. Without `commit` nothing
/// changes. What is not a regular file (a terminal, a pipe, /dev/null, "-") cannot be replaced and is written directly,
/// or refused; a symbolic link stays one, and what it leads to is replaced, or made; a file that is replaced keeps its
/// permissions. Nobody can tell the temporary file's name beforehand, and one that is there already is not touched.
/// Throws std::system_error.
class ReplacedFile {
public:
    enum class Special { written, refused };

    explicit ReplacedFile(const std::string& path, Special special = Special::written);
    ReplacedFile(const ReplacedFile&) = delete;
    ReplacedFile& operator=(const ReplacedFile&) = delete;

    [[nodiscard]] std::FILE* stream() const { return file_.get(); }
    void write(std::string_view data);
    void commit();
    /// Gives the file its name before it is complete: from now on others see what was written before the latest call.
    void publish();

private:
    /// Its descriptor.
    int create_temporary();
    void write_out();
    void take_name();

    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    std::string target_;                        ///< with links resolved; empty when written directly
    std::unique_ptr<TemporaryName> temporary_;  ///< null when written directly
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace espalier::bench
