#include "tests/fuzz/reader_seeds.hpp"

#include <segyio/segy.h>
#include <stdlib.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/apps/images/image.hpp"
#include "harness/apps/images/image_metadata.hpp"
#include "tests/support/seismic_files.hpp"

namespace espalier::bench::fuzz {
namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::pair<Reader, std::string>>;

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void add_images(Seeds& seeds, const fs::path& folder) {
    for (const auto& [name, channels] : {std::pair{"a.png", 1},
                                         {"b.png", 4},
                                         {"c.jpg", 1},
                                         {"d.jpg", 3},
                                         {"e.tif", 1},
                                         {"f.tif", 4},
                                         {"g.pgm", 1},
                                         {"h.ppm", 3}}) {
        io::Image image{19, 11, channels, {}};
        image.metadata.exif = io::exif_of_orientation(6);
        image.metadata.icc = "a profile";
        image.metadata.resolution = {300, 300, io::Resolution::Unit::inch};
        for (std::size_t i = 0; i < image.row_bytes() * 11; ++i)
            image.pixels.push_back(static_cast<std::uint8_t>(i * 7));
        io::write_image((folder / name).string(), image);
        for (const Reader reader : {Reader::image, Reader::image_pipe})
            seeds.emplace_back(reader, bytes_of(folder / name));
    }
    seeds.emplace_back(Reader::image, "P3\n# plain\n2 2\n15\n0 1 2 3 4 5 6 7 8 9 10 11\n");
}

void add_tables(Seeds& seeds, const fs::path& folder) {
    const std::string weather =
        "temperature,sky,play\n21.5,sunny,yes\n?,\"ra,in\",no\n18,N/A,yes\n+3e1,,no\nnan,\"a "
        "\"\"b\"\"\",yes\n-,fog,no\n";
    const std::string path = (folder / "a.gz").string();
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, weather.data(), static_cast<unsigned>(weather.size()));
    gzclose(file);
    for (const std::string& text :
         {weather, bytes_of(path), std::string("3,2,setosa,versicolor\n5,3,1\n6,2,0\n7,1,1\n"),
          std::string("region,2019,2020,y\r\n\"x\ny\",3,4,p\r\n2,5,6,q\r\n"), std::string("1,2,x\n3,4,y\n")})
        seeds.emplace_back(Reader::table, text);
    for (const char* text :
         {"a,b,y\r1,1e400,p\r\n8,0.0,q", "sep=;\na;b\n1.0;007\n1;7\n", "v,y\n\"1,200.5\",1\n$5,1.0\n12%,2\n",
          "id,when,y\n1,2024-12-31T23:59:59.5+01:00,\n2,31/12/2024,p\n",
          "a\xC2\xA0"
          "b,y\n7,9007199254740993\nx,2\n"})
        seeds.emplace_back(Reader::table, text);
    for (const char* text :
         {"v,note,y\n\"$1,200\",x,1\n# no row\n($5),y,1.0\n", "v,y\n2024-12-31,a\n1970-01-01T12:00,b\n",
          "v,y\n12:00,a\n23:59:60,\n", "v,y\n-12 kg,a\n7- kg,b\n"})
        seeds.emplace_back(Reader::amounts, text);
    for (const char* text :
         {"@relation r\n@attribute 'a b' numeric\n@attribute c {x, 'y z'}\n@attribute d date\n@attribute l {p,q}\n"
          "@data\n1.5,x,2024-12-31,p\n?,'y z',?,q\n-2e3,x,1970-01-01,p\n",
          "% sparse\n@RELATION r\n@ATTRIBUTE a real\n@ATTRIBUTE b integer\n@ATTRIBUTE l {p,q}\n@DATA\n{0 1.5, 2 q}\n"
          "{}\n{1 2,2 \"p\"}\n"})
        seeds.emplace_back(Reader::arff, text);
    for (const char* text : {"1 1:0.5 3:-2e1 # far\n-1 2:3\n1\n", "2.5 qid:1 1:1 2:2\n0 qid:1 2:1\n"})
        seeds.emplace_back(Reader::libsvm, text);
    seeds.emplace_back(Reader::bytes, "any bytes");
    for (const auto& [reader, content] : Seeds(seeds)) {  // those of pipes are the files'
        if (reader == Reader::table || reader == Reader::arff || reader == Reader::libsvm)
            seeds.emplace_back(Reader::table_pipe, content);
    }
    seeds.emplace_back(Reader::targets, "a;b;y\n12,8;1;0,5\n13;-;2\n-0,5;3;1e3\n");
    seeds.emplace_back(Reader::receivers, "name,x,y,z,weight\nR1,0,1,2,1\nR2,3.5,4,5,0.5\n\"R,3\",6,7,8,2\n");
    seeds.emplace_back(Reader::receivers, "X,station,Y,Z\n0,101,1,2\n3,102,4,5\n");
    seeds.emplace_back(Reader::receivers, "0,1,2\n3,4,5\n");
    seeds.emplace_back(Reader::receivers_pipe, "name,x,y,z\nR1,0,1,2\nR2,3.5,4,5\n");
    seeds.emplace_back(Reader::filter_pipe, "-1,0,1\r\n-2,0,2\r\n-1,0,1\r\n");
    seeds.emplace_back(Reader::filter, "-1,0,1\r\n-2,0,2\r\n-1,0,1\r\n");
    seeds.emplace_back(Reader::filter, "# sharper\n0 0,0;0\t0\n0 -1 -1 -1 0\n0 -1 9 -1 0\n0 -1 -1 -1 0\n0 0 0 0 0\n");
}

