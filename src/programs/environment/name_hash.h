#pragma once

#include <boost/uuid/detail/sha1.hpp>
#include <string>
#include <string_view>

#include "base/text/hex.h"

namespace trainyard::environment {

/// Names a folder by what went into it: SHA-1 over parts, each with its length, so that different lists
/// of parts give different names. For names only: nothing is trusted because of it. Boost's header, because
/// OpenSSL's first digest costs a millisecond of a replica's start. Pure.
class NameHash {
 public:
  NameHash& Add(std::string_view part) {
    const std::string length = std::to_string(part.size()) + ":";
    sha1_.process_bytes(length.data(), length.size());
    sha1_.process_bytes(part.data(), part.size());
    return *this;
  }

  /// 40 lower-case hexadecimal digits.
  [[nodiscard]] std::string Hex() const {
    boost::uuids::detail::sha1 copy = sha1_;
    boost::uuids::detail::sha1::digest_type words{};
    copy.get_digest(words);
    std::string hex;
    for (const unsigned int word : words) hex += text::HexNumber(word, 8);
    return hex;
  }

 private:
  boost::uuids::detail::sha1 sha1_;
};

}  // namespace trainyard::environment
