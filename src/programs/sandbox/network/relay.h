#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"

namespace trainyard::replica {

/// The most connections of one replica that are open at a time; others wait in the socket's queue.
inline constexpr std::size_t kRelayConnectionsMax = 256;

/// A listening, non-blocking socket and the server's Unix socket to which its connections are forwarded.
struct RelayDoor {
  UniqueFd listener;
  std::string server_socket;
};

/// Accepts connections and forwards each to the door's Unix socket: bytes and ends of streams, in both
/// directions. While there is no server, connections are closed. Returns only when a listener fails: run it
/// in a separate process.
void RunRelay(const std::vector<RelayDoor>& doors);

}  // namespace trainyard::replica
