#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Finds the name that a mistyped one was probably meant to be: of those offered, the nearest by the letters that
/// are wrong, missing, too many or swapped with their neighbour.
class SimilarName {
public:
    explicit SimilarName(std::string_view word) : word_(lower(word)) {}

    void offer(std::string_view name) {
        const std::string other = lower(name);
        // A beginning of three letters is a sign, too: "--neigh" or "euclid".
        const bool beginning = word_.size() >= 3 && other.starts_with(word_);
        const std::size_t distance = beginning ? 1 : distance_to(other);
        const std::size_t most = word_.size() < 3 ? 0 : std::max<std::size_t>(1, word_.size() / 3);
        if (distance > most || distance >= nearest_) return;
        nearest_ = distance;
        name_ = name;
    }

    /// Empty if none is near.
    [[nodiscard]] const std::string& name() const { return name_; }
    /// "; did you mean 'manhattan'?", to append to a message; or nothing.
    [[nodiscard]] std::string question() const { return name_.empty() ? "" : "; did you mean '" + name_ + "'?"; }

private:
    static std::string lower(std::string_view text) {
        std::string result(text);
        for (char& c : result)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        return result;
    }

    /// Optimal string alignment: row i of the table needs the two before it.
    [[nodiscard]] std::size_t distance_to(std::string_view other) const {
        std::vector<std::size_t> before, above(other.size() + 1), row(other.size() + 1);
        std::iota(above.begin(), above.end(), std::size_t{0});
        for (std::size_t i = 1; i <= word_.size(); ++i) {
            row[0] = i;
            for (std::size_t j = 1; j <= other.size(); ++j) {
                const bool same = word_[i - 1] == other[j - 1];
                row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
                if (i > 1 && j > 1 && word_[i - 1] == other[j - 2] && word_[i - 2] == other[j - 1])
                    row[j] = std::min(row[j], before[j - 2] + 1);
            }
            before = above;
            above = row;
        }
        return above.back();
    }

    std::string word_, name_;
    std::size_t nearest_ = static_cast<std::size_t>(-1);
};

}  // namespace espalier
