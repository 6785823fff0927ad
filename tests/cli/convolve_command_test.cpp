// `espalier convolve` as a user runs it: what is written is what the oracle computes from what is read.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/apps/images/filter.hpp"
#include "harness/apps/images/image.hpp"
#include "reference_cpu/convolution_2d.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

io::Image expected(const std::string& input, const std::string& kernel, Border border) {
    io::Image image = io::read_image(input);
    const auto original = image.pixels;
    image.pixels =
        reference::convolution_2d(image.pixels, image.width, image.height, image.channels, io::filter(kernel), border);
    for (std::size_t alpha = 3; image.channels == 4 && alpha < original.size(); alpha += 4)
        image.pixels[alpha] = original[alpha];
    return image;
}

/// Whole coefficients give the oracle's values; others may round a half the other way.
void expect_close(const io::Image& actual, const io::Image& wanted, int allowed) {
    ASSERT_EQ(actual.width, wanted.width);
    ASSERT_EQ(actual.height, wanted.height);
    ASSERT_EQ(actual.channels, wanted.channels);
    for (std::size_t i = 0; i < wanted.pixels.size(); ++i)
        ASSERT_LE(std::abs(int{actual.pixels[i]} - int{wanted.pixels[i]}), allowed) << "value " << i;
}

void expect_oracle(const TemporaryFolder& folder, const std::string& input, const std::string& device) {
    struct Case {
        const char *kernel, *name;
        Border border;
        int allowed;
    };
    for (const auto& [kernel, name, border, allowed] : {Case{"laplace", "mirror", Border::mirror, 0},
                                                        {"laplace", "zero", Border::zero, 0},
                                                        {"gauss", "replicate", Border::replicate, 1},
                                                        {"sharpen", "mirror", Border::mirror, 1}}) {
        const auto run =
            run_espalier(folder, "convolve " + quoted(input) + " " + quoted(folder / "out.png") + " --kernel " +
                                     kernel + " --border " + name + " --alpha independent --device " + device);
        ASSERT_EQ(run.code, 0) << run.err;
        expect_close(io::read_image(folder / "out.png"), expected(input, kernel, border), allowed);
    }
}

TEST(ConvolveCommand, EqualsTheOracleOnPhotographs) {
    const TemporaryFolder folder;
    for (const char* name : {"/china.jpg", "/flower.jpg"}) {
        const std::string photograph = std::string(ESPALIER_PHOTOGRAPHS) + name;
        if (!std::filesystem::exists(photograph)) GTEST_SKIP() << "install python3-sklearn for " << photograph;
        expect_oracle(folder, photograph, "cpu");
    }
}

TEST(ConvolveCommand, EqualsTheOracleOnEveryNumberOfChannels) {
    const TemporaryFolder folder;
    for (const int channels : {1, 3, 4}) {
        io::Image image{41, 23, channels, {}};
        for (std::size_t i = 0; i < 41U * 23U * static_cast<std::size_t>(channels); ++i)
            image.pixels.push_back(static_cast<std::uint8_t>(i * i * 37 % 251));
        io::write_image(folder / "in.png", image);
        expect_oracle(folder, folder / "in.png", "auto");
    }
}

