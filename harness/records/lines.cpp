#include "harness/records/lines.hpp"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "harness/records/packing.hpp"
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

/// Where the bytes of a file come from.
class ByteSource {
public:
    explicit ByteSource(const std::filesystem::path& path) : path_(path) {}
    virtual ~ByteSource() = default;
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    /// 0 at the end.
    virtual std::size_t read(std::span<char> chunk) = 0;

protected:
    [[noreturn]] void refuse(const std::string& why) const {
        throw BadData("cannot read " + path_.string() + ": " + why + ": check the path");
    }

private:
    const std::filesystem::path& path_;
};

class PlainSource : public ByteSource {
public:
    explicit PlainSource(const std::filesystem::path& path) : ByteSource(path), file_(std::fopen(path.c_str(), "rbe"), &std::fclose) {
        if (!file_) refuse(std::strerror(errno));
    }

    std::size_t read(std::span<char> chunk) override {
        const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file_.get());
        if (std::ferror(file_.get())) refuse(std::strerror(errno ? errno : EIO));
        return got;
    }

private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

class GzipSource : public ByteSource {
public:
    explicit GzipSource(const std::filesystem::path& path) : ByteSource(path), file_(gzopen(path.c_str(), "rbe"), &gzclose) {
        if (!file_) refuse(std::strerror(errno));
    }

    std::size_t read(std::span<char> chunk) override {
        const int got = gzread(file_.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
        int error = Z_OK;
        const char* why = gzerror(file_.get(), &error);
        // A file that ends too soon is told only by the latter.
        if (got < 0 || (got == 0 && error != Z_OK && error != Z_STREAM_END)) refuse(why);
        return static_cast<std::size_t>(got);
    }

private:
    std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

class XzSource : public ByteSource {
public:
    explicit XzSource(const std::filesystem::path& path) : ByteSource(path), packed_(path) {
        constexpr std::uint64_t kMostMemory = std::uint64_t{128} << 20;  // twice what the highest preset needs
        if (lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
    }
    ~XzSource() override { lzma_end(&stream_); }
    XzSource(const XzSource&) = delete;
    XzSource& operator=(const XzSource&) = delete;

    std::size_t read(std::span<char> chunk) override {
        stream_.next_out = reinterpret_cast<std::uint8_t*>(chunk.data());
        stream_.avail_out = chunk.size();
        while (!ended_ && stream_.avail_out > 0) {
            if (stream_.avail_in == 0 && !last_) fill();
            decode();
        }
        return chunk.size() - stream_.avail_out;
    }

private:
    void fill() {
        stream_.avail_in = packed_.read(input_);
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
        last_ = stream_.avail_in == 0;
    }

    void decode() {
        switch (lzma_code(&stream_, last_ ? LZMA_FINISH : LZMA_RUN)) {
            case LZMA_OK: return;
            case LZMA_STREAM_END: ended_ = true; return;
            case LZMA_MEM_ERROR: throw std::bad_alloc();
            case LZMA_MEMLIMIT_ERROR: refuse("unpacking it takes more than 128 MiB of memory");
            case LZMA_FORMAT_ERROR: refuse("it is no xz file");
            case LZMA_BUF_ERROR: refuse("it ends too soon");
            default: refuse("it is damaged");
        }
    }

    PlainSource packed_;
    lzma_stream stream_ = LZMA_STREAM_INIT;
    std::vector<char> input_ = std::vector<char>(std::size_t{1} << 16);
    bool last_ = false, ended_ = false;
};

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path) {
    if (path.extension() == ".gz") return std::make_unique<GzipSource>(path);
    if (path.extension() == kPacked) return std::make_unique<XzSource>(path);
    return std::make_unique<PlainSource>(path);
}

}  // namespace

void for_each_line(const std::filesystem::path& path, const std::function<void(const Line&)>& visit,
                   std::size_t longest) {
    const std::unique_ptr<ByteSource> source = open_bytes(path);
    std::vector<char> chunk(std::size_t{1} << 16);
    Line line;
    while (const std::size_t got = source->read(chunk)) {
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
