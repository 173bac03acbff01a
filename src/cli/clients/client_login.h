#pragma once

#include <string>

#include "base/result.h"
#include "cli/client_settings.h"
#include "cli/clients/running_server.h"
#include "cli/gcloud/arguments.h"

namespace trainyard::cli {

/// Files with which clients that are not ours log in to a server. Both empty: it asks nobody who they are.
struct ClientLogin {
  std::string token_file;  ///< gcloud's auth/access_token_file
  std::string
      account_file;  ///< application default credentials: an external account, whose token is that file
};

/// Writes what is not there yet beside the user's logins, mode 0600. kFailedPrecondition: the server asks,
/// and there is no token for it. Source: spec access.md section 2, "External account".
[[nodiscard]] Result<ClientLogin> MakeClientLogin(const FoundServer& found, const Arguments& arguments,
                                                  const SettingSources& sources);

}  // namespace trainyard::cli
