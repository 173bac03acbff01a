#pragma once

#include <string>

#include "base/result.h"
#include "cli/client_settings.h"
#include "cli/gcloud/arguments.h"

namespace trainyard::cli {

/// A token and what named it: "--access-token-file", "TRAINYARD_TOKEN", "trainyard auth login". Both empty:
/// there is none.
struct ClientToken {
  std::string text;
  std::string source;
};

/// The token for a server, from the first of these that there is: --access-token-file, TRAINYARD_TOKEN,
/// TRAINYARD_TOKEN_FILE, CLOUDSDK_AUTH_ACCESS_TOKEN_FILE, CLOUDSDK_AUTH_ACCESS_TOKEN, the login for this very
/// address, and DATA/admin-token where this account can read it and the server is that of DATA and asks who
/// its callers are. The last two are never sent to any other server. Errors: a named file's.
[[nodiscard]] Result<ClientToken> FindToken(const Arguments& arguments, const SettingSources& sources,
                                            const std::string& data_dir, const std::string& server);

/// The file of a server's own administrator token: DATA/admin-token.
[[nodiscard]] std::string AdministratorsTokenFile(const std::string& data_dir);

/// The token in a file, "-" being stdin. kInvalidArgument: nothing is in it.
[[nodiscard]] Result<std::string> ReadTokenFile(const std::string& path);

/// The server that --server names, else that of --data, else as FindServer. kNotFound: --data names a
/// directory with which none has run.
[[nodiscard]] Result<ClientSetting> ServerOf(const Arguments& arguments, const SettingSources& sources);

/// The data directory that --data names, else DefaultDataDir.
[[nodiscard]] std::string DataDirOf(const Arguments& arguments, const SettingSources& sources);

}  // namespace trainyard::cli
