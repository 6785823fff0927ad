#include "harness/learn/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <stdexcept>

namespace espalier::bench::learn {
namespace {

void check(int result) {
    if (result != 1) throw std::runtime_error("OpenSSL refuses SHA-256: its configuration forbids it");
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) { check(EVP_DigestInit_ex(context_, EVP_sha256(), nullptr)); }

Sha256::~Sha256() { EVP_MD_CTX_free(context_); }

Sha256& Sha256::text(std::string_view item) {
    constexpr unsigned char kEnd = 0xFF;
    check(EVP_DigestUpdate(context_, item.data(), item.size()));
    check(EVP_DigestUpdate(context_, &kEnd, 1));
    return *this;
}

Sha256& Sha256::number(double item) { return text(fmt::format("{}", item)); }

std::string Sha256::hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    check(EVP_DigestFinal_ex(context_, digest, &length));
    std::string result;
    for (unsigned i = 0; i < length; ++i) result += fmt::format("{:02x}", digest[i]);
    return result;
}

}  // namespace espalier::bench::learn
