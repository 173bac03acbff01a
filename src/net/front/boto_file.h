#pragma once

#include <string>

namespace trainyard::front {

/// gsutil's settings (a boto file): its httplib2 trusts no other file than the one named here, and its
/// credentials are the metadata server's, or a token. Pure: any thread. Source: spec environment.md
/// section 11.
struct BotoSettings {
  std::string ca_bundle;  ///< path of the authorities, as gsutil sees it
  std::string project;    ///< of `gsutil mb` and `gsutil ls`
  std::string state_dir;  ///< what it keeps while it copies; empty: in its user's home
  std::string host;       ///< who is Cloud Storage, over TLS; empty: Google's names
  std::string port;
  std::string token{};      ///< to log in with; empty: the metadata server's
  std::string token_uri{};  ///< who takes it as a refresh token, the only form that gsutil has
};
[[nodiscard]] std::string BotoFile(const BotoSettings& settings);

}  // namespace trainyard::front
