// Images and filters: what is read is what was stored, and every bad file is refused whole, with a message
// that names the file and the fix.

#include <gtest/gtest.h>
#include <zlib.h>

#include <numeric>
#include <random>

#include "harness/apps/images/codecs.hpp"
#include "harness/apps/images/filter.hpp"
#include "harness/apps/images/image.hpp"
#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/io/memory.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::io {
namespace {

Image random_image(std::int64_t width, std::int64_t height, int channels) {
    Image image{width, height, channels, {}};
    image.pixels.resize(image.row_bytes() * static_cast<std::size_t>(height));
    std::mt19937 random(7);
    for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random());
    return image;
}

/// Smooth, as photographs are: JPEG keeps it nearly.
Image ramp(std::int64_t width, std::int64_t height, int channels) {
    Image image = random_image(width, height, channels);
    for (std::size_t i = 0; i < image.pixels.size(); ++i)
        image.pixels[i] = static_cast<std::uint8_t>(i / static_cast<std::size_t>(channels) % 64 + 90);
    return image;
}

std::string big_endian(std::uint32_t value) {
    return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
            static_cast<char>(value)};
}

std::string png_chunk(const std::string& type, const std::string& data) {
    const std::string body = type + data;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(static_cast<std::uint32_t>(crc));
}

std::string deflated(const std::string& data) {
    uLongf size = compressBound(data.size());
    std::string packed(size, '\0');
    compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(data.data()), data.size());
    packed.resize(size);
    return packed;
}

/// A PNG file put together by hand, for headers that our writer never writes.
std::string png(std::uint32_t width, std::uint32_t height, int depth, int colour, const std::string& scanlines,
                const std::string& before_data = {}) {
    const std::string header = big_endian(width) + big_endian(height) + static_cast<char>(depth) +
                               static_cast<char>(colour) + std::string(3, '\0');
    return "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", header) + before_data + png_chunk("IDAT", deflated(scanlines)) +
           png_chunk("IEND", "");
}

TEST(Image, PngKeepsEveryValue) {
    const TemporaryFolder folder;
    for (const int channels : {1, 3, 4})
        for (const auto& [width, height] : {std::pair{1, 1}, {1, 300}, {257, 1}, {33, 20}}) {
            const Image image = random_image(width, height, channels);
            write_image(folder / "a.png", image);
            const Image again = read_image(folder / "a.png");
            EXPECT_EQ(again.width, width);
            EXPECT_EQ(again.height, height);
            EXPECT_EQ(again.channels, channels);
            EXPECT_EQ(again.pixels, image.pixels);
        }
}

TEST(Image, JpegKeepsASmoothImageNearly) {
    const TemporaryFolder folder;
    for (const int channels : {1, 3}) {
        const Image image = ramp(64, 48, channels);
        write_image(folder / "a.JPG", image);
        const Image again = read_image(folder / "a.JPG");
        ASSERT_EQ(again.pixels.size(), image.pixels.size());
        for (std::size_t i = 0; i < image.pixels.size(); ++i)
            ASSERT_NEAR(again.pixels[i], image.pixels[i], 8) << "value " << i;
    }
}

TEST(Image, TheContentDecidesNotTheName) {
    const TemporaryFolder folder;
    write_image(folder / "a.png", ramp(5, 4, 3));
    std::filesystem::rename(folder / "a.png", folder / "a.jpg");
    EXPECT_EQ(read_image(folder / "a.jpg").pixels, ramp(5, 4, 3).pixels);
}

TEST(Image, PaletteFewBitsAndTransparencyAreExpanded) {
    const TemporaryFolder folder;
    // Two palette colours, pixels 1 0 1 in one bit each.
    const std::string palette = png_chunk("PLTE", std::string("\x0A\x14\x1E\xC8\xD2\xDC", 6));
    const auto coloured = read_image(folder.file("palette.png", png(3, 1, 1, 3, std::string("\0\xA0", 2), palette)));
    EXPECT_EQ(coloured.channels, 3);
    EXPECT_EQ(coloured.pixels, (std::vector<std::uint8_t>{200, 210, 220, 10, 20, 30, 200, 210, 220}));

    const auto grey = read_image(folder.file("grey2.png", png(4, 1, 2, 0, std::string("\0\x1B", 2))));
    EXPECT_EQ(grey.channels, 1);
    EXPECT_EQ(grey.pixels, (std::vector<std::uint8_t>{0, 85, 170, 255}));

    const auto alpha = read_image(folder.file("ga.png", png(1, 1, 8, 4, std::string("\0\x46\x80", 3))));
    EXPECT_EQ(alpha.channels, 4);
    EXPECT_EQ(alpha.pixels, (std::vector<std::uint8_t>{70, 70, 70, 128}));
}

