#include "harness/bench/records/lines.hpp"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "harness/bench/records/packing.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/regular_file.hpp"

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

constexpr const char* kNoRecords = "it holds no records but lines without end, or without number: check the path";

/// Where the bytes of a file come from. Throws `BadData`, which does not name the file.
class ByteSource {
public:
    ByteSource() = default;
    virtual ~ByteSource() = default;
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    /// 0 at the end.
    virtual std::size_t read(std::span<char> chunk) = 0;
    /// How many bytes of the file were read so far; of one that is not packed, how many there were.
    [[nodiscard]] virtual std::uint64_t packed() const = 0;
};

class PlainSource : public ByteSource {
public:
    explicit PlainSource(RegularFile& file) : file_(file) {}

    std::size_t read(std::span<char> chunk) override {
        const std::size_t got = file_.read(chunk.data(), chunk.size());
        read_ += got;
        return got;
    }
    [[nodiscard]] std::uint64_t packed() const override { return read_; }

private:
    RegularFile& file_;
    std::uint64_t read_ = 0;
};

class GzipSource : public ByteSource {
public:
    explicit GzipSource(RegularFile& file) : file_(gzdopen(file.descriptor(), "rb"), &gzclose) {
        if (!file_) throw std::bad_alloc();
        static_cast<void>(file.release());
    }

    std::size_t read(std::span<char> chunk) override {
        const int got = gzread(file_.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
        int error = Z_OK;
        const char* why = gzerror(file_.get(), &error);
        // A file that ends too soon is told only by the latter.
        if (got < 0 || (got == 0 && error != Z_OK && error != Z_STREAM_END))
            throw BadData(std::string(why) + ": check the path");
        return static_cast<std::size_t>(got);
    }
    [[nodiscard]] std::uint64_t packed() const override {
        return static_cast<std::uint64_t>(std::max<z_off_t>(0, gzoffset(file_.get())));
    }

private:
    std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

class XzSource : public ByteSource {
public:
    explicit XzSource(RegularFile& file) : packed_(file) {
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
    [[nodiscard]] std::uint64_t packed() const override { return packed_.packed(); }

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
            case LZMA_MEMLIMIT_ERROR: throw BadData("unpacking it takes more than 128 MiB of memory: check the path");
            case LZMA_FORMAT_ERROR: throw BadData("it is no xz file: check the path");
            case LZMA_BUF_ERROR: throw BadData("it ends too soon: check the path");
            default: throw BadData("it is damaged: check the path");
        }
    }

    PlainSource packed_;
    lzma_stream stream_ = LZMA_STREAM_INIT;
    std::vector<char> input_ = std::vector<char>(std::size_t{1} << 16);
    bool last_ = false, ended_ = false;
};

std::unique_ptr<ByteSource> source_of(RegularFile& file, const std::filesystem::path& path) {
    if (path.extension() == ".gz") return std::make_unique<GzipSource>(file);
    if (path.extension() == kPacked) return std::make_unique<XzSource>(file);
    return std::make_unique<PlainSource>(file);
}

/// The bytes of a regular file, unpacked, within the limits of records. Its errors name the file.
class BoundedBytes {
public:
    explicit BoundedBytes(const std::filesystem::path& path) try
        : path_(path), file_(path), source_(source_of(file_, path)) {
        if (file_.bytes() > RecordLimits::kBytes) refuse_size();
    } catch (const BadData& error) {
        refuse(path, error.what());
    }

    /// 0 at the end.
    std::size_t read(std::span<char> chunk) try {
        const std::size_t got = source_->read(chunk);
        total_ += got;
        if (total_ > RecordLimits::kBytes) refuse_size();
        if (total_ > RecordLimits::kPadding + RecordLimits::kRatio * source_->packed())
            throw BadData("it unpacks to over " + std::to_string(RecordLimits::kRatio) +
                          " times its size, as no records do: check the path");
        return got;
    } catch (const BadData& error) {
        refuse(path_, error.what());
    }

    [[noreturn]] static void refuse(const std::filesystem::path& path, const std::string& why) {
        throw BadData("cannot read " + path.string() + ": " + why);
    }

private:
    [[noreturn]] static void refuse_size() {
        throw BadData("it holds more than " + std::to_string(RecordLimits::kBytes >> 30) +
                      " GiB: split it, every line is a record of its own");
    }

    const std::filesystem::path& path_;
    RegularFile file_;
    std::unique_ptr<ByteSource> source_;
    std::uint64_t total_ = 0;
};

}  // namespace

void for_each_line(const std::filesystem::path& path, const std::function<void(const Line&)>& visit,
                   std::size_t longest) {
    BoundedBytes source(path);
    std::vector<char> chunk(std::size_t{1} << 16);
    std::size_t lines = 0;
    Line line;
    while (const std::size_t got = source.read(chunk)) {
        const char* at = chunk.data();
        const char* const end = at + got;
        while (at != end) {
            const void* const found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
            const char* const newline = found ? static_cast<const char*>(found) : end;
            extend(line, at, static_cast<std::size_t>(newline - at), longest);
            if (line.bytes > RecordLimits::kLine) BoundedBytes::refuse(path, kNoRecords);
            at = newline;
            if (newline == end) break;
            ++at;
            if (++lines > RecordLimits::kLines) BoundedBytes::refuse(path, kNoRecords);
            line.ended = true;
            visit(line);
            line = Line{.offset = line.offset + line.bytes + 1};
        }
    }
    if (line.bytes > 0) visit(line);
}

}  // namespace espalier::bench
