#include "harness/bench/learn/lending.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "harness/bench/learn/imputation.hpp"

namespace espalier::bench::learn {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct ByRegistry {
    bool operator()(const Choice& a, const Choice& b) const {
        return std::pair(a.variant, a.configuration) < std::pair(b.variant, b.configuration);
    }
};

/// What one choice is said to cost, by problem: sums over the devices that say something.
struct Lent {
    std::vector<double> sum;
    std::vector<int> devices;

    explicit Lent(std::size_t problems) : sum(problems), devices(problems) {}
    [[nodiscard]] double log(std::size_t problem) const {
        return devices[problem] ? sum[problem] / devices[problem] : kNone;
    }
    [[nodiscard]] std::size_t problems() const {
        return devices.size() - static_cast<std::size_t>(std::ranges::count(devices, 0));
    }
};

using AllLent = std::map<Choice, Lent, ByRegistry>;

/// The median of how much longer the device takes for what both measured; nothing for less than two choices.
std::optional<double> slower_by(const Matrix& matrix, std::size_t problem, const Matrix& other, std::size_t there,
                                std::span<const std::size_t> places) {
    std::vector<double> ratios;
    for (std::size_t c = 0; c < places.size(); ++c) {
        if (places[c] == other.candidates.size()) continue;
        const double ratio = matrix.log_time(problem, c) - other.log_time(there, places[c]);
        if (!std::isnan(ratio)) ratios.push_back(ratio);
    }
    if (ratios.size() < 2) return std::nullopt;
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::ranges::nth_element(ratios, middle);
    return *middle;
}

/// A problem that both measured, and how much longer the device takes there.
struct Shared {
    std::size_t here, there;
    double slower;
};

void add(const Matrix& matrix, const Matrix& other, const std::function<bool(const Choice&)>& untried, AllLent& all) {
    std::vector<std::size_t> lendable;
    for (std::size_t c = 0; c < other.candidates.size(); ++c)
        if (untried(other.candidates[c])) lendable.push_back(c);
    if (lendable.empty()) return;
    const std::vector<std::size_t> places = places_of(matrix, other);
    std::unordered_map<std::string_view, std::size_t> theirs;
    for (std::size_t p = 0; p < other.rows(); ++p) theirs.emplace(other.problems[p], p);
    std::vector<Shared> shared;
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        if (const auto found = theirs.find(matrix.problems[p]); found != theirs.end())
            if (const auto slower = slower_by(matrix, p, other, found->second, places))
                shared.push_back({p, found->second, *slower});
    if (shared.size() < kLeastShared) return;
    for (const std::size_t c : lendable)
        for (const auto& [here, there, slower] : shared) {
            const double log = other.log_time(there, c);
            if (std::isnan(log)) continue;
            Lent& lent = all.try_emplace(other.candidates[c], matrix.rows()).first->second;
            lent.sum[here] += log + slower, ++lent.devices[here];
        }
}

/// The matrix with more candidates, of which `lent` says what is known.
Matrix widened(const Matrix& matrix, const AllLent& lent,
               const std::function<bool(const std::string&, const Choice&)>& supported) {
    Matrix wide = matrix;
    for (const auto& [choice, unused] : lent) wide.candidates.push_back(choice);
    std::ranges::sort(wide.candidates, ByRegistry{});
    const auto base = std::ranges::find(wide.candidates, matrix.candidates[matrix.baseline]);
    wide.baseline = static_cast<std::size_t>(base - wide.candidates.begin());
    wide.states.clear(), wide.slowdown.clear(), wide.loss.clear(), wide.log_times.clear();
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        for (const Choice& choice : wide.candidates) {
            const auto entry = lent.find(choice);
            const bool own = entry == lent.end();
            const auto at = own ? std::ranges::find(matrix.candidates, choice) - matrix.candidates.begin() : 0;
            const std::size_t c = own ? static_cast<std::size_t>(at) : matrix.baseline;  // whose cost stands in
            const bool runs = own || supported(matrix.problems[p], choice);
            wide.states.push_back(own ? matrix.state(p, c) : runs ? CellState::imputed : CellState::unsupported);
            wide.slowdown.push_back(matrix.log_slowdown(p, c));
            wide.loss.push_back(matrix.loss_of(p, c));
            wide.log_times.push_back(own ? matrix.log_time(p, c) : runs ? entry->second.log(p) : kNone);
        }
    return wide;
}

}  // namespace

void lend(Matrix& matrix, std::span<const Matrix> others, const std::function<bool(const Choice&)>& untried,
          const std::function<bool(const std::string&, const Choice&)>& supported) {
    AllLent all;
    for (const Matrix& other : others) add(matrix, other, untried, all);
    std::erase_if(all, [](const auto& entry) { return entry.second.problems() < kLeastLent; });
    if (all.empty()) return;
    Matrix wide = widened(matrix, all, supported);
    if (wide.count(CellState::imputed) == matrix.count(CellState::imputed)) return;  // none would run
    matrix = std::move(wide);
    impute(matrix, matrix.all());
    for (const auto& [choice, unused] : all) matrix.lent.push_back(choice);
}

}  // namespace espalier::bench::learn
