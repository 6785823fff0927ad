#include "harness/emulator/format.hpp"

namespace espalier::device::host {

std::string text(uint3 index) {
    std::string result = "(";
    for (const unsigned i : {index.x, index.y, index.z}) result.append(std::to_string(i)).append(",");
    result.back() = ')';
    return result;
}

std::string text(const Site& site) { return std::string(site.file_name()) + ":" + std::to_string(site.line()); }

std::string hexadecimal(unsigned mask) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string digits = "0x";
    for (int shift = 28; shift >= 0; shift -= 4) digits += kDigits[(mask >> shift) & 15U];
    return digits;
}

}  // namespace espalier::device::host