void add_raw(Seeds& seeds) {
    seeds.emplace_back(Reader::index,
                       R"({"schema": "espalier.record/1", "rate": 500, "receivers": 3, "receivers_file": "r.csv",
 "files": [{"name": "a.f32", "first_sample": 0, "samples": 100}, {"name": "b.f32", "first_sample": 150, "samples": 100}]})");
    std::string values(kReceivers * kSamples * 4, '\0');
    for (std::size_t i = 0; i < values.size() / 4; ++i) {
        const auto value = static_cast<float>(i);
        std::memcpy(values.data() + 4 * i, &value, 4);
    }
    seeds.emplace_back(Reader::raw, values);
}

void add_segy(Seeds& seeds, const fs::path& folder, int format) {
    const std::string path = (folder / "a.sgy").string();
    segy_file* file = segy_open(path.c_str(), "w+b");
    segy_write_textheader(file, 0, std::string(SEGY_TEXT_HEADER_SIZE, ' ').c_str());
    char binary[SEGY_BINARY_HEADER_SIZE] = {};
    segy_set_bfield(binary, SEGY_BIN_FORMAT, format);
    segy_set_bfield(binary, SEGY_BIN_SAMPLES, 20);
    segy_set_bfield(binary, SEGY_BIN_INTERVAL, 2000);
    segy_write_binheader(file, binary);
    segy_set_format(file, format);
    for (int r = 0; r < 2; ++r) {
        char header[SEGY_TRACE_HEADER_SIZE] = {};
        segy_set_field(header, SEGY_TR_SAMPLE_COUNT, 20);
        segy_set_field(header, SEGY_TR_SAMPLE_INTER, 2000);
        segy_set_field(header, SEGY_TR_YEAR_DATA_REC, 2024);
        segy_set_field(header, SEGY_TR_DAY_OF_YEAR, 60);
        segy_write_traceheader(file, r, header, segy_trace0(binary), segy_trsize(format, 20));
        std::array<char, 80> samples{};
        segy_writetrace(file, r, samples.data(), segy_trace0(binary), segy_trsize(format, 20));
    }
    segy_close(file);
    seeds.emplace_back(Reader::segy, bytes_of(path));
}

/// Delays, clocks across a year's end, a dead trace.
void add_segy_clocks(Seeds& seeds) {
    seismic_files::Segy file;
    const std::vector<float> values(20, 1.5F);
    file.traces = {{.values = values, .year = 2024, .day = 366, .hour = 23, .minute = 59, .second = 59, .delay = 30},
                   {.values = values, .year = 2025, .day = 1, .delay = -70, .scalar = -10},
                   {.values = values, .year = 2025, .day = 1, .kind = 2}};
    seeds.emplace_back(Reader::segy, segy_bytes(file));
}

