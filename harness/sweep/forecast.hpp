#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace espalier {

/// The condition of every measured case that says how long its whole problem took, in seconds: verification, timing,
/// counters, of all its candidates.
inline constexpr const char* kProblemSeconds = "problem_seconds";

/// How long problems take, by what sweeps of this device have recorded in journals and the results folder.
class Forecast {
public:
    /// The folder may be missing.
    Forecast(const std::filesystem::path& results, const std::vector<std::filesystem::path>& journals);

    /// Seconds for all cases of a problem: as it took before; else as much per case as its family took, or all did.
    /// `otherwise` where nothing was recorded.
    [[nodiscard]] double seconds(const std::string& family, const std::string& problem, std::size_t cases,
                                 double otherwise) const;

private:
    struct Taken {
        double seconds = 0;
        std::size_t cases = 0;
    };
    std::map<std::pair<std::string, std::string>, Taken> problems_;
    std::map<std::string, Taken> families_;
    Taken all_;
};

}  // namespace espalier
