#pragma once

#include <string>
#include <string_view>

#include "trainyard/identity/v1/identity.pb.h"

namespace trainyard::identity {

/// The server that a key file refers to.
struct KeyFileServer {
  std::string url;              ///< "https://yard.example:8443": its token_uri is URL/token
  std::string universe_domain;  ///< empty: Google's, for clients that use token_uri (spec access.md, way A)
};

/// A service account's key file as clients read it: JSON, indented, newline at the end. Pure: any thread.
/// Source: spec access.md section 1; google-auth's service_account.Credentials.
[[nodiscard]] std::string PrintKeyFile(const v1::ServiceAccount& account, std::string_view key_id,
                                       std::string_view private_key_pem, const KeyFileServer& server);

}  // namespace trainyard::identity
