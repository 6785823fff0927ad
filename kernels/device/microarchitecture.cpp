#include "kernels/device/microarchitecture.hpp"

#include <algorithm>
#include <span>

namespace espalier::device {
namespace {

/// Models of one family, both ends included, of steppings from `stepping` on.
struct Models {
    int family, first, last, stepping;
    std::string_view name;
};

// Of designs that share a model number the later stepping stands first. Clients and servers of one design are told
// apart only where their vector units or caches differ.
constexpr Models kIntel[] = {
    {6, 0x1A, 0x1A, 0, "nehalem"},        {6, 0x1E, 0x1F, 0, "nehalem"},       {6, 0x2E, 0x2E, 0, "nehalem"},
    {6, 0x25, 0x25, 0, "westmere"},       {6, 0x2C, 0x2C, 0, "westmere"},      {6, 0x2F, 0x2F, 0, "westmere"},
    {6, 0x2A, 0x2A, 0, "sandybridge"},    {6, 0x2D, 0x2D, 0, "sandybridge"},   {6, 0x3A, 0x3A, 0, "ivybridge"},
    {6, 0x3E, 0x3E, 0, "ivybridge"},      {6, 0x3C, 0x3C, 0, "haswell"},       {6, 0x3F, 0x3F, 0, "haswell"},
    {6, 0x45, 0x46, 0, "haswell"},        {6, 0x3D, 0x3D, 0, "broadwell"},     {6, 0x47, 0x47, 0, "broadwell"},
    {6, 0x4F, 0x4F, 0, "broadwell"},      {6, 0x56, 0x56, 0, "broadwell"},     {6, 0x4E, 0x4E, 0, "skylake"},
    {6, 0x5E, 0x5E, 0, "skylake"},        {6, 0x55, 0x55, 10, "cooperlake"},   {6, 0x55, 0x55, 5, "cascadelake"},
    {6, 0x55, 0x55, 0, "skylakex"},       {6, 0x8E, 0x8E, 0, "kabylake"},      {6, 0x9E, 0x9E, 0, "kabylake"},
    {6, 0xA5, 0xA6, 0, "cometlake"},      {6, 0x6A, 0x6A, 0, "icelakex"},      {6, 0x6C, 0x6C, 0, "icelakex"},
    {6, 0x7D, 0x7E, 0, "icelake"},        {6, 0x8C, 0x8D, 0, "tigerlake"},     {6, 0xA7, 0xA7, 0, "rocketlake"},
    {6, 0x8F, 0x8F, 0, "sapphirerapids"}, {6, 0xCF, 0xCF, 0, "emeraldrapids"}, {6, 0xAD, 0xAE, 0, "graniterapids"},
    {6, 0xAF, 0xAF, 0, "sierraforest"},   {6, 0x97, 0x97, 0, "alderlake"},     {6, 0x9A, 0x9A, 0, "alderlake"},
    {6, 0xB7, 0xB7, 0, "raptorlake"},     {6, 0xBA, 0xBA, 0, "raptorlake"},    {6, 0xBF, 0xBF, 0, "raptorlake"},
    {6, 0xAA, 0xAA, 0, "meteorlake"},     {6, 0xAC, 0xAC, 0, "meteorlake"},    {6, 0xC5, 0xC6, 0, "arrowlake"},
    {6, 0xBD, 0xBD, 0, "lunarlake"},
};

constexpr Models kAmd[] = {
    {0x17, 0x00, 0x2F, 0, "zen"},  {0x17, 0x30, 0xFF, 0, "zen2"}, {0x19, 0x10, 0x1F, 0, "zen4"},
    {0x19, 0x60, 0xAF, 0, "zen4"}, {0x19, 0x00, 0xFF, 0, "zen3"}, {0x1A, 0x00, 0xFF, 0, "zen5"},
};

constexpr Models kArm[] = {
    {0, 0xD08, 0xD08, 0, "cortexa72"},  {0, 0xD0C, 0xD0C, 0, "neoversen1"}, {0, 0xD40, 0xD40, 0, "neoversev1"},
    {0, 0xD49, 0xD49, 0, "neoversen2"}, {0, 0xD4F, 0xD4F, 0, "neoversev2"},
};

constexpr std::string_view kWithAmx[] = {"sapphirerapids", "emeraldrapids", "graniterapids"};

std::string by_number(std::string_view maker, const CpuIdentity& cpu) {
    std::string text(maker);
    if (cpu.family) text += "-" + std::to_string(cpu.family);
    return text + "-" + std::to_string(cpu.model);
}

std::string find(std::span<const Models> table, std::string_view maker, const CpuIdentity& cpu) {
    const auto found = std::ranges::find_if(table, [&](const Models& m) {
        return m.family == cpu.family && m.first <= cpu.model && cpu.model <= m.last && m.stepping <= cpu.stepping;
    });
    const bool made_up = cpu.amx && found != table.end() && std::ranges::count(kWithAmx, found->name) == 0;
    return found == table.end() || made_up ? by_number(maker, cpu) : std::string(found->name);
}

}  // namespace

std::string microarchitecture(const CpuIdentity& cpu) {
    if (cpu.vendor == "GenuineIntel") return find(kIntel, "intel", cpu);
    if (cpu.vendor == "AuthenticAMD") return find(kAmd, "amd", cpu);
    if (cpu.vendor == "0x41") return find(kArm, "arm", cpu);
    return by_number("other", cpu);
}

}  // namespace espalier::device
