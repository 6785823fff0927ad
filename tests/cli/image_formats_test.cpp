// Images as people have them: of every format, through every kind of pipe, with what they say beside their pixels.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cstdio>
#include <cstring>
// jpeglib.h needs <cstdio>'s FILE before it.
#include <jpeglib.h>
#include <tiffio.h>

#include <nlohmann/json.hpp>

#include "harness/apps/images/image.hpp"
#include "harness/apps/images/image_metadata.hpp"
#include "harness/apps/io/bad_file.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench::io {
namespace {

Image noise(std::int64_t width, std::int64_t height, int channels) {
    Image image{width, height, channels, {}};
    for (std::size_t i = 0; i < image.row_bytes() * static_cast<std::size_t>(height); ++i)
        image.pixels.push_back(static_cast<std::uint8_t>((i * i * 37 + i / 11) % 253));
    return image;
}

/// A profile's bytes need not make sense: they are kept as they are.
std::string profile() {
    std::string bytes(70'000, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i % 251);
    return bytes;
}

Image with_metadata(Image image) {
    image.metadata.icc = profile();
    image.metadata.exif = exif_of_orientation(6) + "the rest of it";
    image.metadata.resolution = {300, 150, Resolution::Unit::inch};
    return image;
}

class ImageFormats : public testing::Test {
protected:
    [[nodiscard]] Finished convolve(const std::string& arguments, const std::string& before = {},
                                    const std::string& input = "</dev/null") const {
        return run_espalier(folder, "convolve " + arguments, before, input);
    }

    TemporaryFolder folder;
    std::string identity = " --kernel " + quoted(folder.file("id.txt", "0 0 0\n0 1 0\n0 0 0\n")) + " ";
};

class ImagePipes : public ImageFormats, public testing::WithParamInterface<const char*> {};

TEST_P(ImagePipes, EveryPipeGivesWhatTheFileGives) {
    const std::string in = folder / (std::string("in") + GetParam());
    write_image(in, noise(640, 480, std::string(GetParam()) == ".pgm" ? 1 : 3));
    ASSERT_EQ(convolve("--quiet " + quoted(in) + " " + quoted(folder / "file.png")).code, 0);
    const std::string expected = read_bytes(folder / "file.png");
    const std::string cat = "cat " + quoted(in), output = " " + quoted(folder / "pipe.png");
    ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
    struct Way {
        std::string input, before, redirected;
    };
    // The fifth way has a writer that takes its time.
    for (const auto& [input, before, redirected] :
         {Way{"-", cat + " | ", ""}, Way{"/dev/stdin", cat + " | ", ""}, Way{"-", "", "<" + quoted(in)},
          Way{folder / "fifo", cat + " >" + quoted(folder / "fifo") + " & ", "</dev/null"},
          Way{"-", "(head -c 100 " + quoted(in) + "; sleep 0.1; tail -c +101 " + quoted(in) + ") | ", ""}}) {
        std::filesystem::remove(folder / "pipe.png");
        const auto run = convolve("--quiet " + quoted(input) + output, before, redirected);
        EXPECT_EQ(run.code, 0) << input << before << run.err;
        EXPECT_EQ(read_bytes(folder / "pipe.png"), expected) << input << before;
    }
    const auto cut = convolve("--quiet -" + output, "head -c 5000 " + quoted(in) + " | ", "");
    EXPECT_EQ(cut.code, 4);
    expect_holds(cut.err, {"standard input: ", "get the whole file again"});
}

INSTANTIATE_TEST_SUITE_P(Formats, ImagePipes, testing::Values(".png", ".jpg", ".tif", ".ppm", ".pgm"),
                         [](const auto& format) { return std::string(format.param).substr(1); });

TEST_F(ImageFormats, InterlacedAndProgressiveImagesComeThroughPipes) {
    // Both need the whole image in memory before the first row is known.
    Image image = noise(640, 480, 3);
    image.metadata.jpeg.emplace().progressive = true;
    image.metadata.jpeg->sampling = {{{2, 2}, {1, 1}, {1, 1}}};
    write_image(folder / "a.jpg", image);
    ASSERT_NE(read_bytes(folder / "a.jpg").find("\xFF\xC2"), std::string::npos) << "not progressive";
    ASSERT_EQ(convolve("--quiet " + quoted(folder / "a.jpg") + " " + quoted(folder / "file.png")).code, 0);
    const auto run =
        convolve("--quiet - " + quoted(folder / "pipe.png"), "cat " + quoted(folder / "a.jpg") + " | ", "");
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(read_bytes(folder / "pipe.png"), read_bytes(folder / "file.png"));
}

TEST_F(ImageFormats, OrientationProfileAndResolutionAreKept) {
    for (const char* from : {"in.jpg", "in.png", "in.tif"}) {
        write_image(folder / from, with_metadata(noise(64, 48, 3)));
        for (const char* to : {"out.jpg", "out.png", "out.tif"}) {
            const auto run = convolve("--quiet " + quoted(folder / from) + " " + quoted(folder / to));
            ASSERT_EQ(run.code, 0) << run.err;
            const ImageMetadata kept = read_image(folder / to).metadata;
            EXPECT_EQ(orientation_of(kept.exif), 6) << from << " " << to;
            EXPECT_EQ(kept.icc, profile()) << from << " " << to;
            const Resolution resolution = in_unit(kept.resolution, Resolution::Unit::inch);
            EXPECT_NEAR(resolution.x, 300, 0.02) << from << " " << to;
            EXPECT_NEAR(resolution.y, 150, 0.02) << from << " " << to;
            const bool tiff = std::string(from) == "in.tif" || std::string(to) == "out.tif";
            if (!tiff) {
                EXPECT_EQ(kept.exif, exif_of_orientation(6) + "the rest of it") << from << " " << to;
            }
        }
    }
    const auto lost = convolve(quoted(folder / "in.jpg") + " " + quoted(folder / "out.ppm"));
    EXPECT_EQ(lost.code, 0);
    expect_holds(lost.err, {"out.ppm: PGM and PPM hold no orientation, colour profile or resolution"});
    expect_holds(convolve(quoted(folder / "in.jpg") + " " + quoted(folder / "out.tif")).err,
                 {"out.tif: of its EXIF data a TIFF keeps the orientation alone"});
}

TEST_F(ImageFormats, PixelsPerCentimetreAndShapesOfPixelsAreKept) {
    for (const auto& [unit, x] : {std::pair{Resolution::Unit::centimetre, 118.0}, {Resolution::Unit::none, 2.0}})
        for (const char* name : {"a.jpg", "a.png", "a.tif"}) {
            Image image = noise(16, 16, 1);
            image.metadata.resolution = {x, 1, unit};
            write_image(folder / name, image);
            const Resolution kept = read_image(folder / name).metadata.resolution;
            EXPECT_EQ(kept.unit == Resolution::Unit::none, unit == Resolution::Unit::none) << name;
            EXPECT_NEAR(in_unit(kept, unit).x, x, 0.01) << name;
        }
}

TEST_F(ImageFormats, WhatAPngSaysOfItsColoursIsKept) {
    Image image = noise(16, 16, 3);
    image.metadata.png_chunks = {{"gAMA", std::string("\0\0\xB1\x8F", 4)}, {"sRGB", std::string(1, '\0')}};
    write_image(folder / "in.png", image);
    ASSERT_EQ(convolve("--quiet " + quoted(folder / "in.png") + " " + quoted(folder / "out.png")).code, 0);
    EXPECT_EQ(read_image(folder / "out.png").metadata.png_chunks, image.metadata.png_chunks);
}

TEST_F(ImageFormats, GreyWithAlphaStaysGrey) {
    Image image{20, 10, 4, {}};
    for (int i = 0; i < 200; ++i)
        for (const int value : {i, i, i, 255 - i}) image.pixels.push_back(static_cast<std::uint8_t>(value));
    image.grey_alpha = true;
    for (const char* name : {"in.png", "in.tif"}) {
        write_image(folder / name, image);
        ASSERT_EQ(convolve("--quiet" + identity + quoted(folder / name) + " " + quoted(folder / "out.png")).code, 0);
        const Image result = read_image(folder / "out.png");
        EXPECT_TRUE(result.grey_alpha) << name;
        EXPECT_EQ(result.pixels, image.pixels) << name;
        EXPECT_EQ(read_bytes(folder / "out.png")[25], 4) << name;  // the colour type of grey with alpha
    }
}

/// Writes a JPEG of 64 x 64 by libjpeg itself: of noise, or of one value.
template <class Choose>
void write_raw_jpeg(const std::string& path, Choose&& choose, int value = -1) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    std::FILE* file = std::fopen(path.c_str(), "wb");
    jpeg_stdio_dest(&info, file);
    info.image_width = info.image_height = 64;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    choose(info);
    jpeg_start_compress(&info, TRUE);
    Image row = noise(info.image_width, 1, info.input_components);
    while (info.next_scanline < info.image_height) {
        for (std::size_t i = 0; i < row.pixels.size(); ++i)
            row.pixels[i] = static_cast<std::uint8_t>(value < 0 ? row.pixels[i] + i % 7 : static_cast<unsigned>(value));
        auto* values = row.pixels.data();
        jpeg_write_scanlines(&info, &values, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::fclose(file);
}

TEST_F(ImageFormats, JpegsAreCompressedAsTheyWere) {
    const std::string files = quoted(folder / "in.jpg") + " " + quoted(folder / "out.jpg");
    for (const int quality : {35, 71, 98})
        for (const auto& [across, down] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
            write_raw_jpeg(folder / "in.jpg", [&, h = across, v = down](jpeg_compress_struct& info) {
                jpeg_set_quality(&info, quality, TRUE);
                info.comp_info[0].h_samp_factor = h;
                info.comp_info[0].v_samp_factor = v;
                if (quality == 71) jpeg_simple_progression(&info);
            });
            ASSERT_EQ(convolve("--quiet " + files).code, 0);
            const auto in = read_image(folder / "in.jpg").metadata.jpeg,
                       out = read_image(folder / "out.jpg").metadata.jpeg;
            ASSERT_TRUE(in && out);
            EXPECT_EQ(out->tables, in->tables);
            EXPECT_EQ(out->sampling, in->sampling);
            EXPECT_EQ(out->progressive, quality == 71);
            ASSERT_EQ(convolve("--quiet --quality 50 --subsampling 4:2:2 " + files).code, 0);
            const auto said = read_image(folder / "out.jpg").metadata.jpeg;
            EXPECT_EQ((*said->tables[0])[0], 16);  // the standard's table is that of quality 50
            EXPECT_EQ(said->sampling[0], (std::pair{2, 1}));
        }
    write_image(folder / "in.png", noise(64, 48, 3));
    ASSERT_EQ(convolve("--quiet " + quoted(folder / "in.png") + " " + quoted(folder / "out.jpg")).code, 0);
    EXPECT_EQ((*read_image(folder / "out.jpg").metadata.jpeg->tables[0])[0], 2);  // 95
}

TEST_F(ImageFormats, JpegsOfOtherKindsAreNamed) {
    const auto refusal = [&](const std::string& content) {
        const auto run = convolve(quoted(folder.file("a.jpg", content)) + " " + quoted(folder / "out.png"));
        EXPECT_EQ(run.code, 4);
        return run.err;
    };
    write_image(folder / "huffman.jpg", noise(64, 48, 3));
    const std::string whole = read_bytes(folder / "huffman.jpg");
    const std::size_t frame = whole.find("\xFF\xC0");
    ASSERT_NE(frame, std::string::npos);
    for (const auto& [marker, name] : {std::pair{0xC3, "is a lossless JPEG"},
                                       {0xC5, "is a hierarchical JPEG"},
                                       {0xC7, "is a lossless hierarchical JPEG"},
                                       {0xCB, "is a lossless arithmetic-coded JPEG"},
                                       {0xF7, "is a lossless JPEG-LS"}}) {
        std::string other = whole;
        other[frame + 1] = static_cast<char>(marker);
        expect_holds(refusal(other), {"a.jpg: ", name, "convert it to"});
    }
    std::string twelve = whole;
    twelve[frame + 1] = '\xC1';
    twelve[frame + 4] = 12;
    expect_holds(refusal(twelve), {"is a JPEG of 12 bits a channel, not 8"});
    write_raw_jpeg(folder / "cmyk.jpg", [](jpeg_compress_struct& info) {
        info.input_components = 4;
        info.in_color_space = JCS_CMYK;
        jpeg_set_defaults(&info);
    });
    expect_holds(refusal(read_bytes(folder / "cmyk.jpg")), {"is a CMYK JPEG", "convert it to RGB"});
}

TEST_F(ImageFormats, ArithmeticCodedJpegsAreReadWhereLibjpegDoes) {
#if defined(C_ARITH_CODING_SUPPORTED) && defined(D_ARITH_CODING_SUPPORTED)
    write_raw_jpeg(folder / "huffman.jpg", [](jpeg_compress_struct&) {});
    write_raw_jpeg(folder / "a.jpg", [](jpeg_compress_struct& info) { info.arith_code = TRUE; });
    EXPECT_EQ(read_image(folder / "a.jpg").pixels, read_image(folder / "huffman.jpg").pixels);
    const std::string whole = read_bytes(folder / "a.jpg");
    const auto message = [&](const std::string& content) {
        return message_of<BadFile>([&] { read_image(folder.file("bad.jpg", content)); });
    };
    expect_holds(message(whole.substr(0, whole.size() / 2)), {"is an arithmetic-coded JPEG", "jpegtran"});
    // One colour takes nearly nothing: far less than a bit for each block, which no Huffman code does.
    for (const auto& [side, read] : {std::pair{4000, true}, {5000, false}}) {
        write_raw_jpeg(
            folder / "flat.jpg",
            [side = side](jpeg_compress_struct& info) {
                info.arith_code = TRUE;
                info.image_width = info.image_height = static_cast<JDIMENSION>(side);
            },
            200);
        ASSERT_LT(std::filesystem::file_size(folder / "flat.jpg"), 20'000U);
        if (read) {
            EXPECT_EQ(read_image(folder / "flat.jpg").pixels, std::vector<std::uint8_t>(48'000'000, 200));
        } else {
            expect_holds(message_of<BadFile>([&] { read_image(folder / "flat.jpg"); }),
                         {"is an arithmetic-coded JPEG of 5000 x 5000 pixels in ", "jpegtran"});
        }
    }
#else
    GTEST_SKIP() << "this libjpeg codes Huffman alone";
#endif
}

TEST_F(ImageFormats, ImagesOfOtherFormatsAreNamed) {
    for (const auto& [content, name] : {std::pair{std::string("GIF89a......................"), "GIF"},
                                        {std::string("BM......................"), "BMP"},
                                        {std::string("RIFF....WEBPVP8 ............"), "WebP"},
                                        {std::string("\0\0\0\x18"
                                                     "ftypheic........",
                                                     16),
                                         "HEIC"},
                                        {std::string("\0\0\0\x1C"
                                                     "ftypavif........",
                                                     16),
                                         "AVIF"},
                                        {std::string("\0\0\0\x0CjP  \r\n\x87\n........", 20), "JPEG 2000"},
                                        {std::string("\xFF\x0A............"), "JPEG XL"},
                                        {std::string("P4\n8 8\n........"), "PBM"},
                                        {std::string("P7\nWIDTH 8\n"), "PAM"}}) {
        const auto run = convolve(quoted(folder.file("image", content)) + " " + quoted(folder / "out.png"));
        EXPECT_EQ(run.code, 4) << name;
        expect_holds(run.err, {"image: is a ", name, "convert it to JPEG, PNG, TIFF, PGM or PPM"});
    }
    EXPECT_THROW(read_image(folder.file("table.csv", "P5,P6\n1,2\n")), BadFile);
}

TEST_F(ImageFormats, SixteenBitsAreRoundedToNearest) {
    // Every value, as PGM, whose raw values have the most significant byte first.
    std::string pgm = "P5\n256 256\n65535\n";
    for (int value = 0; value < 65536; ++value) {
        pgm += static_cast<char>(value >> 8);
        pgm += static_cast<char>(value);
    }
    std::vector<std::uint8_t> wanted;
    for (int value = 0; value < 65536; ++value)
        wanted.push_back(static_cast<std::uint8_t>(std::lround(value * 255.0 / 65535.0)));
    const Image image = read_image(folder.file("deep.pgm", pgm));
    EXPECT_EQ(image.pixels, wanted);
    const auto run = convolve(identity + quoted(folder / "deep.pgm") + " " + quoted(folder / "out.pgm"));
    expect_holds(run.err, {"deep.pgm: 16 bits a channel were rounded to 8"});
    EXPECT_EQ(read_image(folder / "out.pgm").pixels, wanted);
}

TEST_F(ImageFormats, PlainAndRawMapsAreRead) {
    const std::vector<std::uint8_t> six{0, 17, 255, 128, 3, 9};
    EXPECT_EQ(read_image(folder.file("a.pgm", "P2 # plain\n3 2\n255\n0 17 255\n128 3 9\n")).pixels, six);
    EXPECT_EQ(read_image(folder.file("a.ppm", "P3\n# two pixels\n2 1\n255\n0 17 255  128 3 9")).pixels, six);
    EXPECT_EQ(read_image(folder.file("b.ppm", std::string("P6 2 1 255\n\0\x11\xFF\x80\x03\x09", 17))).pixels, six);
    EXPECT_EQ(read_image(folder.file("c.pgm", "P2 3 1 15 0 7 15")).pixels, (std::vector<std::uint8_t>{0, 119, 255}));
    const auto message = [&](const std::string& content) {
        return message_of<BadFile>([&] { read_image(folder.file("bad.pgm", content)); });
    };
    expect_holds(message("P5 3 2 255\nabc"), {"cut off or damaged", "get the whole file again"});
    expect_holds(message("P2 3 1 255\n1 2"), {"cut off"});
    expect_holds(message("P2 3 1 9\n1 2 10"), {"a value is 10, more than its largest, 9"});
    expect_holds(message("P2 3 1 9\n1 x 3"), {"is no whole number"});
    expect_holds(message("P5 3 1 0\nabc"), {"its largest value is 0"});
    expect_holds(message("P5 3 1 70000\nabc"), {"largest value is more than 65535"});
    expect_holds(message("P5 3 0 255\nabc"), {"has no pixels"});
    expect_holds(message("P5 3 1 255\nabcd"), {"goes on after its pixels"});
    expect_holds(message("P5 2000000000 2000000000 255\nabcd"), {"--max-image"});
    expect_holds(message("P6 300000000 1 255\nabcd"), {"300000000 x 1", "bytes can hold"});
}

/// Writes a TIFF by libtiff itself: `set` says how, `rows` are its rows or tiles as they are stored.
template <class Set>
void write_raw_tiff(const std::string& path, std::uint32_t width, const std::vector<std::vector<std::uint8_t>>& rows,
                    Set&& set) {
    TIFF* tiff = TIFFOpen(path.c_str(), "w");
    ASSERT_NE(tiff, nullptr);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(rows.size()));
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    set(tiff);
    for (std::size_t y = 0; y < rows.size(); ++y) {
        auto row = rows[y];
        TIFFWriteScanline(tiff, row.data(), static_cast<std::uint32_t>(y), 0);
    }
    TIFFClose(tiff);
}

TEST_F(ImageFormats, TiffsOfEveryUsualKindAreRead) {
    const auto pixels = [&] { return read_image(folder / "a.tif").pixels; };
    using Bytes = std::vector<std::uint8_t>;
    write_raw_tiff(folder / "a.tif", 3, {{0, 17, 255}, {1, 2, 3}}, [](TIFF* tiff) {
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_PACKBITS);
    });
    EXPECT_EQ(pixels(), (Bytes{255, 238, 0, 254, 253, 252}));
    write_raw_tiff(folder / "a.tif", 4, {{0xA0}, {0x50}},
                   [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 1); });
    EXPECT_EQ(pixels(), (Bytes{255, 0, 255, 0, 0, 255, 0, 255}));
    write_raw_tiff(folder / "a.tif", 3, {{0x1F, 0x80}},
                   [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 4); });
    EXPECT_EQ(pixels(), (Bytes{17, 255, 136}));
    const std::uint16_t deep[2] = {65535, 129};
    Bytes stored(4);
    std::memcpy(stored.data(), deep, 4);
    write_raw_tiff(folder / "a.tif", 2, {stored}, [](TIFF* tiff) {
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    });
    EXPECT_EQ(pixels(), (Bytes{255, 1}));
    std::uint16_t map[3][256] = {};
    for (int i = 0; i < 256; ++i) {
        map[0][i] = static_cast<std::uint16_t>(i * 257);
        map[1][i] = static_cast<std::uint16_t>((255 - i) * 257);
        map[2][i] = 257;
    }
    write_raw_tiff(folder / "a.tif", 2, {{7, 200}}, [&](TIFF* tiff) {
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE);
        TIFFSetField(tiff, TIFFTAG_COLORMAP, map[0], map[1], map[2]);
    });
    EXPECT_EQ(pixels(), (Bytes{7, 248, 1, 200, 55, 1}));
    // Colours that were multiplied by alpha.
    const std::uint16_t associated = EXTRASAMPLE_ASSOCALPHA;
    write_raw_tiff(folder / "a.tif", 2, {{100, 50, 0, 128, 0, 0, 0, 0}}, [&](TIFF* tiff) {
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 4);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &associated);
    });
    EXPECT_EQ(pixels(), (Bytes{199, 100, 0, 128, 0, 0, 0, 0}));
}

