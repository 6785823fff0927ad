#pragma once

#include <cstddef>
#include <string>

namespace espalier {

/// A file that is complete or not there: written under a temporary name beside its own, which it gets at the end. What
/// had that name before is replaced if it is a regular file; anything else is refused, a symbolic link, too, and
/// nothing is lost. All members throw `BadData`, which names the file and the fix.
class NewFile {
public:
    explicit NewFile(const std::string& path);
    ~NewFile();  ///< removes what was not finished
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void write(const void* data, std::size_t bytes);

    /// The file gets its name, and its bytes are on the disk.
    void finish();

private:
    std::string path_, temporary_;
    int descriptor_ = -1;
};

}  // namespace espalier
