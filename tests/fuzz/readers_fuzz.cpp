// Fuzzing of what reads the users' files: images, tables, filters and seismic records. Any file may be refused with
// BadFile, whose message must be printable; nothing else may happen, in the time and memory that libFuzzer is given.
// The first byte of an input says which reader the rest is for. An empty folder of inputs is filled with seeds.

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "harness/apps/images/filter.hpp"
#include "harness/apps/images/image.hpp"
#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/byte_file.hpp"
#include "harness/apps/seismic/geometry.hpp"
#include "harness/apps/seismic/record.hpp"
#include "harness/apps/tables/scale.hpp"
#include "harness/apps/tables/table.hpp"
#include "harness/apps/tables/table_summary.hpp"
#include "harness/base/text/printable.hpp"
#include "tests/fuzz/reader_seeds.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

namespace fs = std::filesystem;
using namespace espalier::bench;
using fuzz::Reader;

void require(bool condition) {
    if (!condition) std::abort();
}

/// The folder that files are read from; gone with the process.
const fs::path& folder() {
    static const struct Folder {
        fs::path path;
        Folder() {
            std::string name = (fs::temp_directory_path() / "readers_fuzz-XXXXXX").string();
            require(mkdtemp(name.data()) != nullptr);
            path = name;
        }
        ~Folder() {
            std::error_code ignored;
            fs::remove_all(path, ignored);
        }
    } made;
    return made.path;
}

std::string file(const std::string& name, std::string_view content) {
    const fs::path path = folder() / name;
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return path.string();
}

void read_table(std::string_view content, const io::TableOptions& options) {
    const std::string path = file("table.csv", content);
    const io::Table table = io::read_table(path, options);
    for (const std::string& line : io::summary_of(path, table, 20)) require(line == printable(line, std::string::npos));
    require(table.numbers.empty() || table.numbers.size() == table.rows.size());
    // What was learnt from a file must suit the same file.
    io::TableReader reader(path, options, table.schema);
    io::Rows rows;
    while (reader.read(rows, 1000)) {
    }
    if (reader.schema().named == table.schema.named && reader.schema().has_label)
        require(rows.size() + 1 >= table.rows.size());
    const io::StandardScale scale(path, table.schema, table.rows);
    scale.apply(path, rows);
    for (const io::Number value : rows.attributes.all()) require(!std::isinf(value));
}

void read_pieces(seismic::Record& record) {
    constexpr std::int64_t kPiece = 512;
    std::vector<float> rows(static_cast<std::size_t>(record.receivers() * kPiece), NAN);
    for (const std::int64_t first : {std::int64_t{0}, record.samples() / 2, record.samples() - kPiece}) {
        record.read(first, kPiece, rows.data(), kPiece);
        for (const float value : rows) require(std::isfinite(value));
        if (record.silent(first, kPiece))
            for (const float value : rows) require(value == 0);
    }
    for (const std::string& note : record.notes()) require(note == printable(note, std::string::npos));
}

void read_record(const std::string& path, seismic::RecordOptions options) {
    options.receivers = fuzz::kReceivers;
    options.rate = options.format == "raw" ? 500 : 0;
    read_pieces(*seismic::open_record({path}, options));
    if (options.format != "miniseed") return;
    options.overlap = seismic::Overlap::first;
    options.names = {"R0", "R1", "R2"};
    options.fill_missing = true;
    read_pieces(*seismic::open_record({path}, options));
}