TEST_F(ImageFormats, TilesAndPlanesOfTiffsAreRead) {
    // 20 x 18 of RGB in tiles of 16 x 16, plane by plane.
    const Image image = noise(20, 18, 3);
    TIFF* tiff = TIFFOpen((folder / "a.tif").c_str(), "w");
    ASSERT_NE(tiff, nullptr);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 20);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 18);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_SEPARATE);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
    for (std::uint16_t plane = 0; plane < 3; ++plane)
        for (std::uint32_t y = 0; y < 18; y += 16)
            for (std::uint32_t x = 0; x < 20; x += 16) {
                std::vector<std::uint8_t> tile(256);
                for (std::uint32_t i = 0; i < 256; ++i)
                    if (x + i % 16 < 20 && y + i / 16 < 18)
                        tile[i] = image.pixels[((y + i / 16) * 20 + x + i % 16) * 3 + plane];
                TIFFWriteTile(tiff, tile.data(), x, y, 0, plane);
            }
    TIFFClose(tiff);
    EXPECT_EQ(read_image(folder / "a.tif").pixels, image.pixels);
    const std::string whole = read_bytes(folder / "a.tif");
    for (std::size_t size = 0; size < whole.size(); size += 7)
        EXPECT_THROW(read_image(folder.file("cut.tif", whole.substr(0, size))), BadFile) << size << " bytes";
}

