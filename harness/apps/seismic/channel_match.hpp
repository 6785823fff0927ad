#pragma once

#include <optional>
#include <string>
#include <vector>

namespace espalier::bench::seismic {

/// What a receiver may be named after.
struct ChannelName {
    std::string name;    ///< network.station.location.channel
    std::string source;  ///< of miniSEED 3; may be empty
    double rate = 0;     ///< for messages
};

/// Per receiver the channel that bears its name: the whole one, network.station, or the station alone. Nothing for a
/// receiver without a channel, if `missing_is_fine` and not all are without. Throws BadFile, about `path`, that names
/// the receivers and what they could be called.
std::vector<std::optional<std::size_t>> match_channels(const std::string& path,
                                                       const std::vector<ChannelName>& channels,
                                                       const std::vector<std::string>& receivers, bool missing_is_fine);

}  // namespace espalier::bench::seismic
