#include "harness/records/case_record.hpp"

namespace espalier::bench {
namespace {

constexpr std::array<std::pair<Status, std::string_view>, 7> kNames{{{Status::ok, "ok"},
                                                                     {Status::unsupported, "unsupported"},
                                                                     {Status::wrong, "wrong"},
                                                                     {Status::timeout, "timeout"},
                                                                     {Status::crashed, "crashed"},
                                                                     {Status::out_of_memory, "out_of_memory"},
                                                                     {Status::not_measured, "not_measured"}}};

}  // namespace

std::string_view to_string(Status status) {
    for (const auto& [value, name] : kNames)
        if (value == status) return name;
    return "unknown";
}

std::optional<Status> parse_status(std::string_view text) {
    for (const auto& [value, name] : kNames)
        if (name == text) return value;
    return std::nullopt;
}

}  // namespace espalier::bench
