#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"

namespace trainyard::replica {

/// How many connections of one replica wait or run at a time; more wait in the socket's queue.
inline constexpr std::size_t kRelayConnectionsMax = 256;

/// A listening, non-blocking socket and the server's Unix socket that its connections are joined to.
struct RelayDoor {
  UniqueFd listener;
  std::string server_socket;
};

/// Accepts connections and joins each with one of its own to the door's Unix socket: bytes and ends of
/// streams, both ways. A connection while there is no server is closed. Returns only when a listener fails:
/// runs in a process of its own.
void RunRelay(const std::vector<RelayDoor>& doors);

}  // namespace trainyard::replica
