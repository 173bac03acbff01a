#pragma once

#include <string>

namespace trainyard::front {

/// gsutil's settings (a boto file). gsutil's httplib2 trusts only the CA file named here; its credentials
/// come from the metadata server or are a token. Pure: any thread.
/// Source: spec environment.md section 11.
struct BotoSettings {
  std::string ca_bundle;  ///< path of the CA file, as gsutil sees it
  std::string project;    ///< used by `gsutil mb` and `gsutil ls`
  std::string state_dir;  ///< for gsutil's state files; empty: in the user's home
  std::string host;       ///< the Cloud Storage server, over TLS; empty: Google's names
  std::string port;
  std::string token{};      ///< the credential; empty: the metadata server's
  std::string token_uri{};  ///< endpoint that accepts `token` as a refresh token, the only kind gsutil has
};
[[nodiscard]] std::string BotoFile(const BotoSettings& settings);

}  // namespace trainyard::front
