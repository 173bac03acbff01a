#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/tls/tls_identity.h"
#include "engine/local/front_sockets.h"
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

/// The TCP sockets of a server, listening, before anything is made that names their ports. Clients that come
/// meanwhile wait in the kernel's queue.
struct BoundSockets {
  using Front = engine::FrontSockets;

  tls::TlsIdentity identity;                 ///< of the installation's own authority
  tls::TlsIdentity administration_identity;  ///< of administration_tls: the same, or the operator's
  http::ListeningSocket administration;
  http::ListeningSocket administration_tls;
  std::optional<http::ListeningSocket> replicas;  ///< nothing: Google's names mean Google
  std::optional<Front> front;                     ///< nothing: it cannot be had, or is not wanted
  std::optional<Front> workstation;               ///< for `trainyard with`; nothing: the same
  std::optional<http::ListeningSocket> metrics;   ///< nothing: no listener of figures
  bool has_namespaces = true;                     ///< replicas can have a view of the files of their own

  /// Where clients of this machine find the server.
  [[nodiscard]] store::DataDirectory::Presence PresenceOf(const ServeOptions& options,
                                                          const store::DataDirectory& data) const;

  /// A port that was asked for must be had; of "any", the one that clients and replicas of the previous
  /// server know is the best. A front that cannot be had is said to the operator, and no error. Blocking,
  /// before there are threads. Errors: a port (of one in use with who has it: port_owner.h), or the data
  /// directory's.
  /// All are given to `kept`, which is asked first.
  [[nodiscard]] static Result<BoundSockets> Bind(const ServeOptions& options,
                                                 const store::DataDirectory& data,
                                                 sockets::KeptSockets& kept);
};

}  // namespace trainyard::server
