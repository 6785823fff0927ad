#include "kernels/dispatch/appended_line.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "kernels/json/bad_data.hpp"

namespace espalier {
namespace {

[[noreturn]] void refuse_to_append(int error) {
    throw BadData(std::string("nothing can be appended to it: ") + std::strerror(error) +
                  ": give a file that can be written, or unset the variable");
}

/// Nothing is waited for: a pipe is refused once it is open.
int open_to_append(const std::string& path) {
    int descriptor = -1;
    do {
        descriptor = open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

bool ends_in_a_line(int descriptor, off_t bytes) {
    char last = '\n';
    return bytes == 0 || pread(descriptor, &last, 1, bytes - 1) != 1 || last == '\n';
}

/// Closes what it is given.
class ClosedAtEnd {
public:
    explicit ClosedAtEnd(int descriptor) : descriptor_(descriptor) {}
    ~ClosedAtEnd() { close(descriptor_); }
    ClosedAtEnd(const ClosedAtEnd&) = delete;
    ClosedAtEnd& operator=(const ClosedAtEnd&) = delete;

private:
    int descriptor_;
};

}  // namespace

void append_line(const std::string& path, std::string_view line) {
    const int descriptor = open_to_append(path);
    if (descriptor < 0) refuse_to_append(errno);
    const ClosedAtEnd closed(descriptor);
    struct stat status {};
    if (fstat(descriptor, &status) != 0) refuse_to_append(errno);
    if (!S_ISREG(status.st_mode)) throw BadData("it is a pipe, a device or a socket: give a file");
    // Of a line that another process is half through the end looks cut off, too: then an empty line comes after it.
    std::string text = ends_in_a_line(descriptor, status.st_size) ? "" : "\n";
    text.append(line).append("\n");
    ssize_t written = -1;
    do {
        written = write(descriptor, text.data(), text.size());
    } while (written < 0 && errno == EINTR);
    if (written < 0) refuse_to_append(errno);
    if (static_cast<std::size_t>(written) < text.size()) refuse_to_append(ENOSPC);
}

std::string file_to_append_to(const char* variable) {
    const char* const named = secure_getenv(variable);
    if (!named || !*named) return {};
    std::error_code failed;  // of a folder that is gone: the path is then taken as it is
    const std::filesystem::path full = std::filesystem::absolute(named, failed);  // the program may change its folder
    return failed ? named : full.string();
}

}  // namespace espalier
