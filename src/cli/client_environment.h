#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/command_session.h"

namespace trainyard::cli {

/// The addresses of a server, for clients that are not made for it.
struct ClientEnvironment {
  std::string url;      ///< without TLS: http://127.0.0.1:8470
  std::string tls_url;  ///< https://127.0.0.1:8471; empty: there is none
  std::string ca_file;  ///< the certificate to trust there
  std::string project;
};

/// (name, value) of every variable that points gcloud, Google's Python and Node clients and
/// STORAGE_EMULATOR_HOST users at the server. Pure. Source: docs/spec "Pointing the clients": gcloud by its
/// endpoint overrides; Python's discovery.build('ml', 'v1') by a universe domain of our own, whose hosts
/// ml.localhost and storage.localhost answer on the TLS port; credentials from the metadata server on the
/// plain port.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> ClientVariables(
    const ClientEnvironment& environment);

/// `export NAME='value'` lines for sh.
[[nodiscard]] std::string PrintExports(const std::vector<std::pair<std::string, std::string>>& variables);

/// The command `env`. Needs no CommandSession: it asks the server itself.
[[nodiscard]] ExitStatus PrintClientEnvironment(const Arguments& arguments, const SettingSources& sources,
                                                const Console& console);

}  // namespace trainyard::cli
