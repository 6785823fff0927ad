#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "harness/base/files/replaced_file.hpp"

namespace espalier::bench::io {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Opens an existing file (not a folder) for reading; "-" is the standard input. Throws BadFile.
File open_for_reading(const std::string& path);

/// The content of a file that has to be small: at most `most` bytes are ever read. Throws BadFile for a larger one and
/// says that it is too large for `what`.
std::string read_small(const std::string& path, std::size_t most, const std::string& what);

/// A ReplacedFile whose errors name the file and the fix. Throws BadFile.
class AtomicFile {
public:
    explicit AtomicFile(const std::string& path, ReplacedFile::Special special = ReplacedFile::Special::written);

    [[nodiscard]] std::FILE* stream() const { return file_->stream(); }
    void write(std::string_view data);
    void commit();
    void publish();

    /// Makes the file this long, all zeros, with its place on the disk where the file system can reserve one: it is
    /// refused here if it does not fit. For a file that is written by `write_at` alone.
    void reserve(std::int64_t bytes);
    /// Writes at a place, and asks the system to begin with what it holds back. Any thread may call it.
    void write_at(std::int64_t offset, std::string_view data);
    void begin_flushing();

private:
    template <class Action>
    void attempt(const char* what, Action&& action) const;

    std::string path_;  ///< as the caller gave it, for messages
    std::unique_ptr<ReplacedFile> file_;
};

}  // namespace espalier::bench::io
