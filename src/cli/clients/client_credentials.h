#pragma once

#include <optional>
#include <string>

#include "cli/client_settings.h"
#include "cli/clients/running_server.h"

/// Google's credentials on a user's own machine: client libraries take them before they ask any metadata
/// server, refuse to use them for another universe, or send them to whom they are not for.
namespace trainyard::cli {

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
[[nodiscard]] Result<std::string> StandInCredentials(const FoundServer& found, const SettingSources& sources,
                                                     Universe universe);

}  // namespace trainyard::cli
