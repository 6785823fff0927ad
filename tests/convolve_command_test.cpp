// `espalier convolve` as a user runs it: what is written is what the oracle computes from what is read.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "harness/apps/io/filter.hpp"
#include "harness/apps/io/image.hpp"
#include "reference_cpu/convolution_2d.hpp"
#include "tests/run_program.hpp"

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
        const auto run = run_espalier(folder, "convolve " + quoted(input) + " " + quoted(folder / "out.png") +
                                                  " --kernel " + kernel + " --border " + name + " --device " + device);
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

TEST_F(BadConvolveInput, SixteenBitsAChannelAndNoPixels) {
    // Hand-made headers: signature, IHDR with its CRC-32, and the data of one black pixel.
    const std::string signature("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16);
    const std::string deep =
        signature + std::string("\0\0\0\1\0\0\0\1\x10\0\0\0\0\x6A\xEE\x47\x16", 17) + std::string("\0\0\0\0IDAT", 8);
    expect_refused_image(folder.file("deep.png", deep), {"deep.png: has 16 bits a channel; convert it to 8"});
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

TEST(ConvolveCommand, ReadsPipesAndWritesToStdout) {
    const TemporaryFolder folder;
    io::write_image(folder / "in.png", {3, 2, 1, {1, 2, 3, 4, 5, 6}});
    const auto from_file = run_espalier(folder, "convolve --quiet " + quoted(folder / "in.png") + " -");
    ASSERT_EQ(from_file.code, 0) << from_file.err;
    EXPECT_TRUE(from_file.out.starts_with("\x89PNG"));
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    const auto piped = run_espalier(folder, "convolve --quiet " + quoted(folder / "pipe") + " -",
                                    "cat " + quoted(folder / "in.png") + " >" + quoted(folder / "pipe") + " & ");
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_EQ(piped.out, from_file.out);
    EXPECT_EQ(run_espalier(folder, "convolve --quiet - - --json").code, 2);
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
