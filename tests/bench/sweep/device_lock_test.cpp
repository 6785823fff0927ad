// Two sweeps on one device at once are refused, by a lock that ends with its process.

#include "harness/bench/sweep/schedule/device_lock.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>

#include "kernels/device/cpu_limits.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

/// A process that takes something and keeps it until it is killed.
class Holder {
public:
    explicit Holder(const std::function<void()>& take) {
        int ready[2];
        if (pipe(ready) != 0) throw std::runtime_error("no pipe");
        pid_ = fork();
        if (pid_ == 0) {
            take();
            static_cast<void>(write(ready[1], "x", 1));
            for (;;) pause();
        }
        char byte = 0;
        static_cast<void>(read(ready[0], &byte, 1));
        close(ready[0]);
        close(ready[1]);
    }
    ~Holder() { end(); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

    void end() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
    [[nodiscard]] std::string pid() const { return std::to_string(pid_); }

private:
    pid_t pid_ = -1;
};

class Lock : public testing::Test {
protected:
    [[nodiscard]] std::string refusal(const std::function<void(DeviceLock&)>& take) const {
        DeviceLock lock(folder_.path());
        return message_of<DeviceInUse>([&] { take(lock); });
    }
    TemporaryFolder folder_;
};

TEST_F(Lock, OverlappingCpusAreRefused) {
    DeviceLock theirs(folder_.path());
    Holder holder([&] { theirs.take_cpus({0, 1, 4}, "cpu-a"); });
    for (const std::vector<int>& cpus : {std::vector{0, 1, 4}, {4, 5}, {1}}) {
        const std::string said = refusal([&](DeviceLock& lock) { lock.take_cpus(cpus, "cpu-here"); });
        for (const std::string& part : {std::string("cpu-here is being measured by process " + holder.pid()),
                                        "kill " + holder.pid(), std::string("--share-device")})
            EXPECT_NE(said.find(part), std::string::npos) << said;
    }
    DeviceLock others(folder_.path());
    EXPECT_NO_THROW(others.take_cpus({2, 3, 5}, "cpu-here"));
}

TEST_F(Lock, EndsWithItsProcess) {
    Holder holder([&] { (new DeviceLock(folder_.path()))->take_gpu("GPU-1", "nvidia-h200"); });
    EXPECT_NE(refusal([](DeviceLock& lock) { lock.take_gpu("GPU-1", "nvidia-h200"); }), "");
    holder.end();
    DeviceLock lock(folder_.path());
    EXPECT_NO_THROW(lock.take_gpu("GPU-1", "nvidia-h200"));
}

TEST_F(Lock, OtherGpusAndInstancesAreFree) {
    Holder holder([&] { (new DeviceLock(folder_.path()))->take_gpu("MIG-1", "nvidia-h100-mig-1g-10gb"); });
    DeviceLock lock(folder_.path());
    EXPECT_NO_THROW(lock.take_gpu("MIG-2", "nvidia-h100-mig-1g-10gb"));
    EXPECT_NO_THROW(lock.take_gpu("GPU-1", "nvidia-h100"));
    EXPECT_NO_THROW(lock.take_cpus({0, 1}, "cpu-here"));
}

TEST_F(Lock, FollowsNoLink) {
    const std::string victim = folder_.file("victim", "precious");
    fs::create_symlink(victim, folder_.path() / "cpus.lock");
    DeviceLock lock(folder_.path());
    EXPECT_THROW(lock.take_cpus({0}, "cpu-here"), std::system_error);
    EXPECT_EQ(read_bytes(victim), "precious");
}

/// Sets a variable and puts back what was there.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* text = std::getenv(name)) before_ = text;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (before_)
            setenv(name_, before_->c_str(), 1);
        else
            unsetenv(name_);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

TEST_F(Lock, FolderIsOfThisUserAlone) {
    const Variable runtime("XDG_RUNTIME_DIR", folder_.path().string());
    const fs::path folder = runtime_folder();
    EXPECT_EQ(folder, folder_.path() / "espalier");
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
    EXPECT_EQ(runtime_folder(), folder);
    fs::remove(folder);
    const TemporaryFolder elsewhere;
    fs::create_symlink(elsewhere.path(), folder);
    EXPECT_NE(message_of<std::system_error>([] { runtime_folder(); }).find("XDG_RUNTIME_DIR"), std::string::npos);
}

TEST_F(Lock, FolderIsFoundWithoutASession) {
    for (const char* none : {"", "relative", "/nowhere/at/all"}) {
        const Variable runtime("XDG_RUNTIME_DIR", none);
        EXPECT_TRUE(runtime_folder().is_absolute());
    }
}

// --- the command

class Sweeps : public testing::Test {
protected:
    /// Options of a sweep of a single problem, whose results go to folders of its own.
    [[nodiscard]] std::string options(const std::string& name) const {
        return "sweep --family histogram --variant cpu_scalar -p bytes=4096 -p distribution=uniform --no-ceilings "
               "--no-merge --counters off --wait-for-quiet 0 --output " +
               quoted(folder_ / name);
    }
    [[nodiscard]] std::string alone() const {
        return "env -u ESPALIER_SHARE_DEVICE XDG_RUNTIME_DIR=" + quoted(folder_.path().string()) + " ";
    }
    TemporaryFolder folder_;
};

TEST_F(Sweeps, OfOneDeviceAtOnceAreRefused) {
    ASSERT_EQ(run_espalier(folder_, options("first"), alone()).code, 0);
    DeviceLock lock(folder_.path() / "espalier");  // which the first one has made
    Holder holder([&] { lock.take_cpus(device::thread_cpus(), "cpu"); });
    const Finished refused = run_espalier(folder_, options("second"), alone());
    EXPECT_EQ(refused.code, 3) << refused.err;
    EXPECT_NE(refused.err.find("is being measured by process " + holder.pid()), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("--share-device"), std::string::npos) << refused.err;
    EXPECT_FALSE(fs::exists(folder_ / "second")) << "a journal of nothing";

    const Finished judged =
        run_espalier(folder_,
                     "judge --problems 1 --family histogram --max-time 1s --wait-for-quiet 0 --results " +
                         quoted(folder_ / "results"),
                     alone());
    EXPECT_NE(judged.err.find("is being measured by process " + holder.pid()), std::string::npos) << judged.err;

    EXPECT_EQ(run_espalier(folder_, options("third") + " --share-device", alone()).code, 0);
    EXPECT_EQ(run_espalier(folder_, options("fourth"), alone() + "ESPALIER_SHARE_DEVICE=true ").code, 0);
    EXPECT_EQ(run_espalier(folder_, options("fifth") + " --dry-run", alone()).code, 0);
    holder.end();
    EXPECT_EQ(run_espalier(folder_, options("sixth"), alone()).code, 0);
}

TEST_F(Sweeps, HoldTheirDeviceWhileTheyMeasure) {
    const Variable runtime("XDG_RUNTIME_DIR", folder_.path().string()), shared("ESPALIER_SHARE_DEVICE", "false");
    ChildProcess first({ESPALIER_PROGRAM, "sweep", "--family", "histogram", "--max-time", "60s", "--wait-for-quiet",
                        "0", "--no-merge", "--output", folder_ / "first"},
                       folder_ / "first.txt");
    for (int waited = 0; waited < 600 && !fs::exists(folder_ / "first"); ++waited)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(fs::exists(folder_ / "first")) << read_bytes(folder_ / "first.txt");
    EXPECT_EQ(run_espalier(folder_, options("second")).code, 3);
    first.kill(SIGKILL);
    static_cast<void>(first.wait());
    EXPECT_EQ(run_espalier(folder_, options("third")).code, 0);
}

TEST_F(Sweeps, GoOnWhereNoLockCanBeHad) {
    fs::create_symlink("/nowhere", folder_.path() / "espalier");
    const Finished done = run_espalier(folder_, options("first"), alone());
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_NE(done.err.find("other sweeps of these devices go unnoticed"), std::string::npos) << done.err;
}

// --- doctor

TEST_F(Sweeps, DoctorSaysWhatLimitsTheProcessors) {
    const Finished all = run_espalier(folder_, "doctor --device cpu --no-ceilings --json");
    ASSERT_EQ(all.code, 0) << all.err;
    for (const char* member : {"\"limits\"", "\"cpus\"", "\"quota_cpus\"", "\"cores\"", "\"numa_nodes\""})
        EXPECT_NE(all.out.find(member), std::string::npos) << all.out;
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    int first = 0;
    while (!CPU_ISSET(first, &set)) ++first;
    const std::string one = "taskset -c " + std::to_string(first) + " ";
    const Finished text = run_espalier(folder_, "doctor --device cpu --no-ceilings", one);
    EXPECT_NE(text.out.find("-1t"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("CPUs " + std::to_string(first) + " of "), std::string::npos) << text.out;
    if (CPU_COUNT(&set) < 2) GTEST_SKIP() << "one CPU cannot be narrowed";
    EXPECT_NE(text.out.find("limited by the affinity mask of this process: to 1 of "), std::string::npos) << text.out;
}

}  // namespace
}  // namespace espalier::bench
