#pragma once

#include <string>
#include <string_view>

namespace espalier::device {

/// The maker and design of a processor, as CPUID or the kernel tells.
struct CpuIdentity {
    std::string_view vendor;  ///< "GenuineIntel", "AuthenticAMD"; of aarch64 the implementer's number, "0x41"
    int family = 0;           ///< with the extended family added; 0 for aarch64
    int model = 0;            ///< with the extended model in front; the part number for aarch64
    int stepping = 0;
    bool amx = false;  ///< has matrix registers: Intel's servers from Sapphire Rapids on
};

/// The slug of a processor's microarchitecture: "zen4", "emeraldrapids", "neoversev2". One that the table does not
/// know is told apart by its numbers: "intel-6-250". So is one whose number a hypervisor has made up, which shows where
/// it can do what that design cannot. Lower-case letters, digits and '-'.
std::string microarchitecture(const CpuIdentity& cpu);

}  // namespace espalier::device
