// ESPALIER_WISDOM: a file that processes share. It is read once per process, so each of these is one of its own.

#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/kernels/api/wisdom_support.hpp"

namespace espalier {
namespace {

class WisdomOfEnvironment : public Wisdom {
protected:
    /// The exit code of the program's commands, with the file's name in the environment; what they print is in `out_`.
    int run(const std::string& commands) {
        const std::string out = folder_ / "out.txt";
        const std::string script = "P='" ESPALIER_WISDOM_PROGRAM "'; " + commands;
        const std::string command = "ESPALIER_WISDOM='" + path_ + "' sh -c \"" + script + "\" >'" + out + "' 2>&1";
        const int status = std::system(command.c_str());
        out_ = read_bytes(out);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    std::string path_ = folder_ / "shared.txt", out_;
};

TEST_F(WisdomOfEnvironment, OutlivesTheProcess) {
    ASSERT_EQ(run("\\$P measure 5000 1 1"), 0) << out_;
    ASSERT_EQ(run("\\$P explain 5000"), 0);
    expect_holds(out_, {"why: measured here on 2", "x the tree's choice\n", "measured: 2"});
    ASSERT_EQ(run("\\$P measure 5000 1 1"), 0);  // known already: nothing is measured, nothing written
    EXPECT_EQ(std::ranges::count(read_bytes(path_), '\n'), 1);
    EXPECT_EQ(value_of(load_wisdom(path_)).entries, 1);
}

TEST_F(WisdomOfEnvironment, IsNotThereUntilSomethingIsLearned) {
    ASSERT_EQ(run("\\$P explain 5000"), 0);
    EXPECT_EQ(out_.find("ignored"), std::string::npos) << out_;
    EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(WisdomOfEnvironment, ManyProcessesAndThreadsAppendAtOnce) {
    std::string commands;
    for (int process = 0; process < 6; ++process)
        commands += "\\$P measure " + std::to_string(1000 + 40 * process) + " 40 3 & ";
    ASSERT_EQ(run(commands + "wait"), 0) << out_;
    const LoadedWisdom loaded = value_of(load_wisdom(path_));
    EXPECT_EQ(loaded.ignored, "");
    EXPECT_EQ(loaded.entries, 240);
    std::ifstream lines(path_);
    std::set<std::string> problems;
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) problems.insert(read_wisdom_line(line).problem);  // see append_line
    EXPECT_EQ(problems.size(), 240U);
}

TEST_F(WisdomOfEnvironment, ALineBeginsAfterWhatWasCutOff) {
    const std::string whole = wisdom_line(dot_entry(5'000)) + "\n";
    std::ofstream(path_) << whole << whole.substr(0, 50);
    ASSERT_EQ(run("\\$P measure 6000 1 1; \\$P explain 6000"), 0);
    expect_holds(out_, {"why: measured here", "ignored: ", "a damaged line, line 2: it has no checksum"});
    EXPECT_EQ(value_of(load_wisdom(path_)).entries, 2);
}

TEST_F(WisdomOfEnvironment, WhatIsNoFileIsIgnoredWithAReason) {
    std::filesystem::create_directory(path_);
    ASSERT_EQ(run("\\$P measure 6000 1 1; \\$P explain 6000"), 0);
    expect_holds(out_, {"ignored: ", "it is a folder: give a file"});
    std::filesystem::remove(path_);
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    ASSERT_EQ(run("\\$P measure 6000 1 1; \\$P explain 6000"), 0);  // nobody writes into it, and nobody waits
    expect_holds(out_, {"ignored: ", "a pipe, a device or a socket"});
}

TEST_F(WisdomOfEnvironment, AFullDiskCostsTheEntryAlone) {
    ASSERT_EQ(run("\\$P measure_on_full_disk 6000 2 1"), 0) << out_;
    EXPECT_EQ(read_bytes(path_), "");
    ASSERT_EQ(run("\\$P measure 6000 2 1"), 0);
    EXPECT_EQ(value_of(load_wisdom(path_)).entries, 2);
}

}  // namespace
}  // namespace espalier
