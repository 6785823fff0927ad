#pragma once

#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace espalier::bench::learn {

/// SHA-256 of a sequence of texts and numbers. Every item is closed by a byte that UTF-8 does not have, so
/// that {"ab", "c"} and {"a", "bc"} differ.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    Sha256& text(std::string_view item);
    Sha256& number(double item);  ///< by its shortest exact decimal spelling

    /// 64 lower-case digits. Ends the sequence.
    [[nodiscard]] std::string hex();

private:
    evp_md_ctx_st* context_;
};

}  // namespace espalier::bench::learn
