#include "net/access/peer_uid.h"

#include <string>
#include <utility>

#include "base/async/diagnostics.h"
#include "net/access/proc_net.h"

namespace trainyard::access {

PeerUids::PeerUids() {
  Result<SocketDiag> diag = SocketDiag::Open();
  if (diag) {
    diag_ = *std::move(diag);
    return;
  }
  Diagnose(DiagnosticLevel::kInfo,
           "access: clients' accounts are read from /proc/net/tcp, since " + diag.error().message);
}

std::optional<std::uint32_t> PeerUids::Find(const http::Peer& peer) const {
  if (peer.uid || peer.kind == http::Peer::Kind::kUnix || peer.kind == http::Peer::Kind::kUnknown)
    return peer.uid;
  const std::optional<OwnedSocket> found = Look(peer);
  return found ? std::optional(found->uid) : std::nullopt;
}

std::optional<std::uint32_t> PeerUids::SocketOf(const http::Peer& peer) const {
  const bool is_tcp = peer.kind == http::Peer::Kind::kTcp4 || peer.kind == http::Peer::Kind::kTcp6;
  const std::optional<OwnedSocket> found = is_tcp ? Look(peer) : std::nullopt;
  return found ? std::optional(found->number) : std::nullopt;
}

std::optional<OwnedSocket> PeerUids::Look(const http::Peer& peer) const {
  const Result<std::optional<OwnedSocket>> found = diag_ ? diag_->Find(peer) : FindInProc(peer);
  if (found) return *found;
  Diagnose(DiagnosticLevel::kWarning, "access: who asks cannot be looked up: " + found.error().message);
  return std::nullopt;
}

}  // namespace trainyard::access
