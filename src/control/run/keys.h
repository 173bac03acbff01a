#pragma once

#include <string>
#include <string_view>

/// Keys, and message authentication codes. Pure: any thread.
namespace trainyard::control {

/// The installation's keys, one per purpose, so that a proof made for one purpose is invalid for all others.
/// Derived from its secret, so they survive a restart.
struct Keys {
  std::string attempt;        ///< a supervisor's connection
  std::string metadata_host;  ///< a replica's name for the metadata server
  std::string access;         ///< access tokens
  std::string shell;          ///< webAccessUris
  std::string session;        ///< the value that a browser sends in addition to its cookie
  std::string ports;          ///< where port leases begin; not used as a proof

  /// HMAC-SHA256 of the purpose's label under `secret`, which is 32 random bytes. Source: NIST SP 800-108
  /// section 4.1, with one block.
  [[nodiscard]] static Keys Derive(std::string_view secret);
};

/// HMAC-SHA256 of the text, in 64 hex digits.
[[nodiscard]] std::string Mac(std::string_view key, std::string_view text);

/// Whether both are equal; takes the same time wherever they differ.
[[nodiscard]] bool IsSame(std::string_view presented, std::string_view expected);

}  // namespace trainyard::control
