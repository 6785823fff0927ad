#include "harness/records/lines.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/json/bad_data.hpp"

namespace espalier::bench {
namespace {

void extend(Line& line, const char* from, std::size_t bytes, std::size_t longest) {
    line.bytes += bytes;
    if (line.overlong) return;
    if (line.text.size() + bytes <= longest) {
        line.text.append(from, bytes);
    } else {
        line.overlong = true;
        line.text = {};
    }
}

/// The bytes of a file, unpacked if its name ends in ".gz".
class ByteSource {
public:
    explicit ByteSource(const std::filesystem::path& path) : path_(path) {
        if (path.extension() == ".gz")
            packed_.reset(gzopen(path.c_str(), "rbe"));
        else
            plain_.reset(std::fopen(path.c_str(), "rbe"));
        if (!packed_ && !plain_) refuse(std::strerror(errno));
    }

    /// 0 at the end.
    std::size_t read(std::vector<char>& chunk) {
        if (plain_) {
            const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), plain_.get());
            if (std::ferror(plain_.get())) refuse(std::strerror(errno ? errno : EIO));
            return got;
        }
        const int got = gzread(packed_.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
        int error = Z_OK;
        const char* why = gzerror(packed_.get(), &error);
        // A file that ends too soon is told only by the latter.
        if (got < 0 || (got == 0 && error != Z_OK && error != Z_STREAM_END)) refuse(why);
        return static_cast<std::size_t>(got);
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw BadData("cannot read " + path_.string() + ": " + why + ": check the path");
    }

    const std::filesystem::path& path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> plain_{nullptr, &std::fclose};
    std::unique_ptr<gzFile_s, int (*)(gzFile)> packed_{nullptr, &gzclose};
};

}  // namespace

void for_each_line(const std::filesystem::path& path, const std::function<void(const Line&)>& visit,
                   std::size_t longest) {
    ByteSource source(path);
    std::vector<char> chunk(std::size_t{1} << 16);
    Line line;
    while (const std::size_t got = source.read(chunk)) {
        const char* at = chunk.data();
        const char* const end = at + got;
        while (at != end) {
            const char* const newline = std::find(at, end, '\n');
            extend(line, at, static_cast<std::size_t>(newline - at), longest);
            at = newline;
            if (newline == end) break;
            ++at;
            line.ended = true;
            visit(line);
            line = Line{.offset = line.offset + line.bytes + 1};
        }
    }
    if (line.bytes > 0) visit(line);
}

}  // namespace espalier::bench
