#include "harness/apps/seismic/channel_match.hpp"

#include <fmt/format.h>

#include <map>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"

namespace espalier::bench::seismic {
namespace {

constexpr std::size_t kShownNames = 10;

/// "a, b and 3 more".
std::string some_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < kShownNames; ++i) text += (i > 0 ? ", " : "") + names[i];
    return names.size() <= kShownNames ? text : fmt::format("{} and {} more", text, names.size() - kShownNames);
}

using NameIndex = std::map<std::string, std::vector<std::size_t>>;

NameIndex index_of(const std::vector<ChannelName>& channels) {
    NameIndex index;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const std::string& name = channels[c].name;
        index[name].push_back(c);
        if (!channels[c].source.empty() && channels[c].source != name) index[channels[c].source].push_back(c);
        const auto first = name.find('.'), second = name.find('.', first + 1);
        if (second == std::string::npos) continue;  // an identifier of somebody's own
        index[name.substr(0, second)].push_back(c);
        index[name.substr(first + 1, second - first - 1)].push_back(c);
    }
    return index;
}

[[noreturn]] void refuse_choice(const std::string& path, const std::vector<ChannelName>& channels,
                                const std::vector<std::size_t>& matches, const std::string& receiver) {
    std::vector<std::string> names;
    for (const std::size_t c : matches)
        names.push_back(fmt::format("{} at {} Hz", io::printable(channels[c].name), channels[c].rate));
    throw io::BadFile(path,
                      fmt::format("there is more than one channel for the receiver '{}': {}; name the receiver as "
                                  "its channel is, network.station.location.channel",
                                  io::printable(receiver), some_of(names)));
}

[[noreturn]] void refuse_missing(const std::string& path, const std::vector<ChannelName>& channels,
                                 const std::vector<std::string>& missing, bool all) {
    throw io::BadFile(path, fmt::format("there is no channel for the receiver {} (there is {}, for example); name "
                                        "receivers as their channels or stations are, {}or leave all names out if they "
                                        "come in the same order",
                                        some_of(missing), io::printable(channels.front().name),
                                        all ? "" : "have them count as zeros by --fill-missing, "));
}

}  // namespace

std::vector<std::optional<std::size_t>> match_channels(const std::string& path,
                                                       const std::vector<ChannelName>& channels,
                                                       const std::vector<std::string>& receivers,
                                                       bool missing_is_fine) {
    const NameIndex index = index_of(channels);
    std::vector<std::optional<std::size_t>> found;
    std::map<std::size_t, std::string> receiver_of;
    std::vector<std::string> missing;
    for (const std::string& receiver : receivers) {
        const auto matches = index.find(receiver);
        if (matches == index.end()) {
            missing.push_back("'" + io::printable(receiver) + "'");
            found.emplace_back();
            continue;
        }
        if (matches->second.size() > 1) refuse_choice(path, channels, matches->second, receiver);
        const std::size_t channel = matches->second.front();
        const auto [other, is_new] = receiver_of.emplace(channel, receiver);
        if (!is_new)
            throw io::BadFile(path,
                              fmt::format("two receivers, '{}' and '{}', stand for the channel {}; name each once",
                                          io::printable(other->second), io::printable(receiver),
                                          io::printable(channels[channel].name)));
        found.emplace_back(channel);
    }
    const bool all = missing.size() == receivers.size();
    if (!missing.empty() && (all || !missing_is_fine)) refuse_missing(path, channels, missing, all);
    return found;
}

}  // namespace espalier::bench::seismic
