#include "net/http/peer.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace trainyard::http {

namespace {

/// Converts an IPv4 or IPv6 address.
PeerAddress AddressOf(const sockaddr_storage& storage) noexcept {
  PeerAddress address;
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    std::memcpy(address.bytes.data(), &v4.sin_addr, sizeof(v4.sin_addr));
    address.port = ntohs(v4.sin_port);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
    std::memcpy(address.bytes.data(), &v6.sin6_addr, sizeof(v6.sin6_addr));
    address.port = ntohs(v6.sin6_port);
  }
  return address;
}

}  // namespace

Peer PeerOf(int socket) noexcept {
  Peer peer;
  sockaddr_storage local{};
  socklen_t size = sizeof(local);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&local), &size) != 0) return peer;
  if (local.ss_family == AF_UNIX) {
    peer.kind = Peer::Kind::kUnix;
    ucred credentials{};
    size = sizeof(credentials);
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return peer;
    peer.uid = credentials.uid;
    peer.pid = credentials.pid;
    return peer;
  }
  if (local.ss_family != AF_INET && local.ss_family != AF_INET6) return peer;
  sockaddr_storage remote{};
  size = sizeof(remote);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&remote), &size) != 0) return peer;
  peer.kind = local.ss_family == AF_INET ? Peer::Kind::kTcp4 : Peer::Kind::kTcp6;
  peer.local = AddressOf(local);
  peer.remote = AddressOf(remote);
  return peer;
}

}  // namespace trainyard::http