TEST(Image, SixteenBitsOfAPngAreRoundedToNearest) {
    const TemporaryFolder folder;
    // Grey of 129 (0.50 steps of 257), 128 (0.498) and 65535; then one pixel of each value with alpha.
    const auto grey = read_image(folder.file("16.png", png(3, 1, 16, 0, std::string("\0\0\x81\0\x80\xFF\xFF", 7))));
    EXPECT_EQ(grey.pixels, (std::vector<std::uint8_t>{1, 0, 255}));
    EXPECT_EQ(grey.metadata.notes.size(), 1U);
    const auto alpha = read_image(folder.file("a.png", png(1, 1, 16, 4, std::string("\0\x80\0\x7F\xFF", 5))));
    EXPECT_EQ(alpha.pixels, (std::vector<std::uint8_t>{128, 128, 128, 127}));
}

TEST(Image, DamagedProfilesAreLeftOutAndNamed) {
    const TemporaryFolder folder;
    for (const std::string& chunk : {std::string("name\0\0no deflate", 17), std::string("no zero"), std::string(),
                                     std::string("name\0\0", 6) + deflated(std::string(40 << 20, '\0'))}) {
        const auto image =
            read_image(folder.file("a.png", png(1, 1, 8, 0, std::string("\0\x11", 2), png_chunk("iCCP", chunk))));
        EXPECT_EQ(image.pixels, std::vector<std::uint8_t>{0x11});
        EXPECT_TRUE(image.metadata.icc.empty());
        EXPECT_EQ(image.metadata.notes.size(), 1U);
    }
}

TEST(Image, EveryCutOfAPngIsRefused) {
    const TemporaryFolder folder;
    write_image(folder / "whole.png", random_image(20, 10, 3));
    const std::string whole = read_bytes(folder / "whole.png");
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_THROW(read_image(folder.file("cut.png", whole.substr(0, size))), BadFile) << size << " bytes";
    EXPECT_NO_THROW(read_image(folder.file("cut.png", whole)));
}

TEST(Image, EveryCutOfAJpegIsRefused) {
    const TemporaryFolder folder;
    write_image(folder / "whole.jpg", ramp(40, 24, 3));
    const std::string whole = read_bytes(folder / "whole.jpg");
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_THROW(read_image(folder.file("cut.jpg", whole.substr(0, size))), BadFile) << size << " bytes";
    expect_holds(message_of<BadFile>([&] { read_image(folder.file("cut.jpg", whole.substr(0, whole.size() - 40))); }),
                 {"cut.jpg: is cut off or damaged", "get the whole file again"});
    EXPECT_NO_THROW(read_image(folder.file("cut.jpg", whole)));
}

TEST(Image, DamageIsRefusedOrReadNeverACrash) {
    const TemporaryFolder folder;
    std::mt19937 random(3);
    for (const char* name : {"a.png", "a.jpg"}) {
        write_image(folder / name, ramp(40, 24, 3));
        const std::string whole = read_bytes(folder / name);
        int refused = 0;
        for (int i = 0; i < 300; ++i) {
            std::string bad = whole;
            bad[random() % bad.size()] ^= static_cast<char>(1U << random() % 8);
            try {
                read_image(folder.file("bad", bad));
            } catch (const BadFile&) {
                ++refused;
            }
        }
        EXPECT_GT(refused, 50) << name;
    }
}

TEST(Image, BadFilesAreNamedWithTheirFix) {
    const TemporaryFolder folder;
    const auto message = [](const std::string& path) { return message_of<BadFile>([&] { read_image(path); }); };
    expect_holds(message(folder / "none.jpg"), {"none.jpg: no such file; check the path"});
    expect_holds(message(folder.path().string()), {"is a folder"});
    expect_holds(message(folder.file("empty.png", "")), {"empty.png: is empty"});
    expect_holds(message(folder.file("text.png", "a,b\n1,2\n")), {"neither a JPEG nor a PNG", "convert"});
    expect_holds(message(folder.file("zero.png", png(0, 5, 8, 0, std::string(5, '\0')))), {"width is zero"});
}

