// Files that are replaced as a whole, outputs that would destroy inputs, and what signals leave behind.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <set>
#include <thread>

#include "harness/base/files/leftovers.hpp"
#include "harness/base/files/read_file.hpp"
#include "harness/base/files/replaced_file.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/files/started_program.hpp"
#include "kernels/json/bad_data.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const TemporaryFolder& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path())) names.insert(entry.path().filename().string());
    return names;
}

TEST(ReplacedFile, KeepsPermissionsAndLinks) {
    const TemporaryFolder folder;
    const std::string target = folder.file("target.txt", "old");
    fs::create_symlink("target.txt", folder / "link.txt");
    ASSERT_EQ(chmod(target.c_str(), 0640), 0);
    ReplacedFile file(folder / "link.txt");
    file.write("new");
    EXPECT_EQ(read_bytes(target), "old");
    file.commit();
    EXPECT_EQ(read_bytes(target), "new");
    EXPECT_TRUE(fs::is_symlink(folder / "link.txt"));
    struct stat status {};
    ASSERT_EQ(stat(target.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0640U);
    EXPECT_EQ(names_in(folder), (std::set<std::string>{"link.txt", "target.txt"}));
}

TEST(ReplacedFile, UncommittedItLeavesNothing) {
    const TemporaryFolder folder;
    {
        ReplacedFile file(folder / "a.txt");
        file.write("half");
        EXPECT_EQ(names_in(folder).size(), 1U);
    }
    EXPECT_EQ(names_in(folder).size(), 0U);
}

TEST(ReplacedFile, PublishedItGrowsUnderItsName) {
    const TemporaryFolder folder;
    const std::string target = folder.file("target.txt", "old");
    {
        ReplacedFile file(target);
        file.write("a line\n");
        EXPECT_EQ(read_bytes(target), "old");
        file.publish();
        EXPECT_EQ(read_bytes(target), "a line\n");
        file.write("another\n");
        file.publish();
        EXPECT_EQ(read_bytes(target), "a line\nanother\n");
    }
    EXPECT_EQ(read_bytes(target), "a line\nanother\n") << "without a commit, too";
    EXPECT_EQ(names_in(folder), std::set<std::string>{"target.txt"});
}

TEST(ReplacedFile, MakesWhatALinkLeadsTo) {
    const TemporaryFolder folder;
    fs::create_directory(folder / "apart");
    fs::create_symlink("second", folder / "first");
    fs::create_symlink("apart/target.txt", folder / "second");
    ReplacedFile file(folder / "first");
    file.write("new");
    file.commit();
    EXPECT_EQ(read_bytes(folder / "apart/target.txt"), "new");
    EXPECT_TRUE(fs::is_symlink(folder / "first"));
    EXPECT_TRUE(fs::is_symlink(folder / "second"));
    EXPECT_EQ(names_in(folder), (std::set<std::string>{"apart", "first", "second"}));
}

TEST(ReplacedFile, RefusesACircleOfLinks) {
    const TemporaryFolder folder;
    fs::create_symlink("b", folder / "a");
    fs::create_symlink("a", folder / "b");
    EXPECT_THROW(ReplacedFile(folder / "a"), std::system_error);
    EXPECT_TRUE(fs::is_symlink(folder / "a"));
}

TEST(ReplacedFile, TemporaryNamesCannotBeTold) {
    const TemporaryFolder folder;
    std::set<std::string> names;
    for (int i = 0; i < 20; ++i) {
        ReplacedFile file(folder / "a.txt");
        names.merge(names_in(folder));
    }
    EXPECT_EQ(names.size(), 20U);
    for (const std::string& name : names) EXPECT_EQ(name.find("." + std::to_string(getpid()) + "."), std::string::npos);
}

TEST(ReplacedFile, LongNamesHaveATemporaryOne) {
    const TemporaryFolder folder;
    const std::string name(255, 'x');
    ReplacedFile file(folder / name);
    file.write("new");
    file.commit();
    EXPECT_EQ(names_in(folder), std::set<std::string>{name});
}

TEST(ReplacedFile, PipesOnlyWhereTheUserNamesThem) {
    const TemporaryFolder folder;
    const std::string pipe = folder / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THROW(ReplacedFile(pipe, ReplacedFile::Special::refused), std::system_error);
    EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(TemporaryName, LeavesFilesOfOthers) {
    const TemporaryFolder folder;
    const std::string path = folder.file("planted", "theirs");
    {
        TemporaryName name(path);
        EXPECT_LT(name.create(0600), 0);
    }
    EXPECT_EQ(read_bytes(path), "theirs");
    const std::string link = folder / "link";
    fs::create_symlink("planted", link);
    {
        TemporaryName name(link);
        EXPECT_LT(name.create(0600), 0);
    }
    EXPECT_TRUE(fs::is_symlink(link));
}

TEST(ReadFile, RegularFilesAlone) {
    const TemporaryFolder folder;
    EXPECT_EQ(read_file(folder / "nothing"), std::nullopt);
    EXPECT_EQ(read_file(folder.file("a.txt", "text")), "text");
    EXPECT_EQ(read_file(folder.file("empty", "")), "");
    fs::create_symlink("a.txt", folder / "link");
    EXPECT_EQ(read_file(folder / "link"), "text");
    const std::string pipe = folder / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    fs::create_symlink("/dev/zero", folder / "zero");
    fs::create_symlink("loop", folder / "loop");
    for (const char* name : {"pipe", "zero", "loop", "."})
        EXPECT_NE(message_of<BadData>([&] { read_file(folder / name); }), "") << name;
    expect_holds(message_of<BadData>([&] { read_file(pipe); }), {pipe.c_str(), "neither a file nor a folder"});
    EXPECT_EQ(read_file(folder / "a.txt", 4), "text");
    expect_holds(message_of<BadData>([&] { read_file(folder / "a.txt", 3); }), {"larger than 3 bytes"});
}

TEST(RunToEnd, NoWordIsACommand) {
    const TemporaryFolder folder;
    const std::string name =
        folder.file("it's $(touch injected); `touch injected`", "#!/bin/sh\necho \"$1\"; exit 7\n");
    ASSERT_EQ(chmod(name.c_str(), 0755), 0);
    const std::string argument = "'; touch " + (folder / "injected") + "; '$(exit)";
    const ProgramEnd end = run_to_end({.words = {name, argument}, .output = ProgramCall::Output::captured});
    EXPECT_EQ(end.error, 0);
    EXPECT_EQ(end.code, 7);
    EXPECT_EQ(end.output, argument + "\n");
    EXPECT_FALSE(fs::exists(folder / "injected"));
    EXPECT_EQ(run_to_end({.words = {folder / "nothing"}}).error, ENOENT);
}

TEST(RunToEnd, KeepsTheFirstBytesOfItsOutput) {
    const ProgramEnd end =
        run_to_end({.words = {"/bin/sh", "-c", "i=0; while [ $i -lt 9999 ]; do echo 12345678; i=$((i+1)); done"},
                    .output = ProgramCall::Output::captured,
                    .most = 16});
    EXPECT_EQ(end.code, 0);
    EXPECT_EQ(end.output, "12345678\n1234567");
}

/// What a process leaves that holds a temporary file, in a thread of its own too, when the signal comes.
class EndedBySignal : public testing::TestWithParam<int> {};

TEST_P(EndedBySignal, LeavesTheOldFile) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.txt", "old");
    const pid_t child = fork();
    if (child == 0) {
        clean_up_on_signals();
        ReplacedFile file(path);
        file.write("half of the n");
        std::thread([&] {
            ReplacedFile another(folder / "b.txt");
            raise(GetParam());
        }).join();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + GetParam());
    EXPECT_EQ(read_bytes(path), "old");
    EXPECT_EQ(names_in(folder), std::set<std::string>{"a.txt"});
}

INSTANTIATE_TEST_SUITE_P(Signals, EndedBySignal, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGPIPE));

