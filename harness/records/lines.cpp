#include "harness/records/lines.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "harness/records/bad_data.hpp"

namespace espalier {
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

}  // namespace

void for_each_line(const std::filesystem::path& path, const std::function<void(const Line&)>& visit,
                   std::size_t longest) {
    const auto refuse = [&](int error) {
        throw BadData("cannot read " + path.string() + ": " + std::strerror(error) + ": check the path");
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
    if (!file) refuse(errno);
    std::vector<char> chunk(std::size_t{1} << 16);
    Line line;
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
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
    if (std::ferror(file.get())) refuse(errno ? errno : EIO);
    if (line.bytes > 0) visit(line);
}

}  // namespace espalier