TEST(ConvolveCommand, TellsWhatItDid) {
    const TemporaryFolder folder;
    io::write_image(folder / "in.png", {3, 2, 1, {1, 2, 3, 4, 5, 6}});
    const std::string files = quoted(folder / "in.png") + " " + quoted(folder / "out.png");
    const auto run = run_espalier(folder, "convolve " + files + " --device cpu --variant cpu_scalar --explain --json");
    ASSERT_EQ(run.code, 0) << run.err;
    expect_holds(run.err, {"in.png: 3 x 2 x 1 by convolution_2d/cpu_scalar", " ms", "runs: cpu_scalar", "why: "});
    const auto json = nlohmann::json::parse(run.out);
    EXPECT_EQ(json.at("variant"), "cpu_scalar");
    EXPECT_EQ(json.at("width"), 3);
    const auto quiet = run_espalier(folder, "convolve " + files + " --quiet");
    EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST(ConvolveCommand, BadInputEndsWithItsExitCodeAndLeavesNoOutput) {
    const TemporaryFolder folder;
    io::write_image(folder / "in.png", {3, 2, 1, {1, 2, 3, 4, 5, 6}});
    const std::string input = "convolve " + quoted(folder / "in.png") + " ", output = quoted(folder / "out.png") + " ";
    const auto expect = [&](const std::string& arguments, int code, std::initializer_list<const char*> parts) {
        const auto run = run_espalier(folder, arguments);
        EXPECT_EQ(run.code, code) << arguments;
        expect_holds(run.err, parts);
        EXPECT_FALSE(std::filesystem::exists(folder / "out.png")) << arguments;
    };
    expect("convolve nowhere.jpg " + output, 4, {"nowhere.jpg", "no such file"});
    expect(input + output + "--kernel lapalce", 4, {"lapalce", "laplace, gauss"});
    expect(input + "out.bmp", 4, {"out.bmp", ".png"});
    expect(input + output + "--border wrap", 2, {"--border", "wrap"});
    expect(input + output + "--device tpu", 2, {"'tpu' is no device", "cuda:0"});
    expect(input + output + "--device cuda:x", 2, {"cuda:0"});
    if (run_espalier(folder, input + quoted(folder / "probe.png") + " --device executor").code == 0)
        expect(input + output + "--device cuda:7", 3, {"without CUDA"});
    expect(input + output + "--variant nothing", 2, {"nothing", "cpu_scalar"});
}

/// A command that must fail with code 4 and a message, and leave neither output nor temporary file.
class BadConvolveInput : public testing::Test {
protected:
    void expect_refused(const std::string& arguments, std::initializer_list<const char*> parts,
                        const std::string& before = {}) const {
        std::filesystem::create_directory(folder / "results");
        const auto run = run_espalier(folder, "convolve " + arguments, before);
        EXPECT_EQ(run.code, 4) << arguments << "\n" << run.err;
        EXPECT_EQ(run.out, "") << arguments;
        expect_holds(run.err, parts);
        EXPECT_TRUE(std::filesystem::is_empty(folder / "results")) << arguments << " left something behind";
    }

    void expect_refused_image(const std::string& input, std::initializer_list<const char*> parts,
                              const std::string& before = {}) const {
        expect_refused(quoted(input) + " " + output, parts, before);
    }

    TemporaryFolder folder;
    std::string output = quoted(folder / "results/out.png");
};

TEST_F(BadConvolveInput, ImagesThatAreCutOff) {
    for (const char* name : {"a.jpg", "a.png"}) {
        const io::Image noise{64, 48, 3, [] {
                                  std::vector<std::uint8_t> values(64 * 48 * 3);
                                  for (std::size_t i = 0; i < values.size(); ++i)
                                      values[i] = static_cast<std::uint8_t>(i * i * 37 % 251);
                                  return values;
                              }()};
        io::write_image(folder / name, noise);
        const std::string whole = read_bytes(folder / name);
        for (const std::size_t size : {whole.size() / 2, whole.size() - 2, std::size_t{40}})
            expect_refused_image(folder.file(name, whole.substr(0, size)), {name, "; get the whole file again"});
    }
}

TEST_F(BadConvolveInput, NoPixels) {
    // A hand-made header: signature and IHDR with its CRC-32.
    const std::string signature("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16);
    const std::string none = signature + std::string("\0\0\0\0\0\0\0\5\x8\2\0\0\0\xE4\x24\x7A\xF6", 17);
    expect_refused_image(folder.file("none.png", none), {"none.png: is no valid PNG image", "width is zero"});

    io::write_image(folder / "zero.jpg", {8, 8, 3, std::vector<std::uint8_t>(192, 9)});
    std::string jpeg = read_bytes(folder / "zero.jpg");
    const std::size_t frame = jpeg.find("\xFF\xC0");
    ASSERT_NE(frame, std::string::npos);
    jpeg.replace(frame + 5, 4, 4, '\0');  // height and width
    expect_refused_image(folder.file("zero.jpg", jpeg), {"zero.jpg: is no valid JPEG image: Empty JPEG image"});
}

TEST_F(BadConvolveInput, KernelFiles) {
    io::write_image(folder / "in.png", {3, 2, 1, {1, 2, 3, 4, 5, 6}});
    const std::string arguments = quoted(folder / "in.png") + " " + output + " --kernel ";
    std::string numbers;
    for (int i = 0; i < 24; ++i) numbers += "1 ";
    expect_refused(arguments + quoted(folder.file("24.txt", numbers)), {"24.txt: holds 24 numbers; a filter is 25"});
    expect_refused(arguments + quoted(folder.file("26.txt", numbers + "1 1")), {"26.txt: holds 26 numbers"});
    expect_refused(arguments + quoted(folder.file("nan.txt", numbers + "nan")), {"nan.txt: line 1: 'nan' is not"});
    // As many numbers as a filter has, in rows of another shape.
    for (const auto& [name, row, count] : {std::tuple{"7.txt", 7, 25},
                                           {"1.txt", 25, 25},
                                           {"9.txt", 9, 9},
                                           {"4.txt", 4, 16},
                                           {"9x9.txt", 9, 81},
                                           {"3.txt", 3, 25},
                                           {"6.txt", 6, 49}}) {
        std::string text;
        for (int i = 1; i <= count; ++i) text += i % row == 0 ? "1\n" : "1 ";
        const std::string holds =
            ".txt: holds " + std::to_string(count) + " numbers; a filter is 25, five rows of five";
        expect_refused(arguments + quoted(folder.file(name, text)), {holds.c_str(), "; its rows have "});
    }
    expect_refused(arguments + quoted(folder.path().string()), {"is a folder"});
    expect_refused(arguments + "/proc/self/mem", {"/proc/self/mem: cannot be read"});
}

TEST_F(BadConvolveInput, UnreadableAndVanishingFiles) {
    expect_refused_image(folder.path().string(), {"is a folder; name a file in it"});
    expect_refused_image("/proc/self/mem", {"/proc/self/mem: cannot be read"});  // opens, and fails to be read
    std::filesystem::create_symlink(folder / "gone.png", folder / "link.png");
    expect_refused_image(folder / "link.png", {"link.png: no such file"});
    io::write_image(folder / "in.png", {3, 2, 1, {1, 2, 3, 4, 5, 6}});
    expect_refused(quoted(folder / "in.png") + " " + quoted(folder / "gone/out.png"), {"create the folder first"});
    if (geteuid() == 0) return;  // who may read everything
    std::filesystem::permissions(folder / "in.png", std::filesystem::perms::none);
    expect_refused_image(folder / "in.png", {"in.png: cannot be read: Permission denied"});
}

/// A filter of any odd side, naive: the sums as they are before they are rounded.
std::vector<double> naive_sums(const io::Image& image, const std::vector<double>& filter, Border border) {
    const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(filter.size()))));
    const auto coordinate = [&](std::int64_t i, std::int64_t size) -> std::int64_t {
        if (i >= 0 && i < size) return i;
        if (border == Border::zero) return -1;
        if (border == Border::replicate) return i < 0 ? 0 : size - 1;
        while (size > 1 && (i < 0 || i >= size)) i = i < 0 ? -i : 2 * size - 2 - i;
        return size == 1 ? 0 : i;
    };
    std::vector<double> sums;
    for (std::int64_t y = 0; y < image.height; ++y)
        for (std::int64_t x = 0; x < image.width; ++x)
            for (std::int64_t c = 0; c < image.channels; ++c) {
                double sum = 0;
                for (std::int64_t i = 0; i < side * side; ++i) {
                    const auto from_y = coordinate(y + i / side - side / 2, image.height);
                    const auto from_x = coordinate(x + i % side - side / 2, image.width);
                    if (from_y < 0 || from_x < 0) continue;
                    const auto at = static_cast<std::size_t>((from_y * image.width + from_x) * image.channels + c);
                    sum += filter[static_cast<std::size_t>(i)] * image.pixels[at];
                }
                sums.push_back(sum);
            }
    return sums;
}

