#pragma once

#include <cstddef>
#include <string>

namespace trainyard::replica {

/// How many connections of one replica wait or run at a time; more wait in the socket's queue.
inline constexpr std::size_t kRelayConnectionsMax = 256;

/// Accepts connections on `listener` (listening, non-blocking) and joins each with one of its own to the
/// server's Unix socket: bytes and ends of streams, both ways. A connection while there is no server is
/// closed. Returns only when the listener fails: runs in a process of its own.
void RunRelay(int listener, const std::string& server_socket);

}  // namespace trainyard::replica
