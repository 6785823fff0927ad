#include "harness/cli/locate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"

namespace espalier::bench::cli {
namespace {

constexpr std::size_t kShownLines = 10;

std::string receiver_name(const seismic::Receivers& receivers, std::size_t receiver) {
    return receivers.names.empty() ? fmt::format("receiver {}", receiver) : receivers.names[receiver];
}

void tell_gaps(const seismic::Record& record, const seismic::Receivers& receivers) {
    const auto& gaps = record.gaps();
    for (std::size_t i = 0; i < std::min(gaps.size(), kShownLines); ++i) {
        const std::string who =
            gaps[i].receiver < 0 ? "" : " at " + receiver_name(receivers, static_cast<std::size_t>(gaps[i].receiver));
        to_stderr("gap{}: {:.3f} s from {:.3f} s on ({}), filled with zeros\n", printable(who),
                  static_cast<double>(gaps[i].samples) / record.rate(),
                  static_cast<double>(gaps[i].first) / record.rate(), counted(gaps[i].samples, "sample"));
    }
    if (gaps.size() > kShownLines) to_stderr("and {}\n", counted(gaps.size() - kShownLines, "more gap"));
}

void tell_notes(const seismic::Record& record) {
    const auto& notes = record.notes();
    for (std::size_t i = 0; i < std::min(notes.size(), kShownLines); ++i) to_stderr("{}\n", printable(notes[i]));
    if (notes.size() > kShownLines) to_stderr("and {} like these\n", notes.size() - kShownLines);
}

/// Only where channels have names of their own: traces are the receivers in their order.
nlohmann::ordered_json channels_as_json(const seismic::Record& record, const seismic::Receivers& receivers) {
    nlohmann::ordered_json channels = nlohmann::ordered_json::array();
    for (std::size_t r = 0; r < record.channels().size(); ++r) {
        const std::string& channel = record.channels()[r];
        channels.push_back({{"receiver", receiver_name(receivers, r)}});
        channels.back()["channel"] = channel.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(channel);
    }
    return channels;
}

/// Why following stopped; empty for a record that was not followed.
std::string follow_end_in_words(const apps::LocateSession& session) {
    switch (session.follow_end()) {
        case seismic::FollowEnd::told: return "signal";
        case seismic::FollowEnd::longest: return "--follow-for";
        case seismic::FollowEnd::idle: return "--follow-idle";
        case seismic::FollowEnd::not_followed: break;
    }
    return {};
}

/// Null for a record that was not followed.
nlohmann::ordered_json following_as_json(const seismic::Record& record, const apps::LocateSession& session) {
    if (session.follow_end() == seismic::FollowEnd::not_followed) return {};
    return {{"ended_by", follow_end_in_words(session)},
            {"awaited_seconds", session.times().awaited},
            {"late_samples", record.late_samples()}};
}

/// Null if sums are not saved.
nlohmann::ordered_json sums_as_json(const apps::LocateSession& session) {
    const apps::SumsFile* const sums = session.sums_file();
    if (sums == nullptr) return {};
    const apps::LocateTimes& times = session.times();
    return {{"file", sums->path()},
            {"shape", {sums->nodes(), sums->samples()}},
            {"bytes", sums->bytes()},
            {"write_seconds", times.write},
            {"copy_seconds", times.copy_back},
            {"overlap", times.saving_overlap()}};
}

/// A line; empty if sums are not saved.
std::string sums_in_words(const apps::LocateSession& session) {
    const apps::SumsFile* const sums = session.sums_file();
    if (sums == nullptr) return {};
    const apps::LocateTimes& times = session.times();
    return fmt::format(
        "sums of {} x {}, {:.6g} MB, in {} (copying back {:.3f} s, writing {:.3f} s; {:.0f}% of both hidden)\n",
        counted(sums->nodes(), "node"), counted(sums->samples(), "sample"), static_cast<double>(sums->bytes()) * 1e-6,
        printable(sums->path()), times.copy_back, times.write, 100 * times.saving_overlap());
}

/// How many receivers have no sample where a signal from the maximum would arrive, of those that have any.
struct Unheard {
    std::int64_t gaps = 0, receivers = 0;
};

Unheard unheard_at(const seismic::Record& record, const apps::LocateSession& session, const apps::Location& best) {
    const std::vector<double> delays = session.delays_of(best.node);
    std::vector<bool> missing(delays.size()), dead(delays.size());
    for (const seismic::Gap& gap : record.gaps())
        for (std::size_t r = 0; r < delays.size(); ++r) {
            if (gap.receiver >= 0 && static_cast<std::size_t>(gap.receiver) != r) continue;
            const double arrival = static_cast<double>(best.sample) + delays[r];
            const auto first = static_cast<double>(gap.first), end = static_cast<double>(gap.first + gap.samples);
            if (arrival > first - 0.5 && arrival < end - 0.5) missing[r] = true;
            if (gap.samples >= record.samples()) dead[r] = true;
        }
    Unheard unheard;
    for (std::size_t r = 0; r < delays.size(); ++r) {
        unheard.receivers += dead[r] ? 0 : 1;
        unheard.gaps += missing[r] && !dead[r] ? 1 : 0;
    }
    return unheard;
}

}  // namespace

std::string utc_of(const seismic::Record& record, std::int64_t sample) {
    if (!record.start_time() || sample < 0) return {};
    const double seconds = static_cast<double>(sample) / record.rate();
    return seismic::iso_time(*record.start_time() + std::llround(seconds * 1e9)) + "Z";
}

void tell_channels(const seismic::Record& record, const seismic::Receivers& receivers) {
    constexpr std::size_t kLine = 110;
    if (record.channels().empty()) {
        std::string names;
        if (!receivers.names.empty())
            names = fmt::format(", {} to {}", printable(receivers.names.front()), printable(receivers.names.back()));
        to_stderr("traces 1 to {} are the receivers in the order of their coordinates{}\n", record.receivers(), names);
        return;
    }
    to_stderr("{}\n", receivers.names.empty() ? "receivers have no names: channels in the order of the files"
                                              : "receivers and their channels, by name");
    std::string line;
    const std::size_t count = std::min(record.channels().size(), receivers.positions.size());
    for (std::size_t r = 0; r < count; ++r) {
        const std::string& channel = record.channels()[r];
        const std::string entry =
            printable(fmt::format("{} = {}", receiver_name(receivers, r), channel.empty() ? "none" : channel));
        if (!line.empty() && line.size() + entry.size() > kLine) {
            to_stderr("  {}\n", line);
            line.clear();
        }
        line += (line.empty() ? "" : ", ") + entry;
    }
    if (!line.empty()) to_stderr("  {}\n", line);
}

void tell_plan(const seismic::Record& record, const seismic::Receivers& receivers, const apps::LocateSession& session,
               const apps::LocateSettings& settings, const Device& device) {
    tell_gaps(record, receivers);
    tell_notes(record);
    to_stderr("{}, {:.3f} s at {} Hz ({}{}), {}, delays up to {} ({})\n", counted(record.receivers(), "receiver"),
              static_cast<double>(record.samples()) / record.rate(), record.rate(), record.format(),
              record.start().empty() ? "" : ", from " + record.start(), counted(settings.grid.nodes(), "trial source"),
              counted(session.span(), "sample"), printable(session.delays_from()));
    to_stderr("{} of {} by {} on {}\n",
              settings.following ? "following: windows" : counted(session.windows(), "window"),
              counted(session.window(), "sample"), session.pipeline().ran(), device.key());
    if (session.span() > session.window())
        to_stderr(
            "the longest delay exceeds the window: each window is copied with {:.1f} times its own samples; "
            "--window {} would halve that\n",
            static_cast<double>(session.span()) / static_cast<double>(session.window()), 2 * session.window());
}

void tell_follow_end(const apps::LocateSession& session) {
    const apps::LocateTimes& times = session.times();
    to_stderr("followed for {:.0f} s, of which {:.0f} s passed in waiting for samples; ended by {}\n",
              times.wall + times.awaited, times.awaited,
              session.follow_end() == seismic::FollowEnd::told ? "a signal" : follow_end_in_words(session));
}

std::vector<std::string> warnings_of(const seismic::Record& record, const apps::LocateSession& session) {
    constexpr double kAboutZero = 2, kAlike = 1;  // samples
    std::vector<std::string> warnings;
    const apps::Location best = session.cube().best();
    const double longest = session.longest_delay();
    if (record.late_samples() > 0)
        warnings.push_back(fmt::format(
            "{} came after {} window was located with zeros instead: locate the record once more, now that it "
            "is complete",
            counted(record.late_samples(), "sample"), record.late_samples() == 1 ? "its" : "their"));
    if (best.coherence <= 0)
        warnings.push_back(
            fmt::format("the maximum is {:.6g}, not more than 0: no source was found. If the traces have "
                        "an offset, take it off by --demean; if signs differ, sum by --absolute",
                        best.coherence));
    const Unheard unheard = unheard_at(record, session, best);
    if (record.silent(best.sample, 1) || (unheard.gaps > 0 && 2 * unheard.gaps >= unheard.receivers))
        warnings.push_back(
            fmt::format("the maximum lies in a gap: at {} of {} receivers there is no sample where its "
                        "signal would arrive. Traces with an offset do that: try --demean",
                        unheard.gaps, unheard.receivers));
    if (static_cast<double>(best.sample) + longest > static_cast<double>(record.samples() - 1))
        warnings.push_back(
            fmt::format("the maximum lies within the longest delay, {:.0f} samples, of the record's end: "
                        "what would arrive later counts as zero there. Give the record that follows, too",
                        longest));
    if (longest < kAboutZero)
        warnings.push_back(
            fmt::format("all delays are about zero, at most {:.3g} samples: every node has the same sum. "
                        "Coordinates, --spacing and --origin are metres, --velocity metres per second; "
                        "are these kilometres?",
                        longest));
    else if (record.receivers() > 1 && session.widest_spread() < kAlike)
        warnings.push_back(
            fmt::format("the delays at all receivers are about alike, {:.3g} samples apart at most: times "
                        "cannot tell nodes apart. Are the receivers' coordinates kilometres, and the "
                        "grid's metres?",
                        session.widest_spread()));
    return warnings;
}

nlohmann::ordered_json as_json(const seismic::Record& record, const seismic::Receivers& receivers,
                               const apps::LocateSession& session, const apps::LocateSettings& settings,
                               const Device& device, const std::vector<std::string>& warnings) {
    const apps::Location best = session.cube().best();
    const seismic::Point at = seismic::position(settings.grid, best.node);
    const apps::LocateTimes& times = session.times();
    const double seconds = static_cast<double>(record.samples()) / record.rate();
    nlohmann::ordered_json gaps = nlohmann::ordered_json::array();
    for (const seismic::Gap& gap : record.gaps()) {
        gaps.push_back({{"first_sample", gap.first}, {"samples", gap.samples}});
        if (gap.receiver >= 0) gaps.back()["receiver"] = gap.receiver;
    }
    return {{"x", at.x},
            {"y", at.y},
            {"z", at.z},
            {"node", best.node},
            {"sample", best.sample},
            {"time", static_cast<double>(best.sample) / record.rate()},
            {"utc", utc_of(record, best.sample)},
            {"coherence", best.coherence},
            {"warnings", warnings},
            {"format", record.format()},
            {"start", record.start()},
            {"receivers", record.receivers()},
            {"rate", record.rate()},
            {"samples", record.samples()},
            {"record_seconds", seconds},
            {"gaps", gaps},
            {"notes", record.notes()},
            {"channels", channels_as_json(record, receivers)},
            {"sources", settings.grid.nodes()},
            {"longest_delay", session.span()},
            {"delays_from", session.delays_from()},
            {"interpolation", settings.phases > 1 ? "linear" : "nearest"},
            {"precision", settings.precision == SumPrecision::half ? "half" : "single"},
            {"window", session.window()},
            {"windows", session.windows()},
            {"silent_windows", session.silent_windows()},
            {"device", device.key()},
            {"ran", session.pipeline().ran()},
            {"double_buffering", settings.double_buffering},
            {"pinned", settings.pinned && device.is_cuda()},
            {"seconds", times.wall},
            {"read_seconds", times.read},
            {"copy_seconds", times.copy},
            {"sum_seconds", times.sum},
            {"copied_bytes", session.pipeline().copied_bytes()},
            {"copy_gb_per_s", times.copy > 0 ? session.pipeline().copied_bytes() / times.copy * 1e-9 : 0},
            {"overlap", times.overlap()},
            {"sums", sums_as_json(session)},
            {"following", following_as_json(record, session)},
            {"real_time_factor", seconds / times.wall}};
}

std::string result_in_words(const seismic::Record& record, const apps::LocateSession& session,
                            const apps::LocateSettings& settings) {
    const apps::Location best = session.cube().best();
    const seismic::Point at = seismic::position(settings.grid, best.node);
    const apps::LocateTimes& times = session.times();
    const double seconds = static_cast<double>(record.samples()) / record.rate();
    const std::string utc = utc_of(record, best.sample);
    return fmt::format(
        "maximum {:.6g} at x={} y={} z={}, time {:.6f} s (sample {}){}{}\n"
        "real-time factor {:.2f}: {:.3f} s of record in {:.3f} s (reading {:.3f}, copying {:.3f}, summing {:.3f}); "
        "{:.0f}% of reading and copying hidden\n{}",
        best.coherence, at.x, at.y, at.z, static_cast<double>(best.sample) / record.rate(), best.sample,
        utc.empty() ? "" : ", ", utc, seconds / times.wall, seconds, times.wall, times.read, times.copy, times.sum,
        100 * times.overlap(), sums_in_words(session));
}

}  // namespace espalier::bench::cli
