#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace espalier::device {

/// The device key of a GPU by the name that CUDA gives it: "NVIDIA H200" -> "nvidia-h200". Of an instance of a GPU that
/// is shared out (MIG) the name says which part it is, "NVIDIA H100 80GB HBM3 MIG 1g.10gb", and so does the key: the
/// parts have other limits than the whole.
inline std::string gpu_key(std::string_view name) {
    std::string key;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)))
            key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!key.empty() && key.back() != '-')
            key += '-';
    }
    while (!key.empty() && key.back() == '-') key.pop_back();
    return key;
}

/// Which part of a GPU an instance is, "1g.10gb"; empty for a whole GPU.
inline std::string_view mig_profile(std::string_view name) {
    constexpr std::string_view kMark = " MIG ";
    const auto at = name.find(kMark);
    return at == std::string_view::npos ? std::string_view{} : name.substr(at + kMark.size());
}

/// As nvidia-smi writes it: "GPU-" or "MIG-" and 16 bytes in groups of 4, 2, 2, 2 and 6.
inline std::string uuid_text(std::string_view bytes, bool mig) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text = mig ? "MIG" : "GPU";
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        const auto byte = static_cast<unsigned char>(bytes[i]);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 0xF];
    }
    return text;
}

}  // namespace espalier::device
