#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/apps/sessions/locate_session.hpp"

namespace espalier::bench::cli {

/// A sample's time, "2024-02-29T13:00:25.000000Z"; empty if the record does not know it.
std::string utc_of(const seismic::Record& record, std::int64_t sample);

/// Says which channel or trace every receiver got.
void tell_channels(const seismic::Record& record, const seismic::Receivers& receivers);

/// Says what is known before the first window is read.
void tell_plan(const seismic::Record& record, const seismic::Receivers& receivers, const apps::LocateSession& session,
               const apps::LocateSettings& settings, const Device& device);

/// Says how long a record was followed, and why no longer.
void tell_follow_end(const apps::LocateSession& session);

/// Why the maximum may not be an event: a sentence each.
std::vector<std::string> warnings_of(const seismic::Record& record, const apps::LocateSession& session);

nlohmann::ordered_json as_json(const seismic::Record& record, const seismic::Receivers& receivers,
                               const apps::LocateSession& session, const apps::LocateSettings& settings,
                               const Device& device, const std::vector<std::string>& warnings);

std::string result_in_words(const seismic::Record& record, const apps::LocateSession& session,
                            const apps::LocateSettings& settings);

}  // namespace espalier::bench::cli
