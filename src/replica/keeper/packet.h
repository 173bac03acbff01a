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

/// Sends one packet with copies of the descriptors. kUnavailable: the other side is gone, or the socket does
/// not block and its queue is full; kResourceExhausted: it is longer than kMessageMax.
[[nodiscard]] Status SendPacket(int socket, std::string_view bytes, std::span<const int> descriptors = {});

/// The next packet, on a blocking socket once there is one. kUnavailable: the other side is gone, or there is
/// none; kInvalidArgument: it is longer than kMessageMax or has more than kDescriptorsMax descriptors; they
/// are closed.
[[nodiscard]] Result<Packet> ReceivePacket(int socket);

/// Listens at that path; what it returns does not block. What is there is replaced: the caller holds the lock
/// that says that nobody listens there. Mode 0600.
[[nodiscard]] Result<UniqueFd> ListenForPackets(const std::filesystem::path& path);

/// Connects to it without waiting for who listens there. kUnavailable: nobody does (now), or its queue is
/// full.
[[nodiscard]] Result<UniqueFd> ConnectForPackets(const std::filesystem::path& path);

}  // namespace trainyard::keeper