TEST(Image, ADeclaredSizeIsNoReasonToAllocateIt) {
    const TemporaryFolder folder;
    const auto message = [&](const std::string& content, std::size_t max_bytes = kMaxImageBytes) {
        return message_of<BadFile>([&] { read_image(folder.file("bomb", content), max_bytes); });
    };
    const std::string zeros(100, '\0');
    expect_holds(message(png(2'000'000'000, 2'000'000'000, 8, 6, zeros)),
                 {"2000000000 x 2000000000", "limit of 1024 MiB", "--max-image"});
    // Within the limit, or whatever that is: deflate makes at most 1032 bytes of one.
    expect_holds(message(png(2147483647, 1, 1, 0, zeros), SIZE_MAX), {"2147483647 x 1", "bytes can hold"});
    expect_holds(message(png(30'000, 10'000, 8, 2, zeros)), {"30000 x 10000", "bytes can hold"});
    write_image(folder / "a.jpg", ramp(40, 24, 3));
    std::string jpeg = read_bytes(folder / "a.jpg");
    const std::size_t frame = jpeg.find("\xFF\xC0");
    ASSERT_NE(frame, std::string::npos);
    jpeg.replace(frame + 5, 4, "\x4E\x20\x40\x00", 4);
    expect_holds(message(jpeg), {"16384 x 20000", "bytes can hold"});
    expect_holds(message(jpeg, 100 << 20), {"limit of 100 MiB", "--max-image"});
    // What is asked for is read.
    write_image(folder / "a.png", ramp(64, 32, 4));
    expect_holds(message(read_bytes(folder / "a.png"), 64 * 32 * 4 - 1), {"64 x 32", "--max-image"});
    EXPECT_EQ(read_image(folder / "a.png", 64 * 32 * 4).pixels, ramp(64, 32, 4).pixels);
}

TEST(Image, InterlacedPngIsReadWhole) {
    const TemporaryFolder folder;
    // Adam7 of 2 x 1: the first pass has the left pixel, the sixth the right one.
    std::string interlaced = png(2, 1, 8, 0, std::string("\0\x11\0\x22", 4));
    interlaced[28] = 1;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(interlaced.data() + 12), 17);
    interlaced.replace(29, 4, big_endian(static_cast<std::uint32_t>(crc)));
    EXPECT_EQ(read_image(folder.file("i.png", interlaced)).pixels, (std::vector<std::uint8_t>{0x11, 0x22}));
    EXPECT_THROW(read_image(folder.file("cut.png", interlaced.substr(0, interlaced.size() - 20))), BadFile);
}

TEST(Image, MoreThanTheFreeMemoryIsRefusedBeforeItIsTaken) {
    EXPECT_NO_THROW(check_memory("a.png", 5 << 20, 5 << 20));
    expect_holds(message_of<BadFile>([] { check_memory("a.png", 6 << 20, 5 << 20); }),
                 {"a.png: needs 6 MiB of memory, and 5 MiB are free"});
    EXPECT_GT(available_memory(), std::size_t{1} << 20);
    EXPECT_EQ(allocate_image("a.png", 5, 3, 4).pixels, std::vector<std::uint8_t>(60));
}

TEST(Image, WhatCannotBeWrittenIsRefused) {
    const TemporaryFolder folder;
    const auto message = [&](const std::string& name, const Image& image) {
        return message_of<BadFile>([&] { write_image(folder / name, image); });
    };
    expect_holds(message("a.gif", ramp(2, 2, 3)), {"a.gif: unknown image ending", ".png", ".jpg"});
    expect_holds(message("a.jpg", ramp(2, 2, 4)), {"no alpha", ".png"});
    expect_holds(message("a.png", Image{}), {"without pixels"});
    expect_holds(message("no/such/folder/a.png", ramp(2, 2, 3)), {"cannot be written", "create the folder"});
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "a refused image left something behind";
}

TEST(AtomicFile, KeepsTheOldContentUntilCommit) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.txt", "old");
    {
        AtomicFile file(path);
        file.write("new");
    }
    EXPECT_EQ(read_bytes(path), "old");
    {
        AtomicFile file(path);
        file.write("new");
        EXPECT_EQ(read_bytes(path), "old");
        file.commit();
    }
    EXPECT_EQ(read_bytes(path), "new");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "a temporary file is left";
}

