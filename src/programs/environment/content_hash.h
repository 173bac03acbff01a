#pragma once

#include <boost/uuid/detail/sha1.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text/hex.h"
#include "programs/environment/environment.h"

struct SHA256state_st;

namespace trainyard::environment {

/// Digits of a hash in the name of a folder.
inline constexpr std::size_t kHashDigits = 12;

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

/// SHA-256, for names that different projects share: equal names mean equal contents. Uses OpenSSL's own
/// function instead of EVP, whose first digest costs a millisecond of a replica's start.
class ContentHash {
 public:
  ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) = delete;
  ~ContentHash();

  ContentHash& Add(std::string_view bytes);
  /// Adds the part with its length, so that different lists of parts have different hashes.
  ContentHash& AddPart(std::string_view part);
  /// 64 lower-case hexadecimal digits. Call once.
  [[nodiscard]] std::string Hex();

 private:
  std::unique_ptr<SHA256state_st> state_;
};

/// Whether the checksums of all packages are SHA-256 sums of their contents, as current servers record them.
/// Jobs of older servers have others: they keep their existing layers.
[[nodiscard]] bool AreByContent(const std::vector<EnvironmentRequest::Package>& packages);

/// Checks that the downloaded file is the one that the job was created with: it may have been replaced, and
/// other projects share the layer. kFailedPrecondition: it is another one. Reads the whole file.
[[nodiscard]] Status CheckContent(const EnvironmentRequest::Package& package, const std::string& file);

}  // namespace trainyard::environment
