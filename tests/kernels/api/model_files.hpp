#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "espalier/error.hpp"

/// What tests of models in files share.
namespace espalier {

inline std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return (std::ostringstream() << file.rdbuf()).str();
}
inline void put_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// `part` is in the message, which names the file.
template <class Model>
void expect_bad_file(const Result<Model>& result, const std::string& path, std::string_view part) {
    ASSERT_FALSE(result) << part;
    EXPECT_EQ(result.error().code, ErrorCode::bad_file) << result.error().message;
    EXPECT_NE(result.error().message.find(path), std::string::npos) << result.error().message;
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

}  // namespace espalier
