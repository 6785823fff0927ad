// `espalier histogram` as a user runs it: the counts are those of the file, whatever it is and however large.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "harness/apps/images/image.hpp"
#include "reference_cpu/histogram.hpp"
#include "tests/support/run_program.hpp"

namespace espalier {
namespace {

Histogram256 counted(const std::string& content) {
    return reference::histogram({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
}

class HistogramCommand : public testing::Test {
protected:
    [[nodiscard]] Finished run(const std::string& arguments, const std::string& before = {}) const {
        return run_espalier(folder, "histogram " + arguments, before);
    }

    [[nodiscard]] nlohmann::json json_of(const std::string& arguments, const std::string& before = {}) const {
        const Finished finished = run(arguments + " --json", before);
        EXPECT_EQ(finished.code, 0) << arguments << "\n" << finished.err;
        return nlohmann::json::parse(finished.out, nullptr, false);
    }

    void expect_failure(const std::string& arguments, int code, std::initializer_list<const char*> parts,
                        const std::string& before = {}) const {
        const Finished finished = run(arguments, before);
        EXPECT_EQ(finished.code, code) << arguments << "\n" << finished.err;
        EXPECT_EQ(finished.out, "") << arguments;
        expect_holds(finished.err, parts);
    }

    TemporaryFolder folder;
};

TEST_F(HistogramCommand, CountsRealFilesOnEveryDeviceInEveryChunk) {
    const std::string data(ESPALIER_DATASETS);
    // A photograph, text, a compressed table, this very program: nearly uniform, skewed, mixed.
    for (const std::string& file : {data + "/images/china.jpg", data + "/data/breast_cancer.csv",
                                    data + "/data/digits.csv.gz", std::string(ESPALIER_PROGRAM)}) {
        if (!std::filesystem::exists(file)) GTEST_SKIP() << "install python3-sklearn for " << file;
        const std::string content = read_bytes(file);
        const Histogram256 expected = counted(content);
        for (const char* options : {"", " --device cpu --memory 8KiB", " --device cpu --variant cpu_scalar"}) {
            const auto json = json_of(quoted(file) + options);
            EXPECT_EQ(json.at("bytes"), content.size());
            EXPECT_EQ(json.at("counts").get<Histogram256>(), expected) << file << options;
        }
    }
}

TEST_F(HistogramCommand, CountsOnTheGpuOrItsExecutor) {
    std::string content(70'001, '\0');
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * i * 37 % 253);
    const std::string file = quoted(folder.file("bytes", content));
    const std::string device = run(file + " --device executor").code == 0 ? " --device executor" : " --device auto";
    const auto json = json_of(file + device + " --memory 64KiB");
    EXPECT_EQ(json.at("counts").get<Histogram256>(), counted(content));
}

TEST_F(HistogramCommand, PrintsTablesBarsAndCsv) {
    const std::string file = quoted(folder.file("a.txt", std::string(30, 'a') + "b\n" + std::string("\0\xFF", 2)));
    EXPECT_EQ(run(file + " --quiet").out,
              "value      count    share\n"
              "  0 00 NUL     1    2.94%\n"
              " 10 0a LF      1    2.94%\n"
              " 97 61 a      30   88.24%\n"
              " 98 62 b       1    2.94%\n"
              "255 ff         1    2.94%\n"
              "34 bytes, 5 of 256 values, 0.7579 bits per byte\n");
    const auto bars = run(file + " --format bars --quiet");
    EXPECT_EQ(bars.err, "");
    std::istringstream lines(bars.out);
    std::string line;
    while (line.find(" 61 a") == std::string::npos && std::getline(lines, line)) continue;
    EXPECT_EQ(line.size(), 26 + 46 * std::string("█").size()) << line;  // 46 of 80 columns are for bars
    const auto csv = run(file + " --format csv --quiet").out;
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 257);
    expect_holds(csv, {"value,count,share\n0,1,0.0294117647\n1,0,0\n", "\n97,30,0.882352941\n"});
}

TEST_F(HistogramCommand, EmptyFilesPipesAndFilesThatDoNotTellTheirSize) {
    const auto empty = run(quoted(folder.file("empty", "")));
    EXPECT_EQ(empty.out, "0 bytes, 0 of 256 values, 0.0000 bits per byte\n");
    EXPECT_GT(json_of("/proc/self/status").at("bytes"), 0);
    EXPECT_EQ(json_of("-").at("bytes"), 0);  // standard input is /dev/null here
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    const auto json = json_of(quoted(folder / "pipe") + " --memory 4KiB",
                              "head -c 10000 /dev/zero >" + quoted(folder / "pipe") + " & ");
    EXPECT_EQ(json.at("counts")[0], 10'000);
}

TEST_F(HistogramCommand, StandardInputAndDevStdinAreReadToTheirEnd) {
    std::string content(640 * 480 * 3, '\0');
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * i * 29 % 241);
    const std::string file = quoted(folder.file("bytes", content));
    for (const char* input : {"-", "/dev/stdin"})
        for (const bool piped : {true, false}) {
            const auto finished = run_espalier(folder, "histogram --json --memory 8KiB " + std::string(input),
                                               piped ? "cat " + file + " | " : "", piped ? "" : "<" + file);
            ASSERT_EQ(finished.code, 0) << finished.err;
            EXPECT_EQ(nlohmann::json::parse(finished.out).at("counts").get<Histogram256>(), counted(content));
        }
}

TEST_F(HistogramCommand, MoreThan32BitsCountInBoundedMemory) {
    constexpr std::uint64_t kBytes = (std::uint64_t{1} << 32) + 4321;
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    std::string before = "head -c " + std::to_string(kBytes) + " /dev/zero >" + quoted(folder / "pipe") + " & ";
#if !defined(__SANITIZE_ADDRESS__)
    before += "ulimit -v 1000000; ";
#endif
    const auto json = json_of(quoted(folder / "pipe") + " --device cpu", before);
    EXPECT_EQ(json.at("bytes"), kBytes);
    EXPECT_EQ(json.at("counts")[0], kBytes);
}

TEST_F(HistogramCommand, BadInputIsNamedAndPrintsNothing) {
    expect_failure("", 2, {"file is required"});
    expect_failure("nowhere.bin", 4, {"nowhere.bin: no such file; check the path"});
    expect_failure(quoted(folder.path().string()), 4, {"is a folder"});
    expect_failure("/proc/self/mem", 4, {"/proc/self/mem: cannot be read: Input/output error"});
    const std::string file = quoted(folder.file("a", "abc"));
    expect_failure(file + " --memory 100B", 2, {"--memory is 2KiB to 1TiB"});
    expect_failure(file + " --format pie", 2, {"--format", "pie"});
    expect_failure(file + " --device tpu", 2, {"'tpu' is no device"});
    expect_failure(file + " --variant nothing", 2, {"nothing", "cpu_scalar"});
#if !defined(__SANITIZE_ADDRESS__)
    expect_failure("- --memory 900GiB", 4, {"no memory for two chunks", "lower --memory"}, "ulimit -v 1000000; ");
#endif
}

TEST_F(HistogramCommand, AFileThatShrinksWhileItIsReadIsNoResult) {
    // A terabyte without a single block, cut as soon as the program has it open.
    const std::string file = folder / "shrinking";
    std::ofstream(file).close();
    std::error_code too_large;
    std::filesystem::resize_file(file, std::uintmax_t{1} << 40, too_large);
    if (too_large) GTEST_SKIP() << "this file system has no sparse files of a terabyte";
    expect_failure(quoted(file), 4, {"shrinking: became shorter while it was read"},
                   "(until ls -l /proc/[0-9]*/fd 2>&1 | grep -q " + quoted(file) + "; do :; done; sleep 0.2; " +
                       "truncate -s 10 " + quoted(file) + ") & ");
}

TEST_F(HistogramCommand, PixelsAreCountedByChannel) {
    bench::io::Image image{640, 480, 3, {}};
    for (std::size_t i = 0; i < 640U * 480U * 3U; ++i)
        image.pixels.push_back(static_cast<std::uint8_t>(i % 3 == 0 ? i / 3 % 7 : i % 3 == 1 ? 200 : i / 1920 % 256));
    bench::io::write_image(folder / "a.png", image);
    const auto of_channel = [&](std::size_t channel, const std::vector<bool>& chosen) {
        Histogram256 counts{};
        for (std::size_t i = channel; i < image.pixels.size(); i += 3)
            if (chosen[i / 3]) ++counts[image.pixels[i]];
        return counts;
    };
    const auto expect = [&](const nlohmann::json& json, const std::vector<bool>& chosen) {
        EXPECT_EQ(json.at("pixels"), std::count(chosen.begin(), chosen.end(), true));
        ASSERT_EQ(json.at("channels").size(), 3U);
        for (std::size_t c = 0; c < 3; ++c) {
            EXPECT_EQ(json.at("channels")[c].at("channel"), (std::array{"red", "green", "blue"}[c]));
            EXPECT_EQ(json.at("channels")[c].at("counts").get<Histogram256>(), of_channel(c, chosen));
        }
    };
    const std::vector<bool> all(640 * 480, true);
    expect(json_of("--pixels " + quoted(folder / "a.png")), all);
    // The bytes of the file are something else, and what is counted unless pixels are asked for.
    const std::string file = read_bytes(folder / "a.png");
    EXPECT_EQ(json_of(quoted(folder / "a.png")).at("counts").get<Histogram256>(), counted(file));

    std::vector<bool> chosen;
    bench::io::Image mask{640, 480, 1, {}};
    for (std::size_t i = 0; i < 640U * 480U; ++i) {
        mask.pixels.push_back(static_cast<std::uint8_t>(i % 5 == 0 ? 1 + i % 255 : 0));
        chosen.push_back(mask.pixels.back() != 0);
    }
    bench::io::write_image(folder / "mask.pgm", mask);
    expect(json_of("--pixels " + quoted(folder / "a.png") + " --mask " + quoted(folder / "mask.pgm")), chosen);
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    expect(json_of("--pixels " + quoted(folder / "pipe"),
                   "cat " + quoted(folder / "a.png") + " >" + quoted(folder / "pipe") + " & "),
           all);
}

TEST_F(HistogramCommand, PixelsArePrintedForPeopleAndTables) {
    bench::io::Image image{2, 1, 4, {7, 7, 7, 255, 9, 9, 9, 0}};
    image.grey_alpha = true;
    bench::io::write_image(folder / "a.png", image);
    EXPECT_EQ(run("--pixels --quiet " + quoted(folder / "a.png")).out,
              "grey\nvalue count    share\n    7     1   50.00%\n    9     1   50.00%\n"
              "2 pixels, 2 of 256 values, 1.0000 bits per pixel\n\n"
              "alpha\nvalue count    share\n    0     1   50.00%\n  255     1   50.00%\n"
              "2 pixels, 2 of 256 values, 1.0000 bits per pixel\n");
    expect_holds(run("--pixels --format csv " + quoted(folder / "a.png")).out,
                 {"value,grey,alpha\n0,0,1\n", "\n7,1,0\n"});
    const std::string file = quoted(folder / "a.png");
    bench::io::write_image(folder / "mask.png", {3, 1, 1, {1, 1, 1}});
    expect_failure("--pixels " + file + " --mask " + quoted(folder / "mask.png"), 4,
                   {"mask.png: is 3 x 1 pixels, and the image 2 x 1"});
    expect_failure("--pixels " + file + " --mask " + file, 4, {"has transparency", "flatten"});
    expect_failure(file + " --mask " + quoted(folder / "mask.png"), 2, {"say --pixels"});
    expect_failure("--pixels " + quoted(folder.file("a.txt", "text")), 4, {"a.txt: is neither a JPEG nor a PNG"});
    bench::io::write_image(folder / "mask.png", {2, 1, 1, {0, 0}});
    expect_holds(run("--pixels " + file + " --mask " + quoted(folder / "mask.png")).out, {"0 pixels, 0 of 256 values"});
}

TEST_F(HistogramCommand, IsDrawn) {
    const std::string script = quoted(ESPALIER_PLOTS_DIR) + "/histogram.py";
    const auto draw = [&](const std::string& input, const std::string& output) {
        const std::string err = folder / "draw.txt";
        const std::string command = quoted(ESPALIER_PYTHON) + " " + script + " -o " + quoted(folder / output) + " <" +
                                    quoted(input) + " 2>" + quoted(err);
        const int code = WEXITSTATUS(std::system(command.c_str()));
        return std::pair(code, read_bytes(err));
    };
    ASSERT_EQ(run(quoted(folder.file("text.txt", "hello")) + " --json").code, 0);
    const std::string json = folder.file("counts.json", read_bytes(folder / "stdout.txt"));
    EXPECT_EQ(draw(json, "a.svg").first, 0);
    expect_holds(read_bytes(folder / "a.svg"), {"<svg", "text.txt: 5 bytes, 1.92 bits"});
    EXPECT_EQ(draw(json, "a.png").first, 0);
    EXPECT_EQ(read_bytes(folder / "a.png").substr(1, 3), "PNG");
    EXPECT_EQ(draw(json, "a.gif").first, 2);
    bench::io::write_image(folder / "a.ppm", {2, 1, 3, {1, 2, 3, 4, 5, 6}});
    ASSERT_EQ(run("--pixels --json " + quoted(folder / "a.ppm")).code, 0);
    EXPECT_EQ(draw(folder.file("pixels.json", read_bytes(folder / "stdout.txt")), "c.svg").first, 0);
    expect_holds(read_bytes(folder / "c.svg"), {"<svg", "a.ppm: 2 pixels", "green"});
    const auto [code, message] = draw(folder.file("bad.json", "{\"counts\": [1, 2]}"), "b.svg");
    EXPECT_EQ(code, 1);
    expect_holds(message, {"no output of espalier histogram --json", "not 256"});
    EXPECT_FALSE(std::filesystem::exists(folder / "b.svg"));
}

}  // namespace
}  // namespace espalier
