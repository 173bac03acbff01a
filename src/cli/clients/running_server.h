#pragma once

#include <optional>
#include <string>

#include "cli/client_settings.h"
#include "cli/gcloud/arguments.h"

namespace trainyard::cli {

/// A server that has just answered, for clients that are not ours.
struct RunningServer {
  std::string url;       ///< http://127.0.0.1:8470, or https://yard.example:8443 of another machine
  std::string where;     ///< what named it
  std::string data_dir;  ///< the one that was asked for, absolute
  /// What it left in the data directory; nothing: the server is of another one, or of another account.
  std::optional<ServerNote> note;
  std::string tls_url;    ///< empty: there is none
  std::string ca_file;    ///< the certificate to trust; empty: it is not known, or the system's do
  bool asks_who = false;  ///< who its callers are
  std::string project;    ///< its own
  std::string elsewhere;  ///< of a note in the data directory that is another server's: that one's address
};

/// Whether its address without TLS was named, which it has on its own machine alone.
[[nodiscard]] inline bool IsOnLoopback(const RunningServer& found) {
  return found.url.starts_with("http://");
}

/// The server that --server, --data, TRAINYARD_SERVER or TRAINYARD_DATA name, else this account's own. Asks
/// it. Errors say what to do: there is none, it may not be asked, or it is no Trainyard server.
[[nodiscard]] Result<RunningServer> FindRunningServer(const Arguments& arguments,
                                                      const SettingSources& sources);

/// --project, the settings of gcloud, or the server's own.
[[nodiscard]] ClientSetting ProjectOf(const RunningServer& found, const Arguments& arguments,
                                      const SettingSources& sources);

}  // namespace trainyard::cli
