// Files that are replaced as a whole, outputs that would destroy inputs, and what signals leave behind.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <set>
#include <thread>

#include "harness/files/leftovers.hpp"
#include "harness/files/replaced_file.hpp"
#include "harness/files/same_file.hpp"
#include "tests/temporary_folder.hpp"

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
