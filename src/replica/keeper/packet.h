#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// Packets with descriptors over a Unix socket that keeps packets apart (SOCK_SEQPACKET), for both ends of
/// the keeper's protocol. Any thread. Source: unix(7), cmsg(3).
namespace trainyard::keeper {

struct Packet {
  std::string bytes;
  std::vector<UniqueFd> descriptors;  ///< closed on exec
};

/// Sends one packet with copies of the descriptors. kUnavailable: the other side has closed, or the socket
/// does not block and its queue is full; kResourceExhausted: it is longer than kMessageMax.
[[nodiscard]] Status SendPacket(int socket, std::string_view bytes, std::span<const int> descriptors = {});

/// Receives the next packet; waits for it on a blocking socket. kUnavailable: the other side has closed, or
/// there is no packet; kInvalidArgument: it is longer than kMessageMax or has more than kDescriptorsMax
/// descriptors, which are closed.
[[nodiscard]] Result<Packet> ReceivePacket(int socket);

/// Listens at that path; the returned socket does not block. An existing file is replaced: the caller has the
/// lock, so no other process listens there. Mode 0600.
[[nodiscard]] Result<UniqueFd> ListenForPackets(const std::filesystem::path& path);

/// Connects without waiting for the listener. kUnavailable: nothing listens there (now), or its queue is
/// full.
[[nodiscard]] Result<UniqueFd> ConnectForPackets(const std::filesystem::path& path);

}  // namespace trainyard::keeper