TEST(AtomicFile, ReplacesWhatALinkPointsToAndLeavesDevicesAlone) {
    const TemporaryFolder folder;
    const std::string target = folder.file("target.txt", "old");
    std::filesystem::create_symlink(target, folder / "link.txt");
    AtomicFile file(folder / "link.txt");
    file.write("new");
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.txt"));
    EXPECT_EQ(read_bytes(target), "new");

    AtomicFile null("/dev/null");
    null.write("nothing");
    null.commit();
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFile, AFullDiskIsAnErrorThatNamesTheFile) {
    if (!std::filesystem::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    AtomicFile full("/dev/full");
    const auto message = message_of<BadFile>([&] {
        full.write(std::string(100'000, 'x'));
        full.commit();
    });
    expect_holds(message, {"/dev/full", "No space left", "free some space"});
}

TEST(Filter, NamedFiltersSumToWhatTheyAreFor) {
    const auto sum = [](const char* name) {
        const Filter5x5 filter = io::filter(name);
        return std::accumulate(filter.begin(), filter.end(), 0.0F);
    };
    EXPECT_EQ(sum("laplace"), 0);
    EXPECT_EQ(sum("gauss"), 1);
    EXPECT_EQ(sum("sharpen"), 1);
    EXPECT_NEAR(sum("box"), 1, 1e-6);
    EXPECT_EQ(filter("laplace")[12], 24);
}

TEST(Filter, IsReadFromText) {
    const TemporaryFolder folder;
    const auto path =
        folder.file("f.txt", "# an identity\n0 0,0;0\t0\n0 0 0 0 0 # row 2\n0 0 +1.5e0 0 0\r\n0 0 0 0 0\n0 0 0 0 -2");
    Filter5x5 expected{};
    expected[12] = 1.5F;
    expected[24] = -2;
    EXPECT_EQ(filter(path), expected);
}

TEST(Filter, OfThreeIsInTheMiddleOfFiveAndSevenIsItsOwn) {
    const TemporaryFolder folder;
    // With a byte order mark, and lines that end in CR alone.
    const SquareFilter three = square_filter(folder.file("3.txt",
                                                         "\xEF\xBB\xBF"
                                                         "1 2 3\r4 5 6\r7 8 9\r"));
    EXPECT_EQ(three.side, 5);
    Filter5x5 expected{};
    for (std::size_t i = 0; i < 9; ++i) expected[6 + i / 3 * 5 + i % 3] = static_cast<float>(i + 1);
    EXPECT_EQ(three.as_5x5(), expected);
    std::string rows;
    for (int i = 0; i < 49; ++i) rows += std::to_string(i) + (i % 7 == 6 ? "\r\n" : ";");
    const SquareFilter seven = square_filter(folder.file("7.txt", rows));
    EXPECT_EQ(seven.side, 7);
    EXPECT_EQ(seven.as_7x7()[48], 48);
    EXPECT_THROW(filter(folder / "7.txt"), BadFile);
}

TEST(Filter, BadFiltersAreNamedWithTheirFix) {
    const TemporaryFolder folder;
    const auto message = [](const std::string& name) { return message_of<BadFile>([&] { filter(name); }); };
    std::string numbers;
    for (int i = 0; i < 24; ++i) numbers += "1 ";
    expect_holds(message(folder.file("24.txt", numbers)), {"24.txt: holds 24 numbers", "25"});
    expect_holds(message(folder.file("26.txt", numbers + "1 1")), {"holds 26 numbers"});
    expect_holds(message(folder.file("empty.txt", "")), {"holds 0 numbers"});
    expect_holds(message(folder.file("word.txt", "1 2\n3 four 5")), {"line 2: 'four' is not a number"});
    expect_holds(message(folder.file("inf.txt", "1e99")), {"not a number"});
    expect_holds(message(folder.file("7.txt", "1 2 3 4 5 6 7\n1 2 3 4 5 6 7\n1 2 3 4 5 6 7\n1 2 3 4\n")),
                 {"holds 25 numbers", "five rows of five", "its rows have 7, 7, 7, 4"});
    expect_holds(message(folder.file("large.txt", std::string(70'000, ' '))), {"too large"});
    expect_holds(message("laplaze"), {"laplaze", "laplace, gauss, sharpen, box", "25 numbers"});
}

}  // namespace
}  // namespace espalier::bench::io
