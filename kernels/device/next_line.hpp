#pragma once

#include <cerrno>
#include <fstream>
#include <istream>
#include <new>
#include <string>

/// Reading what the kernel tells. The standard streams take a want of memory for a fault of the file, so that what is
/// there would be taken for what cannot be known; these throw std::bad_alloc.
namespace espalier::device {

inline std::ifstream open_text(const std::string& path) {
    errno = 0;
    std::ifstream file(path);
    if (!file.is_open() && errno == ENOMEM) throw std::bad_alloc();
    return file;
}

/// std::getline: false where there is no more.
inline bool next_line(std::istream& stream, std::string& line, char end = '\n') {
    try {
        stream.exceptions(std::ios::badbit);
        return static_cast<bool>(std::getline(stream, line, end));
    } catch (const std::ios::failure&) {
        return false;  // it cannot be read
    }
}

}  // namespace espalier::device
