// `espalier convolve` as a user runs it: what is written is what the oracle computes from what is read.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/io/filter.hpp"
#include "harness/io/image.hpp"
#include "reference_cpu/convolution_2d.hpp"
#include "tests/run_program.hpp"

namespace espalier {
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
    expect(input + output + "--device tpu", 2, {"'tpu' is no device", "cuda:<ordinal>"});
    expect(input + output + "--device cuda:x", 2, {"cuda:0"});
    expect(input + output + "--variant nothing", 2, {"nothing", "cpu_scalar"});
}

}  // namespace
}  // namespace espalier
