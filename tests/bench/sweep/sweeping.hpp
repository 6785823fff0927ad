#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "harness/bench/records/results.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench {

namespace fs = std::filesystem;

/// Sweeps of faulty_espalier into a folder of the test's.
class Sweeping : public testing::Test {
protected:
    /// `espalier sweep` of the test's folder, quick and imprecise.
    [[nodiscard]] std::string sweep(const std::string& more, const std::string& noise = "20%") const {
        return sweep_with_ceilings("--no-ceilings " + more, noise);
    }
    [[nodiscard]] std::string sweep_with_ceilings(const std::string& more, const std::string& noise = "20%") const {
        return "sweep --quick --noise " + noise + " --output " + quoted(folder_ / "journal") + " --results " +
               quoted(folder_ / "results") + " " + more;
    }
    [[nodiscard]] std::vector<std::string> sweep_words(const std::vector<std::string>& more) const {
        std::vector<std::string> words{
            ESPALIER_PROGRAM,    "sweep",     "--quick",          "--no-ceilings", "--noise", "20%", "--output",
            folder_ / "journal", "--results", folder_ / "results"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    Finished run(const std::string& arguments) const { return run_espalier(folder_, arguments); }

    /// The only journal of the folder.
    [[nodiscard]] std::string journal_file() const {
        for (const auto& entry : fs::directory_iterator(folder_ / "journal")) return entry.path().string();
        ADD_FAILURE() << "there is no journal";
        return {};
    }
    /// The only device's results.
    [[nodiscard]] DeviceResults results() const {
        for (const auto& entry : fs::directory_iterator(folder_ / "results")) return load_results(entry.path());
        ADD_FAILURE() << "there are no results";
        return {};
    }
    [[nodiscard]] bool has_journal() const { return fs::exists(folder_ / "journal"); }

    /// Waits until nothing runs the program any more.
    static void expect_no_orphans() {
        for (int i = 0; i < 400 && running(ESPALIER_PROGRAM) > 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        EXPECT_EQ(running(ESPALIER_PROGRAM), 0) << "a worker outlived its parent";
    }

    TemporaryFolder folder_;
};

}  // namespace espalier::bench