/// What was read can be written, in every format that has room for it.
void read_image(const std::string& path) {
    const io::Image image = io::read_image(path);
    require(image.pixels.size() == image.row_bytes() * static_cast<std::size_t>(image.height));
    if (image.pixels.size() > 100'000) return;
    std::vector<std::string> names{"written.png", "written.tif"};
    if (image.channels < 4 && std::max(image.width, image.height) < 65'500) names.emplace_back("written.jpg");
    for (const std::string& name : names) {
        io::write_image((folder() / name).string(), image);
        require(io::read_image((folder() / name).string()).width == image.width);
    }
}

/// The same bytes from a pipe, which tells no size. A pipe holds 64 KiB before anybody reads it.
class Pipe {
public:
    explicit Pipe(std::string_view content) {
        int ends[2];
        require(pipe(ends) == 0);
        require(write(ends[1], content.data(), content.size()) == static_cast<ssize_t>(content.size()));
        close(ends[1]);
        end_ = ends[0];
    }
    ~Pipe() { close(end_); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(end_); }

private:
    int end_;
};

/// A record may be refused for coming from a pipe, but in time.
void open_record(const std::string& path, const std::string& format) {
    seismic::RecordOptions options{.format = format};
    options.receivers = fuzz::kReceivers;
    read_pieces(*seismic::open_record({path}, options));
}

void read_bytes(const std::string& path) {
    io::ByteFile bytes(path);
    std::vector<std::uint8_t> buffer(1000);
    while (bytes.read(buffer) > 0) {
    }
}

void read(Reader reader, std::string_view content) {
    switch (reader) {
        case Reader::image: read_image(file("image", content)); break;
        case Reader::image_pipe: io::read_image(Pipe(content).path()); break;
        case Reader::table: read_table(content, {}); break;
        case Reader::targets:
            read_table(content, {.delimiter = ';', .decimal = ',', .numeric_label = true, .ignore_unknown = true});
            break;
        case Reader::amounts:
            read_table(content, {.thousands = ',',
                                 .comment = '#',
                                 .numeric = {"1"},
                                 .ignored = {"note"},
                                 .ignored_elsewhere = true,
                                 .unheard_labels = true});
            break;
        case Reader::arff: read_table(content, {.format_of_file = io::TableOptions::Format::arff}); break;
        case Reader::libsvm:
            read_table(content, {.format_of_file = io::TableOptions::Format::libsvm, .max_bytes = 64 << 20});
            break;
        case Reader::table_pipe:
            static_cast<void>(io::read_table(Pipe(content).path(), {.max_bytes = 64 << 20}));
            break;
        case Reader::filter_pipe: io::square_filter(Pipe(content).path()); break;
        case Reader::receivers_pipe: seismic::read_receivers(Pipe(content).path()); break;
        case Reader::segy_pipe: open_record(Pipe(content).path(), "segy"); break;
        case Reader::miniseed_pipe: open_record(Pipe(content).path(), "miniseed"); break;
        case Reader::bytes:
            read_bytes(file("bytes", content));
            read_bytes(Pipe(content).path());
            break;
        case Reader::filter: io::square_filter(file("filter.txt", content)); break;
        case Reader::receivers: seismic::read_receivers(file("receivers.csv", content)); break;
        case Reader::index: read_record(file("record.json", content), {}); break;
        case Reader::raw: read_record(file("record.f32", content), {.format = "raw"}); break;
        case Reader::segy: read_record(file("record.sgy", content), {.format = "segy"}); break;
        case Reader::miniseed: read_record(file("record.mseed", content), {.format = "miniseed"}); break;
        case Reader::count: break;
    }
}

void fill_if_empty(const fs::path& corpus) {
    if (!fs::is_directory(corpus) || !fs::is_empty(corpus)) return;
    int number = 0;
    for (const auto& [reader, content] : fuzz::seeds()) {
        std::ofstream seed(corpus / ("seed-" + std::to_string(number++)), std::ios::binary);
        seed << static_cast<char>(reader) << content;
    }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    for (int i = 1; i < *argc; ++i)
        if ((*argv)[i][0] != '-') fill_if_empty((*argv)[i]);
    // What an index lists.
    for (const char* name : {"a.f32", "b.f32"}) file(name, std::string(fuzz::kReceivers * fuzz::kSamples * 4, '\0'));
    return 0;
}

/// Mutations of a PNG and of miniSEED 3 would end at the checksums, which are made right in every other one.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    size = LLVMFuzzerMutate(data, size, max_size);
    if (seed % 2 == 0 && size > 1) fuzz::correct_checksums({data + 1, size - 1});
    return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto reader = static_cast<Reader>(data[0] % static_cast<unsigned>(Reader::count));
    try {
        read(reader, {reinterpret_cast<const char*>(data) + 1, size - 1});
    } catch (const io::BadFile& error) {
        require(std::string(error.what()) == printable(error.what(), std::string::npos));
    }
    return 0;
}