io::Image noise(std::int64_t width, std::int64_t height, int channels) {
    io::Image image{width, height, channels, {}};
    for (std::size_t i = 0; i < image.row_bytes() * static_cast<std::size_t>(height); ++i)
        image.pixels.push_back(static_cast<std::uint8_t>((i * i * 37 + i / 7) % 251));
    return image;
}

std::string rows_of(const std::vector<double>& filter) {
    const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(filter.size()))));
    std::string text;
    for (std::size_t i = 0; i < filter.size(); ++i)
        text.append(std::to_string(filter[i])).append(i % side + 1 == side ? "\n" : " ");
    return text;
}

struct SizedFilter {
    const char* name;
    std::vector<double> coefficients;
    std::string variant;  ///< that has to compute it; empty: any
};

std::vector<SizedFilter> sized_filters() {
    std::vector<double> large(49), product(49), corner(49), huge(49);
    const std::vector<double> column{1, 6, 15, 20, 15, 6, 1}, row{-3, -2, -1, 0, 1, 2, 3};
    for (std::size_t i = 0; i < 49; ++i) {
        large[i] = static_cast<double>(i * i % 23) - 11;
        product[i] = column[i / 7] * row[i % 7];
        huge[i] = static_cast<double>(i * 9973 % 65536) - 32768;
    }
    corner[0] = 1;
    return {{"sobel", {-1, 0, 1, -2, 0, 2, -1, 0, 1}, ""},
            {"corner of 3", {1, 0, 0, 0, 0, 0, 0, 0, 0}, ""},
            {"large", large, "rows_7x7"},
            {"product", product, "rows_7x7_separable"},
            {"corner of 7", corner, "rows_7x7_separable"},
            {"huge", huge, "rows_7x7"}};
}

