#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "net/http/listening_socket.h"
#include "net/http/server.h"

namespace trainyard::http {

/// Listens on an address, with any port for 0, and returns the port. Errors: those of ListenOnTcp.
inline Result<std::uint16_t> Listen(Server& server, const std::string& host, std::uint16_t port = 0,
                                    FramingRules rules = FramingRules::kStrict) {
  TY_TRY(ListeningSocket socket, ListenOnTcp(host, port));
  const std::uint16_t bound = socket.port;
  server.ListenTcp(std::move(socket), rules);
  return bound;
}

/// The same with TLS. Also the errors of Server::ListenTls.
inline Result<std::uint16_t> ListenWithTls(Server& server, const std::string& host,
                                           const tls::TlsIdentity& identity) {
  TY_TRY(ListeningSocket socket, ListenOnTcp(host, 0));
  const std::uint16_t bound = socket.port;
  TY_RETURN_IF_ERROR(server.ListenTls(std::move(socket), identity));
  return bound;
}

}  // namespace trainyard::http
