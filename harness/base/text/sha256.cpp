#include "harness/base/text/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <stdexcept>

namespace espalier::bench {

std::string sha256(std::string_view text) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr) != 1)
        throw std::runtime_error("OpenSSL refuses SHA-256: its configuration forbids it");
    std::string hex;
    for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
    return hex;
}

HashedItems& HashedItems::text(std::string_view item) {
    bytes.append(item).push_back('\xFF');
    return *this;
}

HashedItems& HashedItems::number(double item) { return text(fmt::format("{}", item)); }

}  // namespace espalier::bench