TEST(ConvolveCommand, FiltersOfThreeAndSevenEqualTheNaiveSums) {
    const TemporaryFolder folder;
    for (const auto& [width, height, channels] :
         {std::tuple{41, 23, 3}, {1, 1, 1}, {3, 2, 4}, {2, 300, 1}, {700, 9, 3}}) {
        const io::Image image = noise(width, height, channels);
        io::write_image(folder / "in.png", image);
        for (const SizedFilter& filter : sized_filters())
            for (const auto& [name, border] : {std::pair{"zero", Border::zero}, {"mirror", Border::mirror}}) {
                const int offset = border == Border::zero ? 0 : 128;
                const auto run =
                    run_espalier(folder, "convolve --json --alpha independent --border " + std::string(name) +
                                             " --offset " + std::to_string(offset) + " --kernel " +
                                             quoted(folder.file("k.txt", rows_of(filter.coefficients))) + " " +
                                             quoted(folder / "in.png") + " " + quoted(folder / "out.png"));
                ASSERT_EQ(run.code, 0) << run.err;
                if (!filter.variant.empty()) {
                    EXPECT_EQ(nlohmann::json::parse(run.out).at("variant"), filter.variant);
                }
                io::Image wanted = image;
                const auto sums = naive_sums(image, filter.coefficients, border);
                for (std::size_t i = 0; i < sums.size(); ++i)
                    if (channels < 4 || i % 4 != 3)
                        wanted.pixels[i] = static_cast<std::uint8_t>(std::clamp(sums[i] + offset, 0.0, 255.0));
                expect_close(io::read_image(folder / "out.png"), wanted, 0);
            }
    }
}

