#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files/leftovers.hpp"

namespace espalier::bench::tune {

/// A program that runs beside this one, its output in a file. It is killed with this object.
class Child {
public:
    static constexpr int kPageFile = 4;  ///< where it finds the page that it inherits

    /// `words`: the program, looked for in PATH, and its arguments. `page`: a descriptor that it inherits; -1: none.
    Child(const std::vector<std::string>& words, std::filesystem::path output, int page = -1);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// Whether it has ended.
    bool ended();
    void kill();

    /// How it ended: 0, its exit code, or 128 + its signal; 127 if it could not be started.
    [[nodiscard]] int code() const { return code_; }
    /// The same in words, with the last that it wrote.
    [[nodiscard]] std::string how() const;

private:
    std::filesystem::path output_;
    int error_ = 0, code_ = 0;
    bool ended_ = false;
    std::optional<ChildOnSignal> process_;
};

/// A folder of its own under the system's for temporary files, which goes with this object.
class WorkFolder {
public:
    WorkFolder();
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// Writes a file of this session's own folder. Throws std::system_error.
void write_work_file(const std::filesystem::path& file, const std::string& content);

/// The end of a file: at most so many bytes.
std::string end_of(const std::filesystem::path& file, std::size_t most);

}  // namespace espalier::bench::tune
