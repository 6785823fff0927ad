#include "harness/apps/io/byte_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {

ByteFile::ByteFile(const std::string& path) : path_(path == "-" ? "standard input" : path) {
    if (path != "-") file_ = open_for_reading(path);
    struct stat status {};
    if (fstat(file_ ? fileno(file_.get()) : STDIN_FILENO, &status) != 0)
        throw BadFile(path_, std::string("cannot be read: ") + std::strerror(errno));
    // Files of /proc say 0 and hold more.
    if (S_ISREG(status.st_mode) && status.st_size > 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

// Straight from the system: the standard library's buffer would be one copy more.
std::size_t ByteFile::read(std::span<std::uint8_t> buffer) {
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // Linux stops a little below 2 GiB
    const int descriptor = file_ ? fileno(file_.get()) : STDIN_FILENO;
    std::size_t filled = 0;
    while (filled < buffer.size()) {
        const ssize_t got = ::read(descriptor, buffer.data() + filled, std::min(buffer.size() - filled, kMostAtOnce));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw BadFile(path_, std::string("cannot be read: ") + std::strerror(errno));
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    read_ += filled;
    if (filled < buffer.size() && size_ && file_ && read_ < *size_)
        throw BadFile(path_, "became shorter while it was read: " + std::to_string(read_) + " of " +
                                 std::to_string(*size_) + " bytes; try again when nothing writes to it");
    return filled;
}

}  // namespace espalier::bench::io
