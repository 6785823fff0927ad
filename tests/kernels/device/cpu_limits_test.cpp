// What confines a process on its host's processors: masks, quotas of control groups, siblings, nodes; instances of
// GPUs.

#include "kernels/device/cpu_limits.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/device/gpu_key.hpp"
#include "kernels/device/host_cpu.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::device {
namespace {

namespace fs = std::filesystem;

/// A system's files below a folder of its own.
class FakeSystem : public testing::Test {
protected:
    void write(const std::string& path, const std::string& text) {
        const fs::path file = root() + path;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text << '\n';
    }
    [[nodiscard]] std::string root() const { return folder_.path().string(); }

    void version_2(const std::string& group, const std::string& mounted_group = "/") {
        write("/proc/self/cgroup", "0::" + group);
        write("/proc/self/mountinfo",
              "22 1 0:20 / / rw - ext4 /dev/root rw\n"
              "31 22 0:26 " +
                  mounted_group + " /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate");
    }
    void version_1(const std::string& group, const std::string& mounted_group = "/") {
        write("/proc/self/cgroup", "5:cpuset:/\n4:cpu,cpuacct:" + group + "\n1:name=systemd:/init\n0::/");
        write("/proc/self/mountinfo",
              "31 22 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
              "32 22 0:27 " +
                  mounted_group + " /sys/fs/cgroup/cpu\\040time rw shared:9 - cgroup cgroup rw,cpu,cpuacct");
    }