/// Two stations in records of 256 bytes, a log, an overlap that agrees, blocks between them; of either byte order.
void add_miniseed(Seeds& seeds, int encoding, bool big_endian) {
    using seismic_files::miniseed2;
    std::string bytes;
    for (int part = 0; part < 3; ++part)
        bytes += miniseed2({.station = part == 1 ? "R1" : "R0",
                            .rate = 500,
                            .start = part / 2 * 60'000'000,
                            .values = seismic_files::whole_numbers(part % 2, part / 2 * 30'000, 40),
                            .encoding = encoding,
                            .big_endian = big_endian,
                            .record_bytes = 256});
    const std::string log =
        miniseed2({.channel = "LOG", .rate = 0, .values = {'o', 'k'}, .encoding = DE_ASCII, .record_bytes = 256});
    seeds.emplace_back(Reader::miniseed, bytes);
    seeds.emplace_back(Reader::miniseed,
                       "000007" + std::string(250, ' ') + bytes + log + "# text" + bytes.substr(256, 256));
}

void add_miniseed3(Seeds& seeds, int encoding) {
    using seismic_files::miniseed3;
    const auto values = seismic_files::whole_numbers(0, 0, 40);
    const std::string one = miniseed3({.values = values, .encoding = encoding}, "FDSN:XX_R0__H_H_Z");
    seeds.emplace_back(Reader::miniseed,
                       one +
                           miniseed3({.start = 300'000, .values = values, .encoding = encoding}, "FDSN:XX_R1__H_H_Z") +
                           "between" + one);
}

}  // namespace

Seeds seeds() {
    std::string name = (fs::temp_directory_path() / "reader_seeds-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    Seeds seeds;
    add_images(seeds, name);
    add_tables(seeds, name);
    add_raw(seeds);
    for (const int format : {SEGY_IBM_FLOAT_4_BYTE, SEGY_IEEE_FLOAT_4_BYTE, SEGY_SIGNED_SHORT_2_BYTE})
        add_segy(seeds, name, format);
    add_segy_clocks(seeds);
    for (const int encoding : {DE_INT32, DE_FLOAT32, DE_STEIM1, DE_STEIM2})
        for (const bool big_endian : {true, false}) add_miniseed(seeds, encoding, big_endian);
    for (const int encoding : {DE_INT16, DE_FLOAT64, DE_STEIM1, DE_STEIM2}) add_miniseed3(seeds, encoding);
    fs::remove_all(name);
    for (const auto& [reader, content] : Seeds(seeds)) {
        if (reader == Reader::segy) seeds.emplace_back(Reader::segy_pipe, content);
        if (reader == Reader::miniseed) seeds.emplace_back(Reader::miniseed_pipe, content);
    }
    return seeds;
}

namespace {

void correct_png(std::span<std::uint8_t> png) {
    constexpr std::array<std::uint8_t, 8> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    if (png.size() < 8 || !std::equal(kSignature.begin(), kSignature.end(), png.begin())) return;
    const auto at = [&](std::size_t i) { return static_cast<std::size_t>(png[i]); };
    for (std::size_t i = 8; i + 12 <= png.size();) {
        const std::size_t length = at(i) << 24 | at(i + 1) << 16 | at(i + 2) << 8 | at(i + 3);
        if (length > png.size() - i - 12) return;
        const auto sum = crc32(0, png.data() + i + 4, static_cast<uInt>(length + 4));
        i += 8 + length;
        for (int shift = 24; shift >= 0; shift -= 8) png[i++] = static_cast<std::uint8_t>(sum >> shift);
    }
}

/// Of the records of miniSEED 3 that follow each other from the file's begin on.
void correct_miniseed3(std::span<std::uint8_t> file) {
    constexpr std::size_t kHeader = 40;
    while (file.size() >= kHeader && file[0] == 'M' && file[1] == 'S' && file[2] == 3) {
        std::uint32_t payload = 0;
        std::memcpy(&payload, file.data() + 36, sizeof payload);
        const std::size_t bytes = kHeader + file[33] + file[34] + file[35] * 256U + payload;
        if (bytes > file.size()) return;
        std::string record(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes));
        seismic_files::seal(record);
        std::copy(record.begin(), record.end(), file.begin());
        file = file.subspan(bytes);
    }
}

}  // namespace

void correct_checksums(std::span<std::uint8_t> file) {
    correct_png(file);
    correct_miniseed3(file);
}

}  // namespace espalier::bench::fuzz
