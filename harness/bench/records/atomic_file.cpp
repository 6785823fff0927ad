#include "harness/bench/records/atomic_file.hpp"

#include <system_error>

#include "harness/base/files/replaced_file.hpp"

namespace espalier::bench {

void write_file_atomically(const std::filesystem::path& path, std::string_view contents) {
    try {
        if (path.has_parent_path()) {
            std::error_code made;
            std::filesystem::create_directories(path.parent_path(), made);
            if (made) throw std::system_error(made);
        }
        ReplacedFile file(path.string(), ReplacedFile::Special::refused);
        file.write(contents);
        file.commit();
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::file_exists)
            throw CannotWrite("cannot write " + path.string() + ": it is no file: remove it, or choose another folder");
        throw CannotWrite("cannot write " + path.string() + ": " + error.code().message() +
                          ": free some space, check the folder's permissions, or choose another folder");
    }
}

}  // namespace espalier::bench
