#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace espalier::bench {

/// The standard deviation of a normal distribution in units of its median absolute deviation.
inline constexpr double kOfDeviations = 1.4826;

/// A case or a variant in one session, as a logarithm of nanoseconds or of a ratio.
struct Observation {
    std::size_t session = 0;  ///< those before come first
    double value = 0;
    double variance = 0;  ///< of the value, as far as the samples within the session tell
};

/// How far the sessions after lie from those before. All variances are of one session.
struct Contrast {
    double difference = 0;  ///< mean of the sessions after minus mean of those before
    double sessions = 2;    ///< 1 / sessions before + 1 / sessions after: the variance of the difference in sessions'
    double known = 0;       ///< variance that is explained: by the scatter of the samples
    double within = 0;      ///< sum of squares of the sessions about their own side's mean
    int degrees = 0;        ///< of freedom of `within`: 0 with one session a side
    double prior_degrees = 3;  ///< what the common noise counts beside `within`: few let single cases scatter far more
};

/// Needs observations of both sides.
Contrast contrast(std::span<const Observation> observations, std::size_t sessions_before);

/// The variance between sessions that the samples do not explain, common to all: from the repetitions of each side
/// where there are several, else from the differences themselves, most of which are no changes. It makes the median of
/// the observed variances what it is expected to be, so that up to half of the differences may be changes. Differences
/// of exactly 0 do not count: who is the median of a problem says nothing. Nothing if fewer than five remain.
std::optional<double> unexplained_variance(std::span<const Contrast> contrasts);

/// Tells by the repetitions how unequally cases scatter, and lowers `prior_degrees` from 3, where a variance is just
/// finite, down to 0.5, until a tenth of the observed variances lies where a tenth is expected. From differences alone
/// it cannot be told, because some are changes: they stay at 3.
void fit_tails(std::span<Contrast> contrasts);

/// One difference with what it may be wrong by.
struct Judged {
    double difference = 0;
    double error = 0;      ///< standard error
    double degrees = 1;    ///< of freedom of the error
    double allowance = 0;  ///< what no repetition measures and the difference may be wrong by, too

    /// Two-sided: how probable so large a difference is where nothing changed.
    [[nodiscard]] double p() const;
    /// An interval that misses the true difference with this probability.
    [[nodiscard]] std::pair<double, double> interval(double miss) const;
};

/// With the common variance between sessions, if it is known, moderated by the own one (as limma does it: Smyth 2004).
/// Nothing if neither is known.
std::optional<Judged> judge(const Contrast& contrast, std::optional<double> common);

/// Whether the repetitions vary by more than the common variance explains, with 95%.
bool moves_more(const Contrast& contrast, double common);

/// The probability up to which a difference is a discovery, so that of the discoveries at most `share` are false, and
/// none at all with 1 - `share` where nothing changed (Benjamini and Hochberg 1995). Intervals that miss with this
/// probability leave out 0 just for the discoveries (Benjamini and Yekutieli 2005).
double discovery_level(std::vector<double> p, double share);

/// The middle value, or the mean of the two in the middle. Needs values.
double median_of(std::vector<double> values);

}  // namespace espalier::bench