TEST_F(ImageFormats, TiffsOfOtherKindsAreNamed) {
    const auto message = [&] { return message_of<BadFile>([&] { read_image(folder / "a.tif"); }); };
    write_raw_tiff(folder / "a.tif", 1, {{1, 2, 3, 4}}, [](TIFF* tiff) {
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 4);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_SEPARATED);
    });
    expect_holds(message(), {"a.tif: is a CMYK TIFF", "convert"});
    write_raw_tiff(folder / "a.tif", 1, {{0, 0, 0, 0}}, [](TIFF* tiff) {
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 32);
        TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    });
    expect_holds(message(), {"is a TIFF of 32-bit floating-point values"});
    write_raw_tiff(folder / "a.tif", 8, {{0}}, [](TIFF* tiff) {
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 1);
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4);
    });
    expect_holds(message(), {"compressed by method 4"});
    write_raw_tiff(folder / "a.tif", 1, {{0}},
                   [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE); });
    expect_holds(message(), {"begins with a thumbnail", "raw files"});
    write_raw_tiff(folder / "a.tif", 1, {{0}}, [](TIFF*) {});
    TIFF* more = TIFFOpen((folder / "a.tif").c_str(), "a");
    TIFFSetField(more, TIFFTAG_IMAGEWIDTH, 1);
    TIFFSetField(more, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(more, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(more, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    std::uint8_t white = 255;
    TIFFWriteScanline(more, &white, 0, 0);
    TIFFClose(more);
    expect_holds(message(), {"has more than one page"});
}

TEST_F(ImageFormats, BombsInPipesAreRefusedBeforeTheyTakeMemory) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer needs more address space than the limit of this test";
#endif
    write_image(folder / "a.tif", noise(8, 8, 1));
    std::string tiff = read_bytes(folder / "a.tif");
    for (const char tag : {'\0', '\1'})  // 0x0100 and 0x0101: width and height, entries of 12 bytes
        if (const auto at = tiff.find(std::string{tag, '\1', '\3', '\0', '\1', '\0', '\0', '\0'});
            at != std::string::npos)
            tiff.replace(at + 8, 2, "\x30\x75");  // 30,000
    write_image(folder / "a.jpg", noise(64, 48, 3));
    std::string jpeg = read_bytes(folder / "a.jpg");
    jpeg.replace(jpeg.find("\xFF\xC0") + 5, 4, "\x23\x28\x75\x30", 4);  // 30,000 x 9,000
    for (const std::string& bomb : {tiff, jpeg, std::string("P5 30000 30000 255\nabc")}) {
        const auto run = convolve("- " + quoted(folder / "out.png"),
                                  "ulimit -v 600000; cat " + quoted(folder.file("bomb", bomb)) + " | ", "");
        EXPECT_EQ(run.code, 4);
        expect_holds(run.err, {"standard input: declares 30000 x ", "bytes can hold"});
    }
}

TEST(ImageMetadata, OrientationsOfBothByteOrdersAreFound) {
    for (int orientation = 1; orientation <= 8; ++orientation)
        EXPECT_EQ(orientation_of(exif_of_orientation(orientation)), orientation);
    const std::string little(
        "II*\0\x08\0\0\0\x02\0\x0F\x01\x02\0\x01\0\0\0A\0\0\0\x12\x01\x03\0\x01\0\0\0\x08\0\0\0\0\0\0\0", 38);
    EXPECT_EQ(orientation_of(little), 8);
    for (std::size_t size = 0; size < little.size(); ++size)
        EXPECT_LE(orientation_of(std::string_view(little).substr(0, size)), 8);
    EXPECT_EQ(orientation_of(exif_of_orientation(9)), kUpright);
    EXPECT_EQ(orientation_of("nothing of the kind"), kUpright);
}

}  // namespace
}  // namespace espalier::bench::io
