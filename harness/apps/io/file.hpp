#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace espalier::bench::io {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Opens an existing file (not a folder) for reading. Throws BadFile.
File open_for_reading(const std::string& path);

/// Writes a file so that other programs see the old content or the whole new one, never a part: the data
/// goes to a temporary file in the same folder, which `commit` renames. Without `commit` nothing changes.
/// What is not a regular file (a terminal, a pipe, /dev/null) cannot be replaced and is written directly;
/// a symbolic link stays one and its target is replaced. Throws BadFile.
class AtomicFile {
public:
    explicit AtomicFile(const std::string& path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    [[nodiscard]] std::FILE* stream() const { return file_.get(); }
    void write(std::string_view data);
    void commit();

private:
    [[noreturn]] void fail(const char* what) const;

    std::string path_;       ///< as the caller gave it, for messages
    std::string target_;     ///< with links resolved
    std::string temporary_;  ///< empty when written directly
    File file_;
};

}  // namespace espalier::bench::io