    TemporaryFolder folder_;
};

class Quota : public FakeSystem {};

TEST_F(Quota, NoneWithoutControlGroups) { EXPECT_EQ(cpu_quota(root()).cpus, 0); }

TEST_F(Quota, OfTheOwnGroupOfVersion2) {
    version_2("/user.slice/job");
    write("/sys/fs/cgroup/user.slice/job/cpu.max", "150000 100000");
    const CpuQuota quota = cpu_quota(root());
    EXPECT_DOUBLE_EQ(quota.cpus, 1.5);
    EXPECT_EQ(quota.file, root() + "/sys/fs/cgroup/user.slice/job/cpu.max");
}

TEST_F(Quota, OfAGroupFurtherUpBinds) {
    version_2("/user.slice/job/step");
    write("/sys/fs/cgroup/user.slice/cpu.max", "200000 100000");
    write("/sys/fs/cgroup/user.slice/job/cpu.max", "400000 100000");
    write("/sys/fs/cgroup/user.slice/job/step/cpu.max", "max 100000");
    EXPECT_DOUBLE_EQ(cpu_quota(root()).cpus, 2);
}

TEST_F(Quota, OfTheRootOfAContainer) {
    version_2("/");
    write("/sys/fs/cgroup/cpu.max", "50000 100000");
    EXPECT_DOUBLE_EQ(cpu_quota(root()).cpus, 0.5);
}

TEST_F(Quota, MaxIsNone) {
    version_2("/job");
    write("/sys/fs/cgroup/job/cpu.max", "max 100000");
    EXPECT_EQ(cpu_quota(root()).cpus, 0);
}

TEST_F(Quota, OfVersion1) {
    version_1("/job");
    write("/sys/fs/cgroup/cpu time/cpu.cfs_quota_us", "-1");
    write("/sys/fs/cgroup/cpu time/job/cpu.cfs_quota_us", "300000");
    write("/sys/fs/cgroup/cpu time/job/cpu.cfs_period_us", "100000");
    EXPECT_DOUBLE_EQ(cpu_quota(root()).cpus, 3);
}

TEST_F(Quota, MinusOneOfVersion1IsNone) {
    version_1("/job");
    write("/sys/fs/cgroup/cpu time/job/cpu.cfs_quota_us", "-1");
    write("/sys/fs/cgroup/cpu time/job/cpu.cfs_period_us", "100000");
    EXPECT_EQ(cpu_quota(root()).cpus, 0);
}

TEST_F(Quota, OfAContainerThatSeesItsHostsPath) {
    version_1("/docker/abc", "/docker/abc");
    write("/sys/fs/cgroup/cpu time/cpu.cfs_quota_us", "250000");
    write("/sys/fs/cgroup/cpu time/cpu.cfs_period_us", "100000");
    EXPECT_DOUBLE_EQ(cpu_quota(root()).cpus, 2.5);
    version_2("/../outside");
    write("/sys/fs/cgroup/cpu.max", "70000 100000");
    EXPECT_DOUBLE_EQ(cpu_quota(root()).cpus, 0.7);
}

TEST_F(Quota, NonsenseIsNone) {
    version_2("/job");
    for (const char* text : {"", "nan 100000", "-5 100000", "100000 0", "100000", "lots of it"}) {
        write("/sys/fs/cgroup/job/cpu.max", text);
        EXPECT_EQ(cpu_quota(root()).cpus, 0) << text;
    }
}

TEST(UsableThreads, AreTheCpusUpToTheQuotaRoundedUp) {
    EXPECT_EQ(usable_threads(8, {}), 8);
    EXPECT_EQ(usable_threads(8, {2, ""}), 2);
    EXPECT_EQ(usable_threads(8, {2.01, ""}), 3);
    EXPECT_EQ(usable_threads(8, {0.2, ""}), 1);
    EXPECT_EQ(usable_threads(2, {6.5, ""}), 2);
    EXPECT_EQ(usable_threads(0, {}), 1);
}

class Topology : public FakeSystem {};

TEST_F(Topology, SiblingsShareACore) {
    write("/sys/devices/system/cpu/online", "0-7");
    for (int cpu = 0; cpu < 8; ++cpu)
        write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
              std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
    write("/sys/devices/system/node/online", "0-2");
    write("/sys/devices/system/node/node0/cpulist", "0-1,4-5");
    write("/sys/devices/system/node/node1/cpulist", "2-3,6-7");
    write("/sys/devices/system/node/node2/cpulist", "");  // memory alone
    const CpuTopology two_cores = cpu_topology({0, 1}, root());
    EXPECT_EQ(two_cores.online, 8);
    EXPECT_EQ(two_cores.cores, 2);
    EXPECT_EQ(two_cores.nodes, std::vector{0});
    EXPECT_EQ(two_cores.all_nodes, 2);
    EXPECT_EQ(cpu_topology({0, 4}, root()).cores, 1);
    EXPECT_EQ(cpu_topology({3, 5, 7}, root()).cores, 2);
    EXPECT_EQ(cpu_topology({3, 5, 7}, root()).nodes, (std::vector{0, 1}));
}

TEST_F(Topology, IsUnknownWithoutItsFiles) {
    const CpuTopology unknown = cpu_topology({0, 1}, root());
    EXPECT_EQ(unknown.online, 0);
    EXPECT_EQ(unknown.cores, 0);
    EXPECT_TRUE(unknown.nodes.empty());
}

TEST(CpuList, IsWrittenAndReadAsTheKernelDoes) {
    EXPECT_EQ(cpu_list({}), "");
    EXPECT_EQ(cpu_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
    EXPECT_EQ(parse_cpu_list("0-3,8,10-11"), (std::vector{0, 1, 2, 3, 8, 10, 11}));
    EXPECT_EQ(parse_cpu_list(""), std::vector<int>{});
    EXPECT_EQ(parse_cpu_list("x,-2,3-1,5"), std::vector{5});
}

/// What a child of this process, which does nothing else before, says by its exit code.
int in_child(const std::function<int()>& says) {
    const pid_t child = fork();
    if (child == 0) _exit(says());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ProcessCpus, StayWhenAThreadPinsItself) {
    const auto before = process_cpus().size();
    ASSERT_GE(before, 1U);
    std::size_t seen = 0;
    std::string key;
    std::thread pinned([&] {
        ASSERT_TRUE(run_on({process_cpus().back()}));
        EXPECT_EQ(thread_cpus(), std::vector{process_cpus().back()});
        seen = process_cpus().size();
        key = describe_cpu().key;
    });
    pinned.join();
    EXPECT_EQ(seen, before);
    EXPECT_EQ(key, describe_cpu().key);
    EXPECT_TRUE(key.ends_with("-" + std::to_string(process_threads()) + "t")) << key;
}

TEST(ProcessCpus, AreThoseThatItIsConfinedTo) {
    EXPECT_EQ(in_child([] {
                  if (!confine_process({process_cpus().front()})) return 1;
                  if (describe_cpu().threads != 1 || !describe_cpu().key.ends_with("-1t")) return 2;
                  return process_cpus().size() == 1 && thread_cpus() == process_cpus() ? 0 : 3;
              }),
              0);
}

TEST(ProcessCpus, RefusedCpusChangeNothing) {
    const auto before = process_cpus();
    EXPECT_FALSE(confine_process({}));
    EXPECT_FALSE(confine_process({60000}));
    EXPECT_EQ(process_cpus(), before);
    EXPECT_EQ(thread_cpus(), before);
}

TEST(GpuKey, IsTheNameAsASlug) {
    EXPECT_EQ(gpu_key("NVIDIA H200"), "nvidia-h200");
    EXPECT_EQ(gpu_key("NVIDIA H100 80GB HBM3"), "nvidia-h100-80gb-hbm3");
    EXPECT_EQ(gpu_key("  Tesla  V100-SXM2 "), "tesla-v100-sxm2");
}

TEST(GpuKey, OfAnInstanceIsNotThatOfTheWhole) {
    const std::string whole = "NVIDIA H100 80GB HBM3";
    EXPECT_EQ(gpu_key(whole + " MIG 1g.10gb"), "nvidia-h100-80gb-hbm3-mig-1g-10gb");
    EXPECT_NE(gpu_key(whole + " MIG 1g.10gb"), gpu_key(whole + " MIG 2g.20gb"));
    EXPECT_EQ(mig_profile(whole), "");
    EXPECT_EQ(mig_profile(whole + " MIG 1c.2g.20gb"), "1c.2g.20gb");
}

TEST(GpuUuid, IsWrittenAsNvidiaSmiDoes) {
    std::string bytes;
    for (int i = 0; i < 16; ++i) bytes += static_cast<char>(0x11 * i);
    EXPECT_EQ(uuid_text(bytes, false), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    EXPECT_EQ(uuid_text(bytes, true), "MIG-00112233-4455-6677-8899-aabbccddeeff");
}

}  // namespace
}  // namespace espalier::device