TEST(EndedBySignal, IgnoredSignalsStayIgnored) {
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGHUP, SIG_IGN);
        clean_up_on_signals();
        raise(SIGHUP);
        _exit(7);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(EndedBySignal, ItsChildrenEndFirst) {
    int lifeline[2];
    ASSERT_EQ(pipe(lifeline), 0);
    const pid_t child = fork();
    if (child == 0) {
        clean_up_on_signals();
        const ChildOnSignal waited_for([&] {
            const pid_t grandchild = fork();
            if (grandchild != 0) return grandchild;
            sigset_t none;
            sigemptyset(&none);
            signal(SIGTERM, SIG_DFL);
            sigprocmask(SIG_SETMASK, &none, nullptr);
            while (true) pause();
        });
        raise(SIGTERM);
        _exit(0);
    }
    close(lifeline[1]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
    char byte;
    EXPECT_EQ(read(lifeline[0], &byte, 1), 0);  // the grandchild would still hold the other end
    close(lifeline[0]);
}

class SameFileTest : public testing::Test {
protected:
    SameFileTest() {
        fs::create_symlink("a.csv", folder_ / "link.csv");
        fs::create_hard_link(folder_ / "a.csv", folder_ / "hard.csv");
        fs::create_directory(folder_ / "below");
        fs::create_directory_symlink("..", folder_ / "below/up");
    }

    void expect_refused(const std::string& output) const {
        const auto said = message_of<SameFile>([&] { refuse_same_files({{"-o", output}}, {{"--data", a_}}); });
        expect_holds(said, {"-o '", "the input --data", "name another file"});
    }

    TemporaryFolder folder_;
    std::string a_ = folder_.file("a.csv", "a");
};

TEST_F(SameFileTest, RefusesEveryNameOfAnInput) {
    for (const char* name : {"a.csv", "link.csv", "hard.csv", "below/../a.csv", "below/up/a.csv"})
        expect_refused(folder_ / name);
}

TEST_F(SameFileTest, RefusesOneOutputTwice) {
    const auto said = message_of<SameFile>([&] {
        refuse_same_files({{"-o", folder_ / "new.csv"}, {"--cube", folder_ / "below/../new.csv"}}, {{"", a_}});
    });
    expect_holds(said, {"--cube '", "the output -o"});
}

TEST_F(SameFileTest, TakesOthersAndWhatIsNoFile) {
    EXPECT_NO_THROW(refuse_same_files({{"-o", folder_ / "b.csv"}, {"--cube", ""}}, {{"", a_}, {"", ""}}));
    EXPECT_NO_THROW(refuse_same_files({{"-o", "/dev/null"}, {"--cube", "/dev/null"}}, {{"", "/dev/null"}}));
}

}  // namespace
}  // namespace espalier::bench
