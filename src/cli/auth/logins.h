#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/client_settings.h"

/// The servers that a user has logged in to: $XDG_CONFIG_HOME/trainyard/credentials.json, mode 0600. One
/// thread.
namespace trainyard::cli {

struct ServerLogin {
  std::string server;     ///< "https://yard.example:8443", without a last slash
  std::string ca_file;    ///< absolute; empty: the system's certificates
  std::string principal;  ///< as the server said it
  std::string token;
  std::string project{};  ///< of commands that name none; empty: none was chosen
  friend bool operator==(const ServerLogin&, const ServerLogin&) = default;
};

struct ServerLogins {
  std::string active;  ///< the server that commands ask if nothing else names one; empty: none
  std::vector<ServerLogin> logins;
  friend bool operator==(const ServerLogins&, const ServerLogins&) = default;

  /// Null: there is none.
  [[nodiscard]] const ServerLogin* Find(std::string_view server) const;
};

/// Without slashes at the end, as logins are kept.
[[nodiscard]] std::string PlainServer(std::string_view url);

[[nodiscard]] std::string LoginsPath(const SettingSources& sources);
/// Empty if there is no file, or it is not one of ours.
[[nodiscard]] ServerLogins ReadLogins(const SettingSources& sources);
/// Errors: the file's.
[[nodiscard]] Status WriteLogins(const SettingSources& sources, const ServerLogins& logins);

/// Adds it, or replaces the one for its server, and makes it the active one. Pure.
[[nodiscard]] ServerLogins WithLogin(ServerLogins logins, ServerLogin login);
/// Without the login for this server; the last one kept is then active. Pure.
[[nodiscard]] ServerLogins WithoutLogin(ServerLogins logins, std::string_view server);

}  // namespace trainyard::cli
