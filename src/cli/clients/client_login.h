#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/client_settings.h"
#include "cli/clients/running_server.h"
#include "cli/gcloud/arguments.h"

namespace trainyard::cli {

// Google's credentials on a user's own machine: client libraries take them before they ask any metadata
// server, refuse to use them for another universe, or send them to whom they are not for.

/// The file of "application default credentials" that gcloud made; nothing: there is none.
[[nodiscard]] std::optional<std::string> DefaultCredentialsFile(const SettingSources& sources);

/// The environment that the file tells clients they run in.
enum class Universe {
  kGoogles,  ///< Google's names mean the server
  kServers,  ///< the server's own names: localhost:PORT
};

/// A key of no account, which leads clients' libraries of any age to the server: DATA/run/with-credentials
/// .json or client-credentials.json, made if need be, with mode 0600. Empty where the user has no default
/// credentials that it would have to replace. `found` has a note. Errors: the data directory's.
[[nodiscard]] Result<std::string> StandInCredentials(const RunningServer& found,
                                                     const SettingSources& sources, Universe universe);

/// Files with which clients that are not ours log in to a server. All empty: it asks nobody who they are.
struct ClientLogin {
  std::string token_file;  ///< gcloud's auth/access_token_file
  /// Application default credentials: an external account, whose token is that file.
  std::string account_file;
  std::string token;  ///< what is in token_file
  std::string folder;
};

/// Writes what is not there yet beside the user's logins, in a folder for this server, mode 0600. What an
/// earlier `trainyard env` of this shell has set is passed over. kFailedPrecondition: the server asks, and
/// there is no token for it. Source: spec access.md section 2, "External account".
[[nodiscard]] Result<ClientLogin> MakeClientLogin(const RunningServer& found, const Arguments& arguments,
                                                  const SettingSources& sources, Universe universe);

/// gsutil's settings that log in with the token: its refresh token, since it takes no other (spec access.md
/// section 6). `found` is reached by TLS. Errors: the file's.
struct ClientBoto {
  std::string ca_file;
  std::string project;
  std::string host;  ///< empty: Google's names
  std::string port;
};
[[nodiscard]] Result<std::string> WriteLoginBoto(const RunningServer& found, const ClientLogin& login,
                                                 const ClientBoto& boto, const SettingSources& sources);

}  // namespace trainyard::cli
