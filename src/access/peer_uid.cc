#include "access/peer_uid.h"

#include <string>
#include <utility>

#include "access/proc_net.h"
#include "async/diagnostics.h"

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
  const Result<std::optional<std::uint32_t>> owner = diag_ ? diag_->OwnerOf(peer) : OwnerInProc(peer);
  if (owner) return *owner;
  Diagnose(DiagnosticLevel::kWarning, "access: who asks cannot be looked up: " + owner.error().message);
  return std::nullopt;
}

std::optional<std::uint32_t> PeerUids::SocketOf(const http::Peer& peer) const {
  const bool is_tcp = peer.kind == http::Peer::Kind::kTcp4 || peer.kind == http::Peer::Kind::kTcp6;
  if (!is_tcp || !diag_) return std::nullopt;
  return diag_->NumberOf(peer).value_or(std::nullopt);
}

}  // namespace trainyard::access
