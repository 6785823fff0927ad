#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/sweep/schedule/sweep.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench {

namespace fs = std::filesystem;

/// While the file that it names exists no worker starts: as if the device were gone.
inline constexpr const char* kLostVariable = "ESPALIER_TEST_DEVICE_LOST";

/// Sweeps of several devices into a folder of the test's.
class Devices : public testing::Test {
protected:
    Devices() {
        options_.variants = {"right", "right_baseline"};
        options_.effort = Effort::quick;
        options_.noise = 0.2;
        options_.journal_folder = folder_ / "journal";
        options_.results_folder = folder_ / "results";
        options_.quiet = true;
        options_.ceilings = false;
        options_.resume = true;
        setenv(kLostVariable, (folder_ / "lost").c_str(), 1);
    }

    void problems(int count, const std::string& size = "100") {
        std::vector<std::string> seeds;
        for (int seed = 0; seed < count; ++seed) seeds.push_back(std::to_string(seed));
        options_.axes = {{"size", {size}}, {"seed", seeds}};
    }

    [[nodiscard]] std::vector<fs::path> journals() const {
        std::vector<fs::path> found;
        if (fs::exists(options_.journal_folder))
            for (const auto& entry : fs::directory_iterator(options_.journal_folder)) found.push_back(entry.path());
        std::ranges::sort(found);
        return found;
    }

    /// How often each case stands in the journals.
    [[nodiscard]] std::map<std::string, int> recorded() const {
        std::map<std::string, int> counts;
        for (const fs::path& path : journals()) {
            const Journal journal = load_journal(path);
            EXPECT_EQ(journal.damaged, 0U) << "beside a line that is just being written";
            for (const CaseRecord& record : journal.cases) ++counts[record.key()];
        }
        return counts;
    }

    void expect_each_once(std::size_t cases) const {
        const auto counts = recorded();
        EXPECT_EQ(counts.size(), cases);
        for (const auto& [key, count] : counts) EXPECT_EQ(count, 1) << key;
    }

    /// Merges what the sweep's journals hold; nothing may be missing.
    void expect_whole(const SweepSummary& summary, std::size_t cases) const {
        const std::vector<fs::path> paths(summary.journals.begin(), summary.journals.end());
        const auto reports = merge_journals(paths, options_.results_folder, {});
        ASSERT_EQ(reports.size(), 1U);
        EXPECT_EQ(reports[0].cases, cases);
        EXPECT_TRUE(reports[0].missing.empty());
        EXPECT_TRUE(reports[0].warnings.empty());
        EXPECT_EQ(reports[0].unpaired_problems, 0U);
    }

    /// The worker processes that are running now.
    static std::vector<pid_t> workers() {
        std::vector<pid_t> children;
        std::error_code error;
        for (const auto& task : fs::directory_iterator("/proc/self/task", error)) {
            std::ifstream file(task.path() / "children");
            for (pid_t child = 0; file >> child;) children.push_back(child);
        }
        return children;
    }

    /// Does something in mid-sweep: when so many cases are recorded.
    template <class Action>
    [[nodiscard]] std::jthread when_recorded(std::size_t cases, Action action) const {
        return std::jthread([this, cases, action](const std::stop_token& over) {
            while (recorded().size() < cases) {
                if (over.stop_requested()) return;
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            }
            action();
        });
    }

    TemporaryFolder folder_;
    SweepOptions options_;
};

}  // namespace espalier::bench
