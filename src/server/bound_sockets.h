#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "http/listening_socket.h"
#include "server/data_directory.h"
#include "server/serve_options.h"
#include "tls/tls_identity.h"

namespace trainyard::server {

/// The TCP sockets of a server, listening, before anything is made that names their ports. Clients that come
/// meanwhile wait in the kernel's queue.
struct BoundSockets {
  /// Google's ports on a loopback address of the front's own.
  struct Front {
    std::string address;  ///< numeric
    http::ListeningSocket tls;
    std::optional<http::ListeningSocket> plain;  ///< nothing: port 80 is another's
  };

  tls::TlsIdentity identity;
  http::ListeningSocket administration;
  http::ListeningSocket administration_tls;
  std::optional<http::ListeningSocket> replicas;  ///< nothing: Google's names mean Google
  std::optional<Front> front;                     ///< nothing: it cannot be had, or is not wanted

  /// Where clients of this machine find the server.
  [[nodiscard]] DataDirectory::Presence PresenceOf(const ServeOptions& options) const;

  /// A port that was asked for must be had; of "any", the one that clients and replicas of the previous
  /// server know is the best. Google's ports are said to the operator where they cannot be had, and no
  /// error. Blocking. Errors: a port, or the data directory's.
  [[nodiscard]] static Result<BoundSockets> Bind(const ServeOptions& options, const DataDirectory& data);
};

}  // namespace trainyard::server
