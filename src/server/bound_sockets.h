#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/tls/tls_identity.h"
#include "engine/local/google_front_files.h"
#include "net/http/listening_socket.h"
#include "server/options/serve_options.h"
#include "stores/store/data_directory.h"

namespace trainyard::sockets {
class KeptSockets;
}  // namespace trainyard::sockets

namespace trainyard::server {

/// The certificate of the TLS port: the operator's (--tls-certificate), else the installation's `own`. Reads
/// small files. Errors: tls::LoadTlsIdentity.
[[nodiscard]] Result<tls::TlsIdentity> AdministrationIdentity(const ServeOptions& options,
                                                              const tls::TlsIdentity& own);

/// The listening TCP sockets of a server. They are bound before the parts of the server that need their ports
/// are created. Clients that connect meanwhile wait in the kernel's queue.
struct BoundSockets {
  using Front = engine::FrontSockets;

  tls::TlsIdentity identity;                 ///< signed by the installation's own authority
  tls::TlsIdentity administration_identity;  ///< for administration_tls: the same, or the operator's
  http::ListeningSocket administration;
  http::ListeningSocket administration_tls;
  std::optional<http::ListeningSocket> replicas;  ///< empty: Google's host names lead to Google
  std::optional<Front> front;                     ///< empty: it is turned off, or not possible here
  std::optional<Front> workstation;               ///< for `trainyard with`; empty: for the same reasons
  std::optional<http::ListeningSocket> metrics;   ///< empty: there is no metrics listener
  bool has_namespaces = true;                     ///< replicas can have a separate view of the files

  /// How clients on this machine reach the server.
  [[nodiscard]] store::DataDirectory::Presence PresenceOf(const ServeOptions& options,
                                                          const store::DataDirectory& data) const;

  /// Binds all sockets. A port that the options name must be free; for "any", it prefers the port that
  /// clients and replicas of the previous server know. A front that cannot be bound is reported to the
  /// operator; it is no error. Blocking; call it before there are threads. Errors: a port cannot be bound (if
  /// it is in use, the message names its owner: port_owner.h), or those of the data directory. It first asks
  /// `kept` for each socket, and gives it all new ones.
  [[nodiscard]] static Result<BoundSockets> Bind(const ServeOptions& options,
                                                 const store::DataDirectory& data,
                                                 sockets::KeptSockets& kept);
};

}  // namespace trainyard::server
