#include "harness/cli/print_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace espalier::bench::cli {
namespace {

template <class Json>
void print(const Json& json, int indent) {
    fmt::print("{}\n", json.dump(indent, ' ', true, Json::error_handler_t::replace));
}

}  // namespace

void print_json(const nlohmann::ordered_json& json, int indent) { print(json, indent); }
void print_json(const nlohmann::json& json, int indent) { print(json, indent); }

}  // namespace espalier::bench::cli