/// Colours as docs/convolve.md defines them: what is transparent is taken for the mean of what is visible.
io::Image weighted(const io::Image& image, const std::vector<double>& filter) {
    std::vector<double> sizes = filter;
    for (double& size : sizes) size = std::abs(size);
    io::Image wanted = image;
    const std::size_t pixels = image.pixels.size() / 4;
    // One image for each number that is summed: 16 bits do not fit a byte, so each sum is of parts that do.
    const auto sum_of = [&](const std::vector<double>& taps, auto&& value) {
        std::vector<double> sums(pixels);
        for (int part = 0; part < 2; ++part) {
            io::Image plane{image.width, image.height, 1, {}};
            for (std::size_t i = 0; i < pixels; ++i)
                plane.pixels.push_back(static_cast<std::uint8_t>(part == 0 ? value(i) % 256 : value(i) / 256));
            const auto of_part = naive_sums(plane, taps, Border::mirror);
            for (std::size_t i = 0; i < pixels; ++i) sums[i] += of_part[i] * (part == 0 ? 1 : 256);
        }
        return sums;
    };
    const auto alpha = [&](std::size_t i) { return int{image.pixels[4 * i + 3]}; };
    const auto hidden = sum_of(filter, [&](std::size_t i) { return 255 - alpha(i); });
    const auto visible = sum_of(sizes, alpha);
    for (std::size_t c = 0; c < 3; ++c) {
        const auto colour = [&](std::size_t i) { return alpha(i) * image.pixels[4 * i + c]; };
        const auto sum = sum_of(filter, colour), mean = sum_of(sizes, colour);
        for (std::size_t i = 0; i < pixels; ++i) {
            const double of_visible = visible[i] > 0 ? mean[i] / visible[i] : image.pixels[4 * i + c];
            wanted.pixels[4 * i + c] = static_cast<std::uint8_t>(
                std::clamp(std::nearbyint((sum[i] + of_visible * hidden[i]) / 255), 0.0, 255.0));
        }
    }
    return wanted;
}

TEST(ConvolveCommand, TransparentPixelsLendNoColour) {
    const TemporaryFolder folder;
    io::Image image{40, 30, 4, {}};
    for (int i = 0; i < 40 * 30; ++i)
        for (const int value : i % 40 < 20 ? std::array{255, 255, 255, 255} : std::array{255, 0, 0, 0})
            image.pixels.push_back(static_cast<std::uint8_t>(value));
    io::write_image(folder / "in.png", image);
    const std::string sevens = quoted(folder.file("box7.txt", rows_of(std::vector<double>(49, 0.020408))));
    const std::string threes = quoted(folder.file("box3.txt", rows_of(std::vector<double>(9, 0.111111))));
    for (const std::string& kernel : {std::string("gauss"), std::string("box"), sevens, threes}) {
        const std::string command =
            "convolve --quiet --kernel " + kernel + " " + quoted(folder / "in.png") + " " + quoted(folder / "out.png");
        ASSERT_EQ(run_espalier(folder, command).code, 0);
        const io::Image result = io::read_image(folder / "out.png");
        for (std::size_t i = 0; i < result.pixels.size(); ++i) {
            if (i / 4 % 40 < 20) {
                ASSERT_EQ(result.pixels[i], 255) << kernel << " " << i;
            }
            if (i % 4 == 3) {
                ASSERT_EQ(result.pixels[i], image.pixels[i]);
            }
        }
        ASSERT_EQ(run_espalier(folder, command + " --alpha independent").code, 0);
        EXPECT_LT(io::read_image(folder / "out.png").pixels[4 * 19 + 1], 200) << kernel;  // as if red were there
    }
}

TEST(ConvolveCommand, PartialTransparencyWeighsAsMuchAsItShows) {
    const TemporaryFolder folder;
    io::Image image = noise(37, 29, 4);
    for (std::size_t i = 0; i < 37 * 9; ++i) image.pixels[4 * i + 3] = 255;  // some of it is opaque
    for (std::size_t i = 37 * 20; i < 37 * 28; ++i) image.pixels[4 * i + 3] = 0;
    io::write_image(folder / "in.png", image);
    for (const char* kernel : {"gauss", "sharpen", "laplace"}) {
        const auto run = run_espalier(folder, "convolve --json --kernel " + std::string(kernel) + " " +
                                                  quoted(folder / "in.png") + " " + quoted(folder / "out.png"));
        ASSERT_EQ(run.code, 0) << run.err;
        expect_holds(run.err, {"beside transparency weighed by alpha"});
        const Filter5x5 filter = io::filter(kernel);
        expect_close(io::read_image(folder / "out.png"), weighted(image, {filter.begin(), filter.end()}), 1);
    }
}

TEST(ConvolveCommand, AnOffsetKeepsWhatIsBelowZero) {
    const TemporaryFolder folder;
    // Steps up and down of 10, 200 and 255: Sobel's sums are 4 times as much.
    io::write_image(folder / "in.pgm", {8, 1, 1, {0, 10, 0, 200, 0, 255, 255, 30}});
    const std::string kernel = quoted(folder.file("x.txt", "0 0 0\n-1 0 1\n0 0 0\n"));
    const std::string command = "convolve --quiet --kernel " + kernel + " --border replicate " +
                                quoted(folder / "in.pgm") + " " + quoted(folder / "out.pgm");
    ASSERT_EQ(run_espalier(folder, command + " --offset 128").code, 0);
    EXPECT_EQ(io::read_image(folder / "out.pgm").pixels,
              (std::vector<std::uint8_t>{138, 128, 255, 128, 183, 255, 0, 0}));
    ASSERT_EQ(run_espalier(folder, command).code, 0);
    EXPECT_EQ(io::read_image(folder / "out.pgm").pixels, (std::vector<std::uint8_t>{10, 0, 190, 0, 55, 255, 0, 0}));
    EXPECT_EQ(run_espalier(folder, command + " --offset 256").code, 2);
}

TEST(ConvolveCommand, FiltersComeThroughPipes) {
    const TemporaryFolder folder;
    io::write_image(folder / "in.png", noise(31, 17, 3));
    const std::string file = quoted(folder.file("k.txt", "0 -1 0\n-1 5 -1\n0 -1 0\n"));
    const std::string images = " " + quoted(folder / "in.png") + " " + quoted(folder / "out.png");
    ASSERT_EQ(run_espalier(folder, "convolve --quiet --kernel " + file + images).code, 0);
    const std::string expected = read_bytes(folder / "out.png");
    for (const char* kernel : {"-", "/dev/stdin"}) {
        std::filesystem::remove(folder / "out.png");
        const auto run = run_espalier(folder, "convolve --quiet --kernel " + std::string(kernel) + images,
                                      "(sleep 0.1; cat " + file + ") | ", "");
        EXPECT_EQ(run.code, 0) << run.err;
        EXPECT_EQ(read_bytes(folder / "out.png"), expected);
    }
    const auto both = run_espalier(folder, "convolve --kernel - - " + quoted(folder / "out.png"));
    EXPECT_EQ(both.code, 2);
    expect_holds(both.err, {"cannot both be the standard input"});
}

TEST(ConvolveCommand, WhatContradictsItselfIsRefused) {
    const TemporaryFolder folder;
    io::write_image(folder / "in.png", noise(9, 9, 3));
    const std::string sevens = " --kernel " + quoted(folder.file("7.txt", rows_of(std::vector<double>(49, 1))));
    const auto expect = [&](const std::string& arguments, std::initializer_list<const char*> parts) {
        const auto run = run_espalier(folder, "convolve " + quoted(folder / "in.png") + " " + arguments);
        EXPECT_EQ(run.code, 2) << arguments;
        expect_holds(run.err, parts);
    };
    const std::string png = quoted(folder / "out.png");
    expect(png + " --quality 80", {"--quality", "of JPEG", ".jpg"});
    expect(png + " --subsampling 4:4:4", {"--subsampling", ".jpg"});
    expect(quoted(folder / "out.jpg") + " --quality 101", {"--quality"});
    expect(png + " --depth 16", {"--depth is 8", "8 bits a channel"});
    expect(png + sevens + " --variant cpu_scalar", {"7x7 filters have no variants", "leave out --variant"});
    EXPECT_FALSE(std::filesystem::exists(folder / "out.png"));
    expect_holds(run_espalier(folder, "convolve --help").out, {"not flipped"});
}

TEST_F(BadConvolveInput, MoreThanMemoryHolds) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer needs more address space than the limit of this test";
#endif
    io::write_image(folder / "wide.png", {30000, 10000, 1, std::vector<std::uint8_t>(300'000'000)});
    // 286 MiB each: the image does not fit the first limit, its result not the second.
    for (const char* limit : {"ulimit -v 250000;", "ulimit -v 500000;"})
        expect_refused_image(folder / "wide.png", {"wide.png: needs 286 MiB of memory, more than this process may"},
                             limit);
}

}  // namespace
}  // namespace espalier::bench
